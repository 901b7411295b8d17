/**
 * `next` of a step in its four spellings: a name, a list of names, a list of targets, a router.
 *
 * 1. A list of names fires every arc, always; the other forms follow their guards in exclusive or inclusive mode.
 * 2. Every target is a step of the document.
 * 3. `args` of an arc are variables of the target, which is what a bare `set` writes.
 */
import type { ReadContext } from './context.ts'
import type { Arc, RoutingMode } from './model.ts'
import {
  asList,
  asMap,
  asText,
  child,
  isMapField,
  isWritten,
  items,
  keyAt,
  shapeOf,
  subject,
  warnUnknownKeys,
} from './reader.ts'
import type { Field, MapField } from './reader.ts'
import { readSet, readSetIn } from './set-entries.ts'
import { didYouMean } from './suggest.ts'

export interface Routing {
  readonly arcs: readonly Arc[]
  readonly mode: RoutingMode
}

/** `stepMode` is the step's `spec.next_mode`, used where the form has no mode of its own. */
export const readNext = (field: Field | null, stepMode: RoutingMode, context: ReadContext): Routing => {
  if (field === null) return { arcs: [], mode: stepMode }
  if (field.node.kind === 'scalar') return { arcs: namedArc(field, context), mode: stepMode }
  if (isMapField(field)) return readRouter(field, stepMode, context)
  return readTargetList(items(field), stepMode, context)
}

const namedArc = (field: Field, context: ReadContext): readonly Arc[] => {
  const to = readTarget(field, context)
  return to === null ? [] : [{ to, when: null, set: [] }]
}

const readTargetList = (list: readonly Field[], stepMode: RoutingMode, context: ReadContext): Routing => {
  const names = list.filter((item) => item.node.kind === 'scalar')
  if (list.length > 0 && names.length === list.length) {
    return { arcs: list.flatMap((item) => namedArc(item, context)), mode: 'all' }
  }
  const [first] = names
  if (first !== undefined) {
    const message = `${subject(first)} is a name among mappings; write it as {step: …} like the others`
    context.report.error('NEXT_MIXED', first, message)
  }
  const targets = list.filter((item) => item.node.kind !== 'scalar')
  return { arcs: targets.flatMap((item) => readArc(item, 'target', context)), mode: stepMode }
}

const readRouter = (router: MapField, stepMode: RoutingMode, context: ReadContext): Routing => {
  const { report } = context
  if (!isWritten(router, 'arcs')) {
    if (!isWritten(router, 'step')) {
      const message = "'next' has no 'arcs'; write next: {arcs: [{step: …}]}"
      report.error('NEXT_ARCS', router, message)
      return { arcs: [], mode: stepMode }
    }
    report.warn('legacy', router, "'next' is read as one arc; write next: {arcs: [{step: …}]}")
    return { arcs: readArc(router, 'target', context), mode: stepMode }
  }
  warnUnknownKeys(router, ['spec', 'arcs'], report)
  const arcs = asList(child(router, 'arcs'), report, '; write one "- step: …" per arc')
  const spec = asMap(child(router, 'spec'), report)
  if (spec !== null) warnUnknownKeys(spec, ['mode', 'on_no_match', 'policy'], report)
  const mode = readMode(spec === null ? null : child(spec, 'mode'), context) ?? stepMode
  return { arcs: arcs.flatMap((arc) => readArc(arc, 'router', context)), mode }
}

const readMode = (field: Field | null, context: ReadContext): RoutingMode | null => {
  const text = asText(field, context.report)
  if (field === null || text === null) return null
  const word = text.trim().toLowerCase()
  if (word === 'exclusive' || word === 'inclusive') return word
  const hint = didYouMean(text, ['exclusive', 'inclusive'])
  context.report.error(
    'NEXT_MODE',
    field,
    `'${field.label}' is '${text}' but must be exclusive or inclusive.${hint}`,
  )
  return null
}

const readArc = (field: Field, form: 'target' | 'router', context: ReadContext): readonly Arc[] => {
  const { report } = context
  const arc = asMap(field, report, '; write {step: …}')
  if (arc === null) return []
  warnArcKeys(arc, context)
  const when = readGuard(arc, context)
  const args = child(arc, 'args')
  if (args !== null && form === 'router') {
    report.warn(
      'legacy',
      keyAt(arc, 'args'),
      `'${args.label}' is read as 'set'; write set: {ctx.name: value}`,
    )
  }
  const set = [...readSetIn('ctx', args, context), ...readSet(child(arc, 'set'), 'flow', context)]
  const target = child(arc, 'step')
  if (target === null) {
    report.error('ARC_STEP', arc, `${subject(arc)} has no 'step'; name the step the arc leads to`)
    return []
  }
  const to = readTarget(target, context)
  return to === null ? [] : [{ to, when, set }]
}

const warnArcKeys = (arc: MapField, context: ReadContext): void => {
  const instead: Readonly<Record<string, string>> = {
    cond: "'when'",
    condition: "'when'",
    if: "'when'",
    input: "'set'",
    to: "'step'",
    name: "'step'",
  }
  const seen = new Set<string>()
  for (const key of arc.node.entries.keys()) {
    const better = Object.hasOwn(instead, key) ? instead[key] : undefined
    if (better === undefined) continue
    seen.add(key)
    const effect = better === "'when'" ? 'so the arc is unconditional' : 'so it has no effect'
    const message = `the key '${key}' in '${arc.label}' is not part of an arc, ${effect}. Did you mean ${better}?`
    context.report.warn('unknown-key', keyAt(arc, key), message)
  }
  warnUnknownKeys(arc, ['step', 'when', 'set', 'args', 'spec', 'desc', 'description'], context.report, seen)
}

const readGuard = (arc: MapField, context: ReadContext): string | null => {
  const field = child(arc, 'when')
  const text = asText(field, context.report)
  if (field === null || text === null) return null
  if (text.trim() === '') {
    context.report.error(
      'NEXT_WHEN',
      field,
      `'${field.label}' is empty; write a condition, or leave 'when' out`,
    )
    return null
  }
  context.templates.condition(field, 'NEXT_WHEN')
  return text
}

const readTarget = (field: Field, context: ReadContext): string | null => {
  const { report, stepNames } = context
  if (field.node.kind !== 'scalar') {
    report.error('PARSE', field, `${subject(field)} must be the name of a step, not ${shapeOf(field.node)}`)
    return null
  }
  const name = field.node.text
  if (stepNames.has(name)) return name
  const hint = didYouMean(name, stepNames)
  report.error(
    'NEXT_UNKNOWN',
    field,
    `${subject(field)} leads to '${name}', which is not a step of this playbook.${hint}`,
  )
  return null
}
