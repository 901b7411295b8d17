/** Clients that follow executions through servers that come and go, and remember what they were told. */
import { setTimeout as sleep } from 'node:timers/promises'
import { readServerSentEvents } from '../../src/client/server-sent-events.ts'
import { parseExact } from './api.ts'
import type { Chance } from './random.ts'

export interface Followed {
  readonly executionId: string
  /** In the order in which they came. */
  readonly positions: number[]
  /** What the stream said at its end; null while it has not. */
  end: string | null
}

export interface Listeners {
  readonly followed: readonly Followed[]
  /** Of the stream of everything: the positions told of each execution. */
  readonly heard: ReadonlyMap<string, ReadonlySet<number>>
  readonly statuses: ReadonlyMap<string, string>
  readonly reconnects: () => number
  follow(executionId: string): void
  close(): void
}

export const createListeners = (urls: readonly string[], chance: Chance): Listeners => {
  const stopping = new AbortController()
  const { signal } = stopping
  const followed: Followed[] = []
  const heard = new Map<string, Set<number>>()
  const statuses = new Map<string, string>()
  let reconnects = 0

  /** Opens the stream again and again, where it ended, until told that it is over. */
  const listen = async (
    path: string,
    each: (type: string, data: string, id: string | null) => 'over' | 'on',
  ): Promise<void> => {
    let last: string | null = null
    while (!signal.aborted) {
      try {
        // Now and then the client itself goes away.
        const patience = AbortSignal.timeout(chance.between(2000, 25_000))
        const answer = await fetch(`${chance.pick(urls)}${path}`, {
          headers: last === null ? {} : { 'last-event-id': last },
          signal: AbortSignal.any([signal, patience]),
        })
        if (answer.status === 200 && answer.body) {
          for await (const { type, id, data } of readServerSentEvents(
            answer.body as AsyncIterable<Uint8Array>,
          )) {
            if (id !== null) last = id
            if (each(type, data, id) === 'over') return
          }
        } else await answer.body?.cancel()
      } catch {
        // Cut off; it goes on behind the last message.
      }
      reconnects += 1
      await sleep(chance.between(50, 500), undefined, { signal }).catch(() => undefined)
    }
  }

  void listen('/api/stream?events=true', (type, data) => {
    const told = parseExact(data) as Record<string, unknown>
    const id = String(told['execution_id'])
    if (type === 'event') {
      const positions = heard.get(id) ?? new Set()
      heard.set(id, positions)
      positions.add(Number(told['position']))
    } else if (type === 'status') statuses.set(id, String(told['status']))
    return 'on'
  })

  return {
    followed,
    heard,
    statuses,
    reconnects: () => reconnects,
    follow: (executionId) => {
      const entry: Followed = { executionId, positions: [], end: null }
      followed.push(entry)
      void listen(`/api/executions/${executionId}/stream`, (type, data, id) => {
        if (id !== null) entry.positions.push(Number(id))
        if (type !== 'end') return 'on'
        entry.end = String((JSON.parse(data) as { status: unknown }).status)
        return 'over'
      })
    },
    close: () => stopping.abort(),
  }
}
