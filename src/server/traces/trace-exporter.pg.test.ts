import type { IncomingHttpHeaders, Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { TestServer } from '../../../test/support/server.ts'
import { textOf } from '../../../test/support/server.ts'
import { useServers } from '../../../test/support/servers.ts'
import { silentLog } from '../../worker/log.ts'
import { createCollector } from './collector.ts'
import { createTraceExporter } from './trace-exporter.ts'

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly spans: readonly OtlpSpan[]
}

interface OtlpSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly status: { readonly code: number; readonly message?: string }
}

const servers = useServers()
const collectors: Server[] = []

afterEach(async () => {
  await Promise.all(collectors.splice(0).map((server) => new Promise((resolve) => server.close(resolve))))
})

/** A collector that answers with the given codes, in order, then 200. */
const startCollector = async (codes: number[] = []) => {
  const received: Received[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      const code = codes.shift() ?? 200
      if (code === 200) {
        const { resourceSpans } = JSON.parse(body) as {
          resourceSpans: { scopeSpans: { spans: OtlpSpan[] }[] }[]
        }
        const spans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans))
        received.push({ headers: request.headers, spans })
      }
      response.writeHead(code).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  collectors.push(server)
  return { received, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces` }
}

const exporterFor = (server: TestServer, endpoint: string) => {
  const collector = createCollector({
    endpoint,
    headers: { 'x-team': 'orders' },
    resource: { 'service.name': 'noetl' },
    version: '0.0.0-test',
    log: silentLog,
    firstDelayMs: 1,
    tries: 3,
  })
  const exporter = createTraceExporter(server.core, collector)
  exporter.start()
  return { exporter, collector }
}

const PLAYBOOK = `apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: traced, path: tests/traced}
workflow:
  - {step: start, tool: {kind: python, code: x}, next: second}
  - {step: second, tool: {kind: python, code: x}}
`

const finish = async (server: TestServer, id: string, outcomes: readonly string[]): Promise<void> => {
  for (const status of outcomes) {
    const [command] = (await server.post('/api/commands/lease', { worker_id: 'w', pool: 'shared', max: 1 }))
      .body['commands'] as { node_name: string; lease_token: string; meta: { command_id: string } }[]
    if (!command) throw new Error('nothing to do')
    await server.post('/api/events', {
      execution_id: id,
      event_type: 'command.completed',
      step: command.node_name,
      status,
      worker_id: 'w',
      lease_token: command.lease_token,
      payload: { command_id: command.meta.command_id, ...(status === 'error' ? { error: 'broken' } : {}) },
    })
  }
}

test('an execution that ends is exported under the trace of its caller', async () => {
  const server = await servers.start()
  const { received, endpoint } = await startCollector()
  const { exporter, collector } = exporterFor(server, endpoint)
  await server.register(PLAYBOOK)
  const trace = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }
  const { body } = await server.post('/api/execute', { path: 'tests/traced', trace })
  const id = textOf(body['execution_id'])
  await finish(server, id, ['success', 'success'])
  await exporter.idle()
  expect(received.map(({ headers }) => headers['x-team'])).toEqual(['orders'])
  const spans = received.flatMap((each) => each.spans)
  expect(spans.map(({ name }) => name)).toEqual([
    'python start',
    'step start',
    'python second',
    'step second',
    'playbook tests/traced',
  ])
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set(['4bf92f3577b34da6a3ce929d0e0e4736']))
  expect(spans.at(-1)).toMatchObject({ parentSpanId: '00f067aa0ba902b7', status: { code: 1 } })
  expect(spans.every((span) => BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano))).toBe(true)
  expect(collector.sent()).toBe(5)
  const shown = await server.get(`/api/executions/${id}/trace`)
  expect(shown.body['resourceSpans']).toMatchObject([{ scopeSpans: [{ spans }] }])
  await exporter.stop()
})

test('a collector that is busy is asked again; one that refuses loses the spans, and they are counted', async () => {
  const server = await servers.start()
  const { received, endpoint } = await startCollector([503, 429, 200, 400])
  const { exporter, collector } = exporterFor(server, endpoint)
  await server.register(PLAYBOOK)
  const first = await server.execute('tests/traced')
  await finish(server, first, ['error'])
  await exporter.idle()
  expect(received[0]?.spans.at(-1)?.status).toMatchObject({ code: 2 })
  const second = await server.execute('tests/traced')
  await finish(server, second, ['error'])
  await exporter.idle()
  expect([received.length, collector.sent(), collector.dropped()]).toEqual([1, 3, 3])
  await exporter.stop()
})

test('a caller that does not sample gets no spans', async () => {
  const server = await servers.start()
  const { received, endpoint } = await startCollector()
  const { exporter } = exporterFor(server, endpoint)
  await server.register(PLAYBOOK)
  const trace = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00' }
  const { body } = await server.post('/api/execute', { path: 'tests/traced', trace })
  await finish(server, textOf(body['execution_id']), ['error'])
  await exporter.stop()
  expect(received).toEqual([])
})

test('the trace of an execution that runs shows what is open; an unknown one is not found', async () => {
  const server = await servers.start()
  await server.register(PLAYBOOK)
  const id = await server.execute('tests/traced')
  const { body } = await server.get(`/api/executions/${id}/trace`)
  expect(body['resourceSpans']).toMatchObject([
    {
      scopeSpans: [
        { spans: [{ name: 'python start' }, { name: 'step start' }, { name: 'playbook tests/traced' }] },
      ],
    },
  ])
  expect((await server.get(`/api/executions/${id}/trace?limit=1`)).body['truncated']).toBe(true)
  expect((await server.get('/api/executions/1/trace')).status).toBe(404)
})
