/** One trace from the caller through the execution, its tools and its children, down to the services they call. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { playbookText, useProduct } from '../../../test/support/playbook-run.ts'
import { textOf } from '../../../test/support/server.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER = '00f067aa0ba902b7'

const product = useProduct()

/** Trace contexts that arrived, by path. */
const arrived = new Map<string, string>()
let web: Server
let url: string

beforeAll(async () => {
  web = createServer((request, response) => {
    arrived.set(request.url ?? '', String(request.headers['traceparent']))
    response.end()
  })
  web.listen(0, '127.0.0.1')
  await once(web, 'listening')
  url = `http://127.0.0.1:${(web.address() as AddressInfo).port}`
})
afterAll(() => {
  web.closeAllConnections()
  web.close()
})

interface SpanAnswer {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
}

const spansOf = async (executionId: string): Promise<readonly SpanAnswer[]> => {
  const { body } = await product.get(`/api/executions/${executionId}/trace`)
  const [resource] = body['resourceSpans'] as unknown as { scopeSpans: { spans: SpanAnswer[] }[] }[]
  return resource?.scopeSpans[0]?.spans ?? []
}

const spanNamed = async (executionId: string, name: string): Promise<SpanAnswer | undefined> =>
  (await spansOf(executionId)).find((span) => span.name === name)

test('a call and a child of a pipeline stand in the trace of whoever started the execution', async () => {
  await product.register({
    path: 'tests/traced-child',
    top: 'workload: { url: "" }',
    steps: '- { step: start, tool: { kind: http, url: "{{ url }}/child" } }',
  })
  const content = playbookText({
    path: 'tests/traced-parent',
    top: 'workload: { url: "" }',
    steps: `
      - step: start
        tool: { kind: http, url: "{{ url }}/parent" }
        next: below
      - step: below
        tool:
          - child: { kind: playbook, path: tests/traced-child, return_step: start, input: { url: "{{ url }}" } }`,
  })
  const catalog_id = await product.register(content)
  const answer = await fetch(`${product.stack().url}/api/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', traceparent: `00-${TRACE}-${CALLER}-01` },
    body: JSON.stringify({ catalog_id, payload: { url } }),
  })
  const executionId = textOf(((await answer.json()) as { execution_id: string }).execution_id)
  const parent = await product.ended(executionId)
  expect([parent.status, parent.error]).toEqual(['COMPLETED', null])

  const execution = await spanNamed(executionId, 'playbook tests/traced-parent')
  expect(execution).toMatchObject({ traceId: TRACE, parentSpanId: CALLER })
  const call = await spanNamed(executionId, 'http start')
  expect(arrived.get('/parent')).toBe(`00-${TRACE}-${call?.spanId}-01`)

  const { child } = parent.data('below') as { child: Record<string, string> }
  const childId = child['_execution_id'] ?? ''
  const pipeline = await spanNamed(executionId, 'task_sequence below')
  const childExecution = await spanNamed(childId, 'playbook tests/traced-child')
  expect(childExecution).toMatchObject({ traceId: TRACE, parentSpanId: pipeline?.spanId })
  const childCall = await spanNamed(childId, 'http start')
  expect(arrived.get('/child')).toBe(`00-${TRACE}-${childCall?.spanId}-01`)
})
