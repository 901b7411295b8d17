/** Requests to any of the servers, as a client makes them that does not know which of them live. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Json, JsonObject } from '../../src/contract/json.ts'
import type { Chance } from './random.ts'

export interface Answer {
  readonly status: number
  readonly body: JsonObject
}

export interface Api {
  /** One attempt at one server; throws when there is no answer. */
  once(method: string, path: string, options?: RequestOptions): Promise<Answer>
  /** Repeats itself, at any server, until somebody answers; of 500 and more only `internal` counts as an answer. */
  insist(method: string, path: string, options?: RequestOptions): Promise<Answer>
  /** Answers of `internal`, which nobody should ever get. */
  readonly internal: readonly string[]
}

interface RequestOptions {
  readonly body?: Json
  readonly headers?: Readonly<Record<string, string>>
  readonly url?: string
}

const TIMEOUT_MS = 12_000

export const createApi = (urls: readonly string[], chance: Chance): Api => {
  const internal: string[] = []
  const once: Api['once'] = async (method, path, { body, headers = {}, url = chance.pick(urls) } = {}) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const text = await answer.text()
    if (answer.status === 500) internal.push(`${method} ${path}: ${text.slice(0, 300)}`)
    return { status: answer.status, body: text === '' ? {} : (parseExact(text) as JsonObject) }
  }
  return {
    once,
    internal,
    insist: async (method, path, options) => {
      for (let attempt = 0; attempt < 400; attempt += 1) {
        const answer = await once(method, path, options).catch(() => null)
        if (answer !== null && answer.status < 500) return answer
        await sleep(chance.between(100, 600))
      }
      throw new Error(`${method} ${path} was never answered`)
    },
  }
}

/** Ids are larger than a double holds: long integers become text. */
export const parseExact = (text: string): unknown =>
  JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && Number.isInteger(value)
      ? (context?.source ?? value)
      : value,
  )

/** A field of an answer as text. */
export const textIn = (body: JsonObject | undefined, name: string): string => {
  const value = body?.[name]
  return typeof value === 'string' ? value : JSON.stringify(value ?? null)
}
