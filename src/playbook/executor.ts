/** `executor`: entry and final step, and how the run treats failure and dead ends. */
import { asMap, asObject, asText, asWord, child, children, shapeOf, warnUnknownKeys } from './reader.ts'
import type { Field, MapField } from './reader.ts'
import type { Executor } from './model.ts'
import type { Report } from './report.ts'
import { didYouMean } from './suggest.ts'

export interface ReadExecutor {
  readonly executor: Executor
  /** `spec.entry_step` when it names a step. */
  readonly entry: string | null
  /** True when `spec.entry_step` is written, even with a wrong name. */
  readonly hasEntry: boolean
}

const PROFILES = ['local', 'distributed', 'auto'] as const

export const readExecutor = (
  field: Field | null,
  stepNames: ReadonlySet<string>,
  report: Report,
): ReadExecutor => {
  const executor = asMap(field, report)
  if (executor !== null) warnUnknownKeys(executor, ['profile', 'version', 'requires', 'spec'], report)
  const at = (key: string): Field | null => (executor === null ? null : child(executor, key))
  asWord(at('profile'), PROFILES, report, 'EXECUTOR_PROFILE')
  const spec = asMap(at('spec'), report)
  if (spec !== null) warnUnknownKeys(spec, ['entry_step', 'final_step', 'no_next_is_error', 'policy'], report)
  const inSpec = (key: string): Field | null => (spec === null ? null : child(spec, key))
  return {
    executor: {
      finalStep: stepName(inSpec('final_step'), stepNames, report),
      noNextIsError: readFlag(inSpec('no_next_is_error'), report),
      failFast: isFailFast(inSpec('policy'), report),
      requires: readRequires(at('requires'), report),
    },
    entry: stepName(inSpec('entry_step'), stepNames, report),
    hasEntry: inSpec('entry_step') !== null,
  }
}

const stepName = (field: Field | null, stepNames: ReadonlySet<string>, report: Report): string | null => {
  const name = asText(field, report)
  if (field === null || name === null || stepNames.has(name)) return name
  const message = `'${field.label}' names '${name}', which is not a step of this playbook.${didYouMean(name, stepNames)}`
  report.error('EXECUTOR_STEP', field, message)
  return null
}

const readFlag = (field: Field | null, report: Report): boolean => {
  if (field === null) return false
  if (field.node.kind === 'scalar' && typeof field.node.value === 'boolean') return field.node.value
  report.error('PARSE', field, `'${field.label}' must be true or false, not ${shapeOf(field.node)}`)
  return false
}

const isFailFast = (policy: Field | null, report: Report): boolean => {
  const map = asMap(policy, report)
  const failure = map === null ? null : child(map, 'failure')
  const mode = failure === null ? null : child(failure, 'mode')
  return mode?.node.kind === 'scalar' && mode.node.text === 'fail_fast'
}

const readRequires = (field: Field | null, report: Report): Executor['requires'] => {
  const requires: MapField | null = asMap(field, report)
  if (requires === null) return {}
  for (const [, entry] of children(requires)) {
    if (entry.node.kind === 'list') continue
    report.error('PARSE', entry, `'${entry.label}' must be a list, not ${shapeOf(entry.node)}`)
  }
  return asObject(requires, report)
}
