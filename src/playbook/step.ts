/** One element of `workflow` to one step. */
import type { ReadContext } from './context.ts'
import { readBody } from './body.ts'
import { refuseSecrets, startsPlaybook } from './child-secrets.ts'
import { parseDuration } from './duration.ts'
import { readLoop } from './loop.ts'
import type { AdmitRule, Body, RoutingMode, Step } from './model.ts'
import { readNext } from './next.ts'
import {
  asList,
  asMap,
  asText,
  asWord,
  child,
  isMapField,
  keyAt,
  shapeOf,
  warnUnknownKeys,
} from './reader.ts'
import type { Field, MapField } from './reader.ts'
import { readRules } from './rules.ts'
import { readSet, readSetIn } from './set-entries.ts'
import { readStepInput } from './step-input.ts'
import { warnStepKeys } from './step-keys.ts'

export const readStep = (step: MapField, name: string, context: ReadContext): Step => {
  const { report } = context
  warnStepKeys(step, context)
  const spec = asMap(child(step, 'spec'), report)
  if (spec !== null) warnUnknownKeys(spec, ['next_mode', 'timeout', 'on_error', 'policy'], report)
  const inSpec = (key: string): Field | null => (spec === null ? null : child(spec, key))
  const input = readStepInput(step, context)
  const body = readBody(step, name, context)
  if (body.tasks.some(({ kind }) => startsPlaybook(kind))) {
    refuseSecrets(
      ['input', 'args', 'with'].map((key) => child(step, key)),
      context,
    )
  }
  return {
    name,
    description: asText(child(step, 'desc') ?? child(step, 'description'), report),
    when: readWhen(step, context),
    admit: readAdmit(inSpec('policy'), context),
    input,
    set: [...readVars(step, context), ...readSet(child(step, 'set'), 'flow', context)],
    loop: readLoop(child(step, 'loop'), context),
    body,
    ...readNext(child(step, 'next'), readNextMode(inSpec('next_mode'), context), context),
    onError: asWord(inSpec('on_error'), ['fail', 'continue', 'retry'] as const, report, 'ON_ERROR') ?? 'fail',
    timeoutMs: readTimeout(inSpec('timeout'), context),
    outputSelect: readOutputSelect(step, body, context),
  }
}

const readWhen = (step: MapField, context: ReadContext): string | null => {
  const field = child(step, 'when')
  const text = asText(field, context.report)
  if (field === null || text === null) return null
  if (text.trim() === '') {
    context.report.error('STEP_WHEN', field, "'when' is empty; write a condition, or leave it out")
    return null
  }
  context.templates.condition(field, 'STEP_WHEN')
  return text
}

/** Older steps extract variables with `vars`, which is a `set` with bare names. */
const readVars = (step: MapField, context: ReadContext): Step['set'] => {
  const field = child(step, 'vars')
  if (field === null) return []
  context.report.warn('legacy', keyAt(step, 'vars'), "'vars' is read as 'set'; write set: {ctx.name: value}")
  return readSetIn('ctx', field, context)
}

const readAdmit = (policy: Field | null, context: ReadContext): readonly AdmitRule[] => {
  const { report } = context
  const map = asMap(policy, report)
  const admit = map === null ? null : child(map, 'admit')
  if (admit === null) return []
  const list = isMapField(admit) ? child(admit, 'rules') : admit
  if (isMapField(admit)) warnUnknownKeys(admit, ['mode', 'rules'], report)
  return readRules(asList(list, report), context).map(({ when, block }) => ({
    when,
    allow: readAllow(block, context),
  }))
}

const readAllow = (block: MapField | null, context: ReadContext): boolean => {
  const field = block === null ? null : child(block, 'allow')
  if (block !== null) warnUnknownKeys(block, ['allow'], context.report)
  if (field === null) return true
  if (field.node.kind === 'scalar' && typeof field.node.value === 'boolean') return field.node.value
  const message = `'${field.label}' must be true or false, not ${shapeOf(field.node)}`
  context.report.error('PARSE', field, message)
  return true
}

const readNextMode = (field: Field | null, context: ReadContext): RoutingMode => {
  const mode = asText(field, context.report)?.trim().toLowerCase() ?? 'exclusive'
  if (mode === 'inclusive') return 'inclusive'
  if (field !== null && mode !== 'exclusive') {
    context.report.warn('ignored-key', field, `'${field.label}' is '${mode}', which means exclusive`)
  }
  return 'exclusive'
}

const readTimeout = (field: Field | null, context: ReadContext): number | null => {
  const text = asText(field, context.report)
  if (field === null || text === null) return null
  const milliseconds = parseDuration(text)
  if (milliseconds === null) {
    const message = `'${field.label}' is '${text}' but must be a duration such as 30s, 5m, 250ms, 1h or plain seconds`
    context.report.error('TIMEOUT', field, message)
  }
  return milliseconds
}

/** Selected fields of the step's result: `output.output_select`, or the same on its only tool. */
const readOutputSelect = (step: MapField, body: Body, context: ReadContext): readonly string[] => {
  const tool = body.kind === 'single' ? child(step, 'tool') : null
  const names = new Set<string>()
  for (const owner of [child(step, 'output'), tool, tool === null ? null : child(tool, 'output')]) {
    if (owner === null) continue
    const selected = [child(owner, 'output_select'), owner === tool ? null : child(owner, 'select')]
    for (const field of selected) for (const name of textList(field, context)) names.add(name)
  }
  return [...names]
}

const textList = (field: Field | null, context: ReadContext): readonly string[] => {
  if (field === null) return []
  const list = field.node.kind === 'scalar' ? [field] : asList(field, context.report)
  return list.flatMap((item) => asText(item, context.report) ?? [])
}
