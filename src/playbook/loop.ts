/**
 * `loop` of a step.
 *
 * 1. Sequential and parallel loops have a collection (`in`), cursor loops have a claim; never both.
 * 2. `in` is a template, a literal list, a literal mapping (its entries) or a literal number (0 to n-1).
 */
import type { Json } from '../contract/json.ts'
import type { ReadContext } from './context.ts'
import type { Cursor, Loop } from './model.ts'
import { warnReservedName } from './names.ts'
import { readNumber } from './numbers.ts'
import { asMap, asText, asWord, child, isWritten, keyAt, subject, warnUnknownKeys } from './reader.ts'
import type { Field, MapField } from './reader.ts'
import { toJson } from './yaml-tree.ts'

const MODES = ['sequential', 'parallel', 'cursor'] as const
const ON_ERROR = ['fail', 'continue', 'collect'] as const
const SPEC_KEYS = ['mode', 'max_in_flight', 'frame', 'policy', 'on_error']
const AT_LEAST_ONE = { minimum: 1, integer: true }

export const readLoop = (field: Field | null, context: ReadContext): Loop | null => {
  const { report } = context
  const loop = asMap(field, report, '; write loop: {in: …, iterator: …}')
  if (loop === null) return null
  warnUnknownKeys(
    loop,
    ['in', 'iterator', 'spec', 'cursor', 'desc', 'description'],
    report,
    warnMisplaced(loop, context),
  )
  const spec = asMap(child(loop, 'spec'), report)
  if (spec !== null) warnUnknownKeys(spec, SPEC_KEYS, report)
  const mode = readMode(loop, spec, context)
  const collection = readCollection(loop, mode, context)
  const cursor = readCursor(loop, spec, mode, context)
  const onError = asWord(inSpec(spec, 'on_error'), ON_ERROR, report, 'ON_ERROR')
  return {
    mode,
    iterator: readIterator(loop, context),
    in: collection,
    maxInFlight: readNumber(
      inSpec(spec, 'max_in_flight'),
      { code: 'MAX_IN_FLIGHT', ...AT_LEAST_ONE },
      mode === 'cursor' ? 1 : null,
      context,
    ),
    onError: onError === null || onError === 'fail' ? 'fail' : 'continue',
    cursor,
  }
}

/** A mode beside `in` instead of below `spec` would silently run the loop in sequence. */
const warnMisplaced = (loop: MapField, context: ReadContext): ReadonlySet<string> => {
  const misplaced = SPEC_KEYS.filter((key) => isWritten(loop, key))
  for (const key of misplaced) {
    const message = `the key '${key}' in loop has no effect; move it under 'loop.spec'`
    context.report.warn('unknown-key', keyAt(loop, key), message)
  }
  return new Set(misplaced)
}

const inSpec = (spec: MapField | null, key: string): Field | null => (spec === null ? null : child(spec, key))

const readMode = (loop: MapField, spec: MapField | null, context: ReadContext): Loop['mode'] => {
  const given = asWord(inSpec(spec, 'mode'), MODES, context.report)
  if (given !== null) return given
  return child(loop, 'cursor') !== null && child(loop, 'in') === null ? 'cursor' : 'sequential'
}

const readIterator = (loop: MapField, context: ReadContext): string => {
  const field = child(loop, 'iterator')
  if (field === null) {
    const message = "'loop' has no 'iterator'; name the variable that holds the element, as in iterator: item"
    context.report.error('PARSE', isWritten(loop, 'iterator') ? keyAt(loop, 'iterator') : loop, message)
    return ''
  }
  const name = asText(field, context.report)?.trim() ?? ''
  if (name === '') context.report.error('LOOP_ITERATOR', field, "'loop.iterator' is empty; write a name")
  warnReservedName('the iterator', name, field, context)
  context.defined.add(name)
  // Both spellings are in circulation for the rows of a whole frame.
  context.defined.add(`${name}_rows`)
  return name
}

