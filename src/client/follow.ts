/**
 * Follows an execution, or what its tools print, to its end.
 *
 * 1. Everything is given once, in order: after a broken connection it goes on from the last message.
 * 2. It ends with the execution. A refusal is thrown; a server that stays out of reach is thrown after a while.
 *    However long nothing happens on an open connection, it waits.
 */
import type { EventResult } from '../contract/event.ts'
import { ProblemError } from '../contract/problem.ts'
import { parseJson } from '../lib/exact-json.ts'
import type { ExecutionEnd, ExecutionEvent, LogEntry } from './answers.ts'
import type { ServerSentEvent } from './server-sent-events.ts'
import { readServerSentEvents } from './server-sent-events.ts'
import type { Transport } from './transport.ts'

export type Followed =
  | { readonly type: 'event'; readonly event: ExecutionEvent }
  | { readonly type: 'end'; readonly end: ExecutionEnd }

export type FollowedLog =
  | { readonly type: 'output'; readonly entry: LogEntry }
  | { readonly type: 'end'; readonly end: ExecutionEnd }

export interface FollowOptions {
  readonly signal?: AbortSignal | undefined
  /** Gives up when the server was out of reach for this long; a minute by default. */
  readonly patienceMs?: number
  /** Told when a connection broke and another is tried. */
  readonly onBreak?: (problem: ProblemError) => void
}

const PATIENCE_MS = 60_000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 3_000

/** A stream of messages, each of which may carry the id to go on from; gives them until one is the last. */
interface Stream<T> {
  readonly path: string
  read(message: ServerSentEvent): T
  isLast(item: T): boolean
}

async function* follow<T>(
  transport: Transport,
  { path, read, isLast }: Stream<T>,
  options: FollowOptions,
): AsyncGenerator<T> {
  const { signal, patienceMs = PATIENCE_MS, onBreak } = options
  let lastId: string | null = null
  let failures = 0
  let reachedAt = performance.now()
  for (;;) {
    try {
      const response = await openStream(transport, path, lastId, signal)
      failures = 0
      for await (const message of readStream(transport, response, signal)) {
        lastId = message.id ?? lastId
        const item = read(message)
        yield item
        if (isLast(item)) return
      }
    } catch (error) {
      if (!(error instanceof ProblemError) || error.code !== 'unavailable') throw error
      if (failures === 0) {
        reachedAt = performance.now()
        onBreak?.(error)
      }
      if (performance.now() - reachedAt > patienceMs) throw error
    }
    failures += 1
    await pause(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1)), signal)
  }
}

export const followExecution = (
  transport: Transport,
  executionId: string,
  options: FollowOptions,
): AsyncGenerator<Followed> =>
  follow(
    transport,
    { path: `/api/executions/${executionId}/stream`, read: toFollowed, isLast: ({ type }) => type === 'end' },
    options,
  )

/** The output of tools as it appears, then the end. `query` is a filter such as `step=start`. */
export const followLogs = (
  transport: Transport,
  executionId: string,
  query: string,
  options: FollowOptions,
): AsyncGenerator<FollowedLog> =>
  follow(
    transport,
    {
      path: `/api/executions/${executionId}/logs/stream${query === '' ? '' : `?${query}`}`,
      read: toFollowedLog,
      isLast: ({ type }) => type === 'end',
    },
    options,
  )

const toFollowedLog = ({ type, data }: ServerSentEvent): FollowedLog =>
  type === 'end'
    ? { type: 'end', end: parseJson(data) as ExecutionEnd }
    : { type: 'output', entry: parseJson(data) as LogEntry }

const openStream = (
  transport: Transport,
  path: string,
  lastId: string | null,
  signal: AbortSignal | undefined,
): Promise<Response> => {
  const headers = {
    accept: 'text/event-stream',
    ...(lastId === null ? {} : { 'last-event-id': lastId }),
  }
  return transport.open(path, { headers, signal })
}

async function* readStream(
  transport: Transport,
  response: Response,
  signal: AbortSignal | undefined,
): AsyncGenerator<ServerSentEvent> {
  if (response.body === null) return
  try {
    yield* readServerSentEvents(response.body)
  } catch (error) {
    if (signal?.aborted === true || error instanceof ProblemError) throw error
    throw new ProblemError('unavailable', `The connection to ${transport.url} broke`, { cause: error })
  }
}

const toFollowed = ({ type, data }: ServerSentEvent): Followed => {
  const value = parseJson(data) as Record<string, unknown>
  if (type === 'end') return { type: 'end', end: value as unknown as ExecutionEnd }
  return { type: 'event', event: toEvent(value) }
}

export const toEvent = (value: Record<string, unknown>): ExecutionEvent => ({
  ...(value as unknown as ExecutionEvent),
  event_id: String(value['event_id']),
  result: (value['result'] ?? null) as EventResult | null,
})

const pause = (delayMs: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, delayMs)
    if (signal?.aborted === true) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
