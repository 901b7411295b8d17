/** Values that only a server reads: those that cannot be meant are refused by the name of their flag, before one is asked. */
import { parseId } from '../contract/ids.ts'
import { ProblemError } from '../contract/problem.ts'

/** The largest that ids have. */
const MOST = 2n ** 63n - 1n
const LARGEST_POSITION = BigInt(Number.MAX_SAFE_INTEGER)

/** Digits alone, such as an id; null stays null. */
export const wholeNumberFlag = (
  flag: string,
  value: string | null,
  { least = 0n, most = MOST }: { readonly least?: bigint; readonly most?: bigint } = {},
): string | null => {
  if (value === null) return null
  if (!/^\d+$/.test(value))
    throw new ProblemError('invalid', `${flag} must be a whole number, got '${value}'`)
  if (BigInt(value) >= least && BigInt(value) <= most) return value
  throw new ProblemError('invalid', `${flag} must be a whole number from ${least} to ${most}, got '${value}'`)
}

/** A place in a log, counted. */
export const positionFlag = (flag: string, value: string | null): string | null =>
  wholeNumberFlag(flag, value, { most: LARGEST_POSITION })

/** A date, a time and a zone; null stays null. */
export const instantFlag = (flag: string, value: string | null): string | null => {
  const isInstant =
    value === null ||
    (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}.*(Z|[+-]\d{2}:\d{2})$/i.test(value) && !Number.isNaN(Date.parse(value)))
  if (isInstant) return value
  throw new ProblemError(
    'invalid',
    `${flag} must be an instant with its zone, such as 2026-01-31T12:00:00Z, got '${value}'`,
  )
}

interface Place {
  readonly asOfEvent: string | null
  readonly asOfPosition: string | null
  readonly asOfTime: string | null
}

/** A place in the past: one way to name it, or none. */
export const placeFlags = ({ asOfEvent, asOfPosition, asOfTime }: Place) => {
  if ([asOfEvent, asOfPosition, asOfTime].filter((value) => value !== null).length > 1)
    throw new ProblemError(
      'invalid',
      'Give one of --as-of-event, --as-of-position and --as-of-time, not several',
    )
  return {
    event: wholeNumberFlag('--as-of-event', asOfEvent),
    position: positionFlag('--as-of-position', asOfPosition),
    time: instantFlag('--as-of-time', asOfTime),
  }
}

/** The id of an execution as an argument. */
export const executionArgument = (value: string): string => {
  const id = parseId(value)
  if (id !== null) return id
  throw new ProblemError(
    'invalid',
    `'${value}' is not the id of an execution; ids are whole numbers of up to 19 digits, as noetl list shows them`,
  )
}

/** The number of a token as an argument. */
export const tokenArgument = (value: string): string => {
  const id = parseId(value)
  if (id !== null) return id
  throw new ProblemError(
    'invalid',
    `'${value}' is not the number of a token; they are whole numbers of up to 19 digits, as noetl token list shows them`,
  )
}
