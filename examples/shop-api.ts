/**
 * A small web shop for the examples to talk to: every answer is made up and the same each time.
 *
 *   npx node examples/shop-api.ts            listens at http://127.0.0.1:8099, the address that the examples expect
 *   npx node examples/shop-api.ts 9000       at another port; then: noetl run … --set api=http://127.0.0.1:9000
 *
 * 1. It behaves like services do: it pages in three ways, fails now and then, asks to slow down, wants keys.
 * 2. Failures are no matter of chance: they are counted for each `run` that a request names.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Shop {
  readonly url: string
  /** Method and path of every request, oldest first. */
  readonly requests: readonly string[]
  readonly reservations: ReadonlyMap<string, unknown>
  readonly payments: ReadonlyMap<string, unknown>
  /** Takes the tokens back that were given so far. */
  revokeTokens(): void
  close(): Promise<void>
}

interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

interface Question {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

type Route = (question: Question, found: readonly string[]) => Answer

const CITIES = ['Oslo', 'Rome', 'Lima']
const DEFAULT_PORT = 8099
const CLIENT = { client_id: 'examples', client_secret: 'open-sesame' }
export const PARTNER_KEY = 'partner-key-1'

const two = (value: number): string => String(value).padStart(2, '0')
const order = (id: number) => ({
  id,
  customer_id: 1 + (id % 12),
  city: CITIES[id % CITIES.length],
  amount: 5 + ((id * 37) % 200),
  changed_at: `2026-01-${two(1 + Math.floor(id / 24))}T${two(id % 24)}:00:00Z`,
})
const ORDERS = Array.from({ length: 45 }, (_, index) => order(index + 1))
const CUSTOMERS = Array.from({ length: 12 }, (_, index) => ({ id: index + 1, name: `Customer ${index + 1}` }))
const PRODUCTS = Array.from({ length: 23 }, (_, index) => ({ sku: `P${two(index + 1)}`, price: 10 + index }))
const RATES: Readonly<Record<string, number>> = { EUR: 1, USD: 1.1, GBP: 0.85, NOK: 11.5 }

const number = (query: URLSearchParams, name: string, fallback: number): number =>
  Number(query.get(name) ?? fallback)

/** Lists, paged in the three common ways. */
const lists = (orders: () => readonly ReturnType<typeof order>[]): Readonly<Record<string, Route>> => ({
  'GET /orders': ({ query }) => {
    const page = number(query, 'page', 1)
    const size = number(query, 'per_page', 20)
    const items = orders().slice((page - 1) * size, page * size)
    return { body: { items, page, pages: Math.ceil(orders().length / size), total: orders().length } }
  },
  'GET /customers': ({ query }) => {
    const begin = Number(Buffer.from(query.get('cursor') ?? '', 'base64url').toString() || 0)
    const end = begin + number(query, 'limit', 5)
    const next = end < CUSTOMERS.length ? Buffer.from(String(end)).toString('base64url') : null
    return { body: { items: CUSTOMERS.slice(begin, end), next_cursor: next } }
  },
  'GET /products': ({ query }) => {
    const offset = number(query, 'offset', 0)
    const items = PRODUCTS.slice(offset, offset + number(query, 'limit', 10))
    return { body: { items, offset, total: PRODUCTS.length } }
  },
  'GET /changes': ({ query }) => {
    const changed = orders().filter(({ changed_at }) => changed_at > (query.get('since') ?? ''))
    return { body: { items: changed.slice(0, number(query, 'limit', 20)) } }
  },
})

/** What goes wrong, and right a little later. */
const troubles = (): Readonly<Record<string, Route>> => {
  const counts = new Map<string, number>()
  const countOf = (...words: readonly (string | null | undefined)[]): number => {
    const key = words.join(' ')
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    return count
  }
  return {
    'GET /stock/(\\w+)': ({ query }, [sku = '']) => {
      if (!PRODUCTS.some((product) => product.sku === sku))
        return { status: 404, body: { error: `no product ${sku}` } }
      if (countOf('stock', sku, query.get('run')) <= 2) return { status: 503, body: { error: 'busy' } }
      return { body: { sku, in_stock: 7 } }
    },
    'GET /rates/(\\w+)': ({ query }, [currency = '']) => {
      const isThird = countOf('rates', query.get('run')) === 3
      if (isThird) return { status: 429, headers: { 'retry-after': '1' }, body: { error: 'slow down' } }
      return { body: { currency, rate: RATES[currency] ?? null } }
    },
  }
}

interface Booking {
  readonly reservations: Map<string, unknown>
  readonly payments: Map<string, unknown>
}

/** The parts of a sale. Each can be taken back. */
const sales = ({ reservations, payments }: Booking): Readonly<Record<string, Route>> => {
  let last = 0
  const add = (to: Map<string, unknown>, letter: string, body: string): Answer => {
    const id = `${letter}${(last += 1)}`
    to.set(id, JSON.parse(body))
    return { status: 201, body: { id } }
  }
  return {
    'POST /reservations': ({ body }) => add(reservations, 'r', body),
    'DELETE /reservations/(\\w+)': (_question, [id = '']) => ({
      status: reservations.delete(id) ? 204 : 404,
    }),
    'POST /payments': ({ body }) => add(payments, 'p', body),
    'DELETE /payments/(\\w+)': (_question, [id = '']) => ({ status: payments.delete(id) ? 204 : 404 }),
    'POST /shipments': ({ body }) => {
      const { city } = JSON.parse(body) as { city: string }
      if (!CITIES.includes(city)) return { status: 422, body: { error: `we do not deliver to ${city}` } }
      return { status: 201, body: { id: `s${(last += 1)}`, city } }
    },
  }
}

const REFUSED: Answer = { status: 401, body: { error: 'who are you?' } }

/** Routes that want to know who calls. */
const guarded = (tokens: Set<string>): Readonly<Record<string, Route>> => {
  let given = 0
  return {
    'POST /token': ({ body }) => {
      const form = new URLSearchParams(body)
      const isKnown = Object.entries(CLIENT).every(([name, value]) => form.get(name) === value)
      if (!isKnown) return REFUSED
      const token = `shop-token-${(given += 1)}`
      tokens.add(token)
      return { body: { access_token: token, token_type: 'Bearer', expires_in: 3600 } }
    },
    'GET /reports/(\\w+)': ({ headers }, [name]) =>
      tokens.has(headers.authorization?.replace('Bearer ', '') ?? '')
        ? { body: { report: name, orders: ORDERS.length } }
        : REFUSED,
    'GET /partner/orders': ({ headers }) =>
      headers['x-api-key'] === PARTNER_KEY ? { body: { items: ORDERS.slice(0, 3) } } : REFUSED,
  }
}

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

const answerTo = (routes: Readonly<Record<string, Route>>, question: Question): Answer => {
  for (const [pattern, route] of Object.entries(routes)) {
    const found = new RegExp(`^${pattern}$`).exec(`${question.method} ${question.path}`)
    if (found) return route(question, found.slice(1))
  }
  return { status: 404, body: { error: `no route ${question.method} ${question.path}` } }
}

export const startShop = async (port = 0): Promise<Shop> => {
  const orders = [...ORDERS]
  const tokens = new Set<string>()
  const booking: Booking = { reservations: new Map(), payments: new Map() }
  const requests: string[] = []
  const routes: Readonly<Record<string, Route>> = {
    ...lists(() => orders),
    ...troubles(),
    ...sales(booking),
    ...guarded(tokens),
    'POST /orders': () => {
      const added = order(orders.length + 1)
      orders.push(added)
      return { status: 201, body: added }
    },
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://shop')
    const method = request.method ?? 'GET'
    requests.push(`${method} ${pathname}${searchParams.size === 0 ? '' : `?${searchParams.toString()}`}`)
    const body = await readBody(request)
    const question = { method, path: pathname, query: searchParams, headers: request.headers, body }
    const { status = 200, headers = {}, body: content } = answerTo(routes, question)
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(content === undefined ? undefined : JSON.stringify(content))
  }
  const server = createServer((request, response) => void answer(request, response))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    ...booking,
    revokeTokens: () => tokens.clear(),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

if (import.meta.main) {
  const { url } = await startShop(Number(process.argv[2] ?? DEFAULT_PORT))
  process.stdout.write(`The shop is open at ${url}. Ctrl-C closes it.\n`)
}
