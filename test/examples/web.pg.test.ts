/** Examples that talk to the practice shop. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Shop } from '../../examples/shop-api.ts'
import { PARTNER_KEY, startShop } from '../../examples/shop-api.ts'
import { startShopMcp } from '../../examples/shop-mcp.ts'
import { startNatsServer, type NatsServer } from '../support/nats-server.ts'
import { textOf } from '../support/server.ts'
import { useExamples } from './example-run.ts'

const { credential, credentialOf, product, register, result, run } = useExamples()

let shop: Shop
let mcp: Awaited<ReturnType<typeof startShopMcp>>
let nats: NatsServer
beforeAll(async () => {
  ;[shop, mcp, nats] = await Promise.all([startShop(), startShopMcp(), startNatsServer()])
})
afterAll(() => Promise.all([shop.close(), mcp.close(), nats.stop()]))

/** Requests that `work` causes, without the id of the run. */
const requestsOf = async (work: () => Promise<unknown>): Promise<readonly string[]> => {
  const before = shop.requests.length
  await work()
  return shop.requests.slice(before).map((request) => request.replace(/\?run=\d+$/, ''))
}

test('pagination-by-page: every page is asked for once, in order', async () => {
  const api = shop.url
  const requests = await requestsOf(async () => {
    expect(await result('pagination-by-page', { api })).toEqual({ pages: 3, orders: 45, revenue: 4720 })
  })
  expect(requests).toEqual([1, 2, 3].map((page) => `GET /orders?page=${page}&per_page=20`))
  expect(await result('pagination-by-page', { api, per_page: 10 })).toMatchObject({ pages: 5, orders: 45 })
})

test('pagination-by-cursor: one command follows the cursor to the last page', async () => {
  const requests = await requestsOf(async () => {
    const { result: found, commands } = await run('pagination-by-cursor', { api: shop.url })
    expect(found).toEqual({ customers: 12, last: 'Customer 12' })
    expect(commands.map(({ nodeName }) => nodeName)).toEqual(['start', 'end'])
  })
  expect(requests).toHaveLength(3)
})

test('pagination-by-offset: all pages are asked for, whichever comes first', async () => {
  const requests = await requestsOf(async () => {
    expect(await result('pagination-by-offset', { api: shop.url })).toEqual({
      pages: 5,
      products: 23,
      dearest: 'P23',
    })
  })
  const pages = [0, 5, 10, 15, 20].map((offset) => `GET /products?offset=${offset}&limit=5`)
  expect(requests.slice(1).sort()).toEqual(pages.sort())
})

test('retry-backoff: a busy service is asked again; an unknown product is not', async () => {
  const api = shop.url
  const busy = await requestsOf(async () => {
    expect(await result('retry-backoff', { api })).toEqual({ sku: 'P07', in_stock: 7 })
  })
  expect(busy).toEqual(Array(3).fill('GET /stock/P07'))
  const unknown = await requestsOf(async () => {
    expect(await result('retry-backoff', { api, sku: 'X99' })).toBe('X99 is not sold here')
  })
  expect(unknown).toEqual(['GET /stock/X99'])
})

test('rate-limit: the refused request is sent again after the wait that was asked for', async () => {
  const requests = await requestsOf(async () => {
    const { result: rates, events } = await run('rate-limit', { api: shop.url })
    expect(rates).toEqual({ EUR: 1, USD: 1.1, GBP: 0.85, NOK: 11.5 })
    const waits = [...JSON.stringify(events).matchAll(/"wait_ms":(\d+)/g)].map(([, wait]) => Number(wait))
    expect(waits.length).toBeGreaterThan(0)
    for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(1000)
  })
  expect(requests).toEqual(['EUR', 'USD', 'GBP', 'GBP', 'NOK'].map((currency) => `GET /rates/${currency}`))
})

test('saga: a sale that works keeps all its parts', async () => {
  expect(await result('saga', { api: shop.url })).toEqual({
    sold: true,
    shipment: expect.stringMatching(/^s\d+$/),
  })
  expect([shop.reservations.size, shop.payments.size]).toEqual([1, 1])
})

test('saga: a sale that cannot be shipped leaves nothing behind', async () => {
  const before = [[...shop.reservations.keys()], [...shop.payments.keys()]]
  const requests = await requestsOf(async () => {
    const outcome = await run('saga', { api: shop.url, city: 'Atlantis' })
    expect([outcome.status, outcome.result]).toEqual([
      'COMPLETED',
      { sold: false, reason: 'we do not deliver to Atlantis' },
    ])
    expect(outcome.runs).toEqual(['start', 'charge', 'ship', 'refund', 'release', 'undone'])
  })
  expect(requests.map((request) => request.replace(/\d+$/, ''))).toEqual([
    'POST /reservations',
    'POST /payments',
    'POST /shipments',
    'DELETE /payments/p',
    'DELETE /reservations/r',
  ])
  expect([[...shop.reservations.keys()], [...shop.payments.keys()]]).toEqual(before)
})

test('api-key: the key of the credential opens the door, and stands in no event', async () => {
  await credentialOf('api-key')
  await credential({ name: 'wrong_partner', type: 'api_key', data: { api_key: 'wrong' } })
  const api = shop.url
  const { result: orders, events } = await run('api-key', { api })
  expect(orders).toEqual([1, 2, 3])
  expect(JSON.stringify(events)).not.toContain(PARTNER_KEY)
  expect(await result('api-key', { api, credential: 'wrong_partner' })).toBe('the shop does not know our key')
})

test('oauth2-token: one token serves all runs until it is refused, then there is a new one', async () => {
  await credentialOf('oauth2-token')
  const catalogRun = async (catalog_id: string): Promise<unknown> => {
    const { body } = await product.post('/api/execute', { catalog_id, payload: { api: shop.url } })
    const { status, result: report, events } = await product.ended(textOf(body['execution_id']))
    expect(JSON.stringify(events)).not.toMatch(/shop-token-|open-sesame/)
    return [status, report]
  }
  const catalogId = await register('oauth2-token')
  const report = ['COMPLETED', { report: 'daily', orders: 45 }]
  const kept = await requestsOf(async () => {
    expect(await catalogRun(catalogId)).toEqual(report)
    expect(await catalogRun(catalogId)).toEqual(report)
  })
  expect(kept).toEqual(['POST /token', 'GET /reports/daily', 'GET /reports/daily'])
  shop.revokeTokens()
  const renewed = await requestsOf(async () => expect(await catalogRun(catalogId)).toEqual(report))
  expect(renewed).toEqual(['GET /reports/daily', 'POST /token', 'GET /reports/daily'])
})

test('nats-key-value: every run counts on, and a lost race is run again', async () => {
  const url = nats.url
  expect(await result('nats-key-value', { nats: url })).toBe('this is run 1')
  expect(await result('nats-key-value', { nats: url })).toBe('this is run 2')
  const together = await Promise.all([1, 2, 3].map(() => result('nats-key-value', { nats: url })))
  expect(new Set(together)).toEqual(new Set(['this is run 3', 'this is run 4', 'this is run 5']))
})

test('mcp-tool: a tool of the server is called, and its failure is read', async () => {
  const endpoint = mcp.url
  expect(await result('mcp-tool', { endpoint })).toEqual({ offers: ['price_of'], total: 12 })
  expect(await result('mcp-tool', { endpoint, product: 'gold' })).toBe('gold is not sold here')
})
