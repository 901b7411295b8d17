/** Keys that a step may have, and what to say about those it may not. */
import type { ReadContext } from './context.ts'
import { keyAt, warnUnknownKeys } from './reader.ts'
import type { MapField } from './reader.ts'

const STEP_KEYS = [
  'step',
  'desc',
  'description',
  'spec',
  'when',
  'input',
  'args',
  'with',
  'set',
  'vars',
  'loop',
  'tool',
  'next',
  'output',
  'case',
]

const TOOL_KEYS = new Set([
  'kind',
  'type',
  'auth',
  'credential',
  'libs',
  'code',
  'script',
  'url',
  'endpoint',
  'method',
  'headers',
  'params',
  'payload',
  'body',
  'json',
  'data',
  'query',
  'command',
  'commands',
  'cmds',
  'connection',
  'database',
  'path',
  'return_step',
  'eval',
  'retry',
  'timeout',
  'output_select',
  'image',
])

const HINTS: Readonly<Record<string, string>> = {
  sink: 'save data with a tool task',
  save: 'save data with a tool task',
  iterator: "put it under 'loop'",
  on_error: "put it under 'spec'",
  set_vars: "use 'set'",
}

export const warnStepKeys = (step: MapField, context: ReadContext): void => {
  const seen = new Set<string>()
  for (const key of step.node.entries.keys()) {
    if (STEP_KEYS.includes(key)) continue
    const hint = Object.hasOwn(HINTS, key) ? HINTS[key] : undefined
    if (TOOL_KEYS.has(key)) {
      const message = `the key '${key}' has no effect on a step; move it under 'tool'`
      context.report.warn('tool-key-on-step', keyAt(step, key), message)
    } else if (hint !== undefined) {
      context.report.warn(
        'unknown-key',
        keyAt(step, key),
        `the key '${key}' has no effect on a step; ${hint}`,
      )
    } else {
      continue
    }
    seen.add(key)
  }
  warnUnknownKeys(step, STEP_KEYS, context.report, seen)
}