const readCollection = (loop: MapField, mode: Loop['mode'], context: ReadContext): Loop['in'] => {
  const { report } = context
  const field = child(loop, 'in')
  if (field !== null && child(loop, 'cursor') !== null) {
    const message =
      "'loop' has both 'in' and 'cursor'; a loop runs over a collection or over claimed rows, keep one"
    report.error('LOOP_IN_AND_CURSOR', keyAt(loop, 'in'), message)
    return null
  }
  const isBlank = field === null || (field.node.kind === 'scalar' && field.node.text.trim() === '')
  if (mode === 'cursor') return null
  if (isBlank) {
    const message = `'loop.in' is missing; a ${mode} loop needs a collection, as in in: "{{ ctx.items }}"`
    report.error('LOOP_IN_REQUIRED', field ?? loop, message)
    return null
  }
  context.templates.value(field, 'LOOP_IN')
  return collectionOf(field, context)
}

const collectionOf = (field: Field, context: ReadContext): Loop['in'] => {
  const { node } = field
  if (node.kind === 'list') return node.items.map(toJson)
  if (node.kind === 'map') {
    return [...node.entries].map(([key, entry]): Json => ({ key, value: toJson(entry.value) }))
  }
  if (typeof node.value === 'string') return node.value
  if (typeof node.value === 'number') return `{{ ${node.value} }}`
  context.report.error('LOOP_IN', field, `${subject(field)} is '${node.text}', which is no collection`)
  return null
}

const readCursor = (
  loop: MapField,
  spec: MapField | null,
  mode: Loop['mode'],
  context: ReadContext,
): Cursor | null => {
  const { report, templates } = context
  const field = child(loop, 'cursor')
  if (mode !== 'cursor') {
    if (field !== null && child(loop, 'in') === null) {
      report.error('LOOP_CURSOR', field, `'loop.cursor' needs spec: {mode: cursor}, not mode ${mode}`)
    }
    return null
  }
  if (field === null) {
    report.error(
      'LOOP_CURSOR',
      loop,
      "'loop' has mode cursor but no 'cursor'; add cursor: {kind, auth, claim}",
    )
    return null
  }
  const cursor = asMap(field, report)
  if (cursor === null) return null
  warnUnknownKeys(cursor, ['kind', 'auth', 'credential', 'claim', 'options'], report)
  const claim = child(cursor, 'claim')
  if (claim === null)
    report.error('LOOP_CURSOR', cursor, "'loop.cursor' has no 'claim'; write the statement that leases rows")
  else templates.value(claim)
  const auth = child(cursor, 'auth') ?? child(cursor, 'credential')
  if (auth !== null) templates.value(auth)
  return {
    kind: asText(child(cursor, 'kind'), report) ?? 'postgres',
    auth: auth === null ? null : auth.node.kind === 'scalar' ? auth.node.text : toJson(auth.node),
    claim: asText(claim, report) ?? '',
    ...readFrame(inSpec(spec, 'frame'), context),
  }
}

const FRAME_KEYS = [
  'max_rows',
  'row_concurrency',
  'process',
  'max_seconds',
  'max_bytes',
  'lease_seconds',
  'heartbeat_seconds',
]

const readFrame = (field: Field | null, context: ReadContext): Pick<Cursor, 'maxRows' | 'rowConcurrency'> => {
  const frame = asMap(field, context.report)
  if (frame === null) return { maxRows: 1, rowConcurrency: 1 }
  warnUnknownKeys(frame, FRAME_KEYS, context.report)
  const process = child(frame, 'process')
  if (process !== null && (process.node.kind !== 'scalar' || process.node.text !== 'row')) {
    context.report.warn(
      'ignored-key',
      process,
      `${subject(process)} has no effect: rows are processed one by one`,
    )
  }
  const rule = { code: 'LOOP_FRAME', ...AT_LEAST_ONE }
  return {
    maxRows: readNumber(child(frame, 'max_rows'), rule, 1, context),
    rowConcurrency: readNumber(child(frame, 'row_concurrency'), rule, 1, context),
  }
}
