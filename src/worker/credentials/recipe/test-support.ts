/** A token endpoint for tests: a real HTTP server that keeps what it was asked and answers what it is told. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

import type { Json, JsonObject } from '../../../contract/json.ts'

export interface TokenRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface TokenServer {
  readonly url: string
  readonly requests: readonly TokenRequest[]
  /** The answers to come, oldest first; the last one stays. */
  answer(...answers: readonly { readonly status?: number; readonly body: Json }[]): void
  /** Answers wait until this is called. */
  hold(): () => void
  close(): Promise<void>
}

export const startTokenServer = async (): Promise<TokenServer> => {
  const requests: TokenRequest[] = []
  let answers: readonly { readonly status?: number; readonly body: Json }[] = []
  let held = Promise.resolve()
  const http = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      requests.push({ method, url, headers, body: Buffer.concat(chunks).toString() })
      void held.then(() => {
        const [next, ...rest] = answers
        if (rest.length > 0) answers = rest
        const text = typeof next?.body === 'string' ? next.body : JSON.stringify(next?.body ?? {})
        response.writeHead(next?.status ?? 200, { 'content-type': 'application/json' }).end(text)
      })
    })
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    requests,
    answer: (...given) => void (answers = given),
    hold() {
      let release = (): void => undefined
      held = new Promise((resolve) => (release = resolve))
      return release
    },
    close: () => new Promise((resolve) => void http.close(() => resolve())),
  }
}

export const formOf = ({ body }: TokenRequest): JsonObject => Object.fromEntries(new URLSearchParams(body))
