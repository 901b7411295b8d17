/** `set` in its three strictnesses. Values are free; what differs is which targets may be written. */
import { about } from './parts.ts'
import type { Schema } from './parts.ts'

const SEGMENT = String.raw`\s*[^.\s][^.]*`
const PATH = String.raw`${SEGMENT}(?:\.${SEGMENT})*`
/** A scope by itself is no variable. */
const NOT_A_SCOPE = '(?!(?:ctx|iter|step)$)'
const NOT_READ_ONLY = String.raw`(?!(?:workload|keychain|output|event|steps|execution_id)\.)`

const writes = (pattern: string, words: Schema): Schema => ({
  ...words,
  type: ['object', 'null'],
  propertyNames: { pattern: `^${pattern}$` },
})

export const setDefinitions: Readonly<Record<string, Schema>> = {
  flowSet: writes(
    String.raw`(?:(?:ctx|step)(?:\.${SEGMENT})+|${NOT_A_SCOPE}${SEGMENT})`,
    about(
      'Variables to write',
      'Target: value. `ctx.total` or the bare name `total` is a variable that every later step reads; `ctx.a.b` writes ' +
        'inside an object; `step.x` belongs to this step. All values are rendered before any is written.',
      { 'ctx.total': '{{ output.total }}' },
    ),
  ),
  taskSet: writes(
    `${NOT_A_SCOPE}${NOT_READ_ONLY}${PATH}`,
    about(
      'Variables to write',
      'Target: value, written after the task ran. `ctx.x` or a bare name reaches later tasks and later steps; `iter.x` ' +
        'lives until the iteration ends; `step.x` until the step ends. `output` is the data of the task.',
      { 'iter.page': '{{ output.next_page }}' },
    ),
  ),
  variables: writes(
    PATH,
    about('Variables', 'Name: value. The names are variables of one scope.', { page: 1 }),
  ),
}
