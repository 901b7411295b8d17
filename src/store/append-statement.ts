/**
 * The statement that changes executions: one for any number of them, atomic for each.
 *
 * An append names the version it was decided on. The row of the execution is inserted (version 0 expected) or
 * updated (that very version expected); events, commands, command changes and timers are written only for executions
 * whose row was won. A loser writes nothing at all and is told so.
 *
 * The statement has only those parts that the appends at hand have rows for: getting a part ready costs PostgreSQL
 * about as much as writing ten events, and most statements set no timer.
 */
import type { Sealer } from '../lib/sealer.ts'
import type { Append } from './append.ts'
import type { AppendPart, Parameter } from './append-parts.ts'
import { APPEND_PARTS } from './append-parts.ts'

export interface AppendStatement {
  /** The same for statements of the same parts, which PostgreSQL prepares once per connection. */
  readonly name: string
  readonly text: string
  readonly values: Parameter[]
}

/** `more` are further parts, of somebody else. */
export const appendStatement = (
  appends: readonly Append[],
  sealer: Sealer,
  more: readonly AppendPart[] = [],
): AppendStatement => {
  const present: PresentPart[] = []
  const values: Parameter[] = []
  for (const part of [...APPEND_PARTS, ...more]) {
    const parameters = part.parameters(appends, sealer)
    if (parameters === null) continue
    present.push({ part, first: values.length + 1 })
    values.push(...parameters)
  }
  const name = `append_${present.map(({ part }) => part.letter).join('')}`
  return { name, text: textOf(name, present), values }
}

interface PresentPart {
  readonly part: AppendPart
  /** Number of its first parameter. */
  readonly first: number
}

const texts = new Map<string, string>()

const textOf = (name: string, present: readonly PresentPart[]): string => {
  let text = texts.get(name)
  if (text === undefined) texts.set(name, (text = compose(present)))
  return text
}

const compose = (present: readonly PresentPart[]): string => {
  const winners = present.filter(({ part }) => part.wins)
  const others = present.filter(({ part }) => !part.wins)
  const won = winners.map(({ part }) => `select execution_id from ${part.name}`).join(' union all ')
  return `with ${[...winners.map(sqlOf), `won as (${won})`, ...others.map(sqlOf)].join(', ')}
select execution_id from won`
}

const sqlOf = ({ part, first }: PresentPart): string => part.sql(first)
