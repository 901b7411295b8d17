/**
 * A network that cannot be trusted, between workers and servers: every request goes to any of the servers; some are
 * answered and the answer is lost, some arrive late, reports arrive twice, at two servers, at once or seconds later.
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { Agent, request as send } from 'node:http'
import type { Chance } from './random.ts'
import { serve } from './serve.ts'

export interface Meddler {
  readonly url: string
  readonly counts: Record<'forwarded' | 'lost' | 'late' | 'doubled' | 'repeated', number>
  /** From now on everything arrives once. */
  behave(): void
  close(): void
}

interface Forwarded {
  readonly method: string
  readonly path: string
  readonly headers: OutgoingHttpHeaders
  readonly body: Buffer
}

export const startMeddler = async (ports: () => readonly number[], chance: Chance): Promise<Meddler> => {
  const agent = new Agent({ keepAlive: true })
  const counts = { forwarded: 0, lost: 0, late: 0, doubled: 0, repeated: 0 }
  let behaves = false

  const forward = (
    { method, path, headers, body }: Forwarded,
    port: number,
    gone?: AbortSignal,
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const options = {
        agent,
        host: '127.0.0.1',
        port,
        method,
        path,
        headers,
        ...(gone ? { signal: gone } : {}),
      }
      const outgoing = send(options, (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => void chunks.push(chunk))
        answer.once('error', reject)
        answer.once('end', () =>
          resolve({ status: answer.statusCode ?? 502, headers: answer.headers, body: Buffer.concat(chunks) }),
        )
      })
      outgoing.once('error', reject)
      outgoing.end(body)
    })

  const again = (request: Forwarded, afterMs: number): void => {
    const timer = setTimeout(() => {
      forward(request, chance.pick(ports())).catch(() => undefined)
    }, afterMs)
    timer.unref()
  }

  const meddleWith = (request: Forwarded): 'drop' | number => {
    if (behaves) return 0
    if (request.path === '/api/events') {
      if (chance.happens(0.1)) {
        counts.doubled += 1
        again(request, 0)
      }
      if (chance.happens(0.08)) {
        counts.repeated += 1
        again(request, chance.between(500, 9000))
      }
    }
    const isLease = request.path === '/api/commands/lease'
    if (chance.happens(isLease ? 0.005 : 0.05)) {
      counts.lost += 1
      return 'drop'
    }
    if (!chance.happens(0.04)) return 0
    counts.late += 1
    return chance.between(200, 5000)
  }

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const {
      host: _host,
      connection: _connection,
      'transfer-encoding': _encoding,
      ...headers
    } = incoming.headers
    const request = {
      method: incoming.method ?? 'GET',
      path: incoming.url ?? '/',
      headers,
      body: Buffer.concat(chunks),
    }
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const delay = meddleWith(request)
    if (typeof delay === 'number' && delay > 0) await new Promise((resolve) => setTimeout(resolve, delay))
    counts.forwarded += 1
    const answer = await forward(request, chance.pick(ports()), gone.signal)
    if (delay === 'drop') return void response.destroy()
    const { connection: _own, 'transfer-encoding': _chunked, 'keep-alive': _alive, ...kept } = answer.headers
    response.writeHead(answer.status, { ...kept, 'content-length': answer.body.length }).end(answer.body)
  }

  const served = await serve(handle)
  return {
    url: served.url,
    counts,
    behave: () => {
      behaves = true
    },
    close: () => {
      served.close()
      agent.destroy()
    },
  }
}

interface Answer {
  readonly status: number
  readonly headers: OutgoingHttpHeaders
  readonly body: Buffer
}
