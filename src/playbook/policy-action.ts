/** The parts of a policy action that every spelling of it shares: the verb, its timing and the jump target. */
import type { ReadContext } from './context.ts'
import type { PolicyRule } from './model.ts'
import { readNumber } from './numbers.ts'
import { asWord, child } from './reader.ts'
import type { Field, MapField } from './reader.ts'
import { didYouMean } from './suggest.ts'

/** Where a task stands in its pipeline; jumps are checked against it. */
export interface TaskPosition {
  readonly labels: readonly string[]
  readonly index: number
}

export const ACTIONS = ['continue', 'retry', 'jump', 'break', 'fail'] as const
const BACKOFFS = ['none', 'fixed', 'linear', 'exponential'] as const
const PREVIOUS = ['previous', 'prev', '_previous', '@previous']

const DEFAULT_ATTEMPTS = 3
const DEFAULT_DELAY = 1

/** `attempts`, `backoff` and `delay` with their defaults. */
export const timing = (
  block: MapField | null,
  context: ReadContext,
): Pick<PolicyRule, 'attempts' | 'backoff' | 'delay'> => {
  const field = (key: string): Field | null => (block === null ? null : child(block, key))
  const written = field('delay')
  const delay = readNumber(
    written,
    { code: 'POLICY_DELAY', minimum: 0, integer: false },
    DEFAULT_DELAY,
    context,
  )
  if (written !== null && delay !== 0 && field('backoff') === null) {
    const message = "'delay' waits only with a 'backoff'; add backoff: fixed, linear or exponential"
    context.report.warn('delay-without-backoff', written, message)
  }
  return {
    attempts: readNumber(
      field('attempts'),
      { code: 'POLICY_ATTEMPTS', minimum: 1, integer: true },
      DEFAULT_ATTEMPTS,
      context,
    ),
    backoff: asWord(field('backoff'), BACKOFFS, context.report, 'POLICY_BACKOFF') ?? 'none',
    delay,
  }
}

/** The label to jump to, null for "the task before this one". */
export const readJumpTarget = (
  block: MapField,
  field: Field | null,
  position: TaskPosition,
  context: ReadContext,
): string | null => {
  const { labels, index } = position
  const refuse = (problem: string): null => {
    context.report.error('JUMP_TARGET', field ?? block, `'${block.label}' ${problem}`)
    return null
  }
  if (field === null || field.node.kind !== 'scalar') {
    return refuse(`jumps nowhere; add 'to' with one of ${labels.join(', ')}, or previous`)
  }
  const target = field.node.text
  if (labels.includes(target)) return target
  if (!PREVIOUS.includes(target)) {
    return refuse(
      `jumps to '${target}', but the tasks here are ${labels.join(', ')}.${didYouMean(target, labels)}`,
    )
  }
  return index > 0 ? null : refuse(`jumps to the task before '${labels[0] ?? ''}', which is the first one`)
}
