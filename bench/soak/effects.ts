/**
 * The outside world that playbooks change: every call is written down with its instant, so that work that was done twice
 * can be told from work that was done again because its lease was lost.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Chance } from './random.ts'
import { serve } from './serve.ts'

export interface Effect {
  readonly at: number
  readonly executionId: string
  readonly step: string
  /** Of the iteration; -1 outside of loops. */
  readonly index: number
}

export interface Effects {
  readonly url: string
  readonly seen: readonly Effect[]
  /** From now on nothing fails that had to fail before. */
  heal(executionId: string): void
  close(): void
}

const LARGE_ITEMS = 4000

export const listenForEffects = async (chance: Chance): Promise<Effects> => {
  const seen: Effect[] = []
  const flakyCalls = new Map<string, number>()
  const healed = new Set<string>()

  const answerTo = (path: string, effect: Effect): { readonly status: number; readonly body: unknown } => {
    if (path === '/large')
      return {
        status: 200,
        body: Array.from({ length: LARGE_ITEMS }, (_, id) => ({
          id,
          text: `text of row ${id}, somewhat long`,
        })),
      }
    if (path === '/broken') return { status: healed.has(effect.executionId) ? 200 : 400, body: {} }
    if (path === '/flaky') {
      const calls = (flakyCalls.get(effect.executionId) ?? 0) + 1
      flakyCalls.set(effect.executionId, calls)
      return { status: calls < 3 ? 503 : 200, body: {} }
    }
    return { status: 200, body: { step: effect.step, index: effect.index } }
  }

  /** Some work takes longer than a lease: only heartbeats keep it. */
  const durationOf = (path: string): number => {
    if (path === '/slow') return chance.between(5000, 8000)
    if (path !== '/effect') return 0
    return chance.happens(0.08) ? chance.between(2000, 6000) : chance.between(0, 250)
  }

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Omit<Effect, 'at' | 'index'> & {
      index?: number
    }
    const effect = {
      at: Date.now(),
      executionId: body.executionId,
      step: body.step,
      index: body.index ?? -1,
    }
    seen.push(effect)
    const path = request.url ?? ''
    const { status, body: answer } = answerTo(path, effect)
    setTimeout(() => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    }, durationOf(path))
  }

  const { url, close } = await serve(handle)
  return {
    url,
    seen,
    heal: (executionId) => void healed.add(executionId),
    close,
  }
}
