import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { createClient } from './client.ts'
import type { Followed } from './follow.ts'
import { collect } from './testing/collect.ts'
import { answer, startFakeServer } from './testing/fake-server.ts'

const HEALTH = {
  status: 'ok',
  database: 'connected',
  nats: 'not_configured',
  uptime_seconds: 1,
  version: '1.0.0',
}
const ID = '380455666239586304'

describe('requests', () => {
  test('ids keep every digit, whatever form they have on the wire', async () => {
    const status = `{"execution_id":${ID},"status":"COMPLETED","current_step":null,"progress":{},"error":null}`
    const { url } = await startFakeServer((_, response) => answer(response, 200, status))
    expect((await createClient(url).status(ID)).execution_id).toBe(ID)
  })

  test('a refusal keeps the code, the words and the details of the server', async () => {
    const body = { error: "Did you mean 'end'?", status: 422, code: 'invalid', details: { problems: [] } }
    const { url } = await startFakeServer((_, response) => answer(response, 422, body))
    await expect(createClient(url).register('x')).rejects.toMatchObject({
      code: 'invalid',
      message: body.error,
      details: body.details,
    })
  })

  test.each([
    [404, 'not_found'],
    [409, 'conflict'],
    [500, 'internal'],
    [502, 'unavailable'],
    [418, 'bad_request'],
  ])('a %i of something that is not NoETL is %s', async (status, code) => {
    const { url } = await startFakeServer((_, response) => answer(response, status, '<html>no</html>'))
    await expect(createClient(url).list()).rejects.toMatchObject({
      code,
      message: expect.stringContaining(String(status)),
    })
  })

  test('nobody there is unavailable, with the reason', async () => {
    const { url, close } = await startFakeServer(() => undefined)
    await close()
    await expect(createClient(url).health()).rejects.toMatchObject({
      code: 'unavailable',
      message: `No answer from ${url} (connection refused)`,
    })
  })

  test.each(['{"status":"ok"}', '[]', 'welcome'])(
    'something else that answers %s is not taken for NoETL',
    async (body) => {
      const { url } = await startFakeServer((_, response) => answer(response, 200, body))
      await expect(createClient(url).health()).rejects.toMatchObject({ code: 'unavailable' })
    },
  )

  test('the address may end with a slash', async () => {
    const { url, requests } = await startFakeServer((_, response) => answer(response, 200, HEALTH))
    await createClient(`${url}/`).health()
    expect(requests[0]?.path).toBe('/api/health')
  })

  test.each(['nonsense', 'ftp://host', ''])("'%s' is no address", (text) => {
    expect(() => createClient(text)).toThrow(/is not the address of a server/)
  })

  test('an execution is started with exactly what was given', async () => {
    const { url, requests } = await startFakeServer((_, response) =>
      answer(response, 200, { execution_id: ID }),
    )
    await createClient(url).execute({ path: 'a/b', version: 2, payload: { x: 1 } })
    expect(requests[0]).toMatchObject({ method: 'POST', path: '/api/execute' })
    expect(requests[0]?.body).toEqual({ path: 'a/b', version: 2, payload: { x: 1 } })
  })
})

test('a cancel says how far it goes, and answers what it reached', async () => {
  const { url, requests } = await startFakeServer((_, response) =>
    answer(response, 200, { execution_id: 7, status: 'cancelled', cancelled_executions: ['7', '8'] }),
  )
  const cancelled = await createClient(url).cancel('7', { reason: 'no', cascade: false })
  expect(cancelled).toMatchObject({ execution_id: '7', cancelled_executions: ['7', '8'] })
  expect(requests[0]).toMatchObject({
    path: '/api/executions/7/cancel',
    body: { reason: 'no', cascade: false },
  })
})

test('data is read by its reference', async () => {
  const { url, requests } = await startFakeServer((_, response) => answer(response, 200, [1]))
  const ref = 'noetl://execution/1/result/a b/2'
  expect(await createClient(url).resolve(ref)).toEqual([1])
  expect(new URL(requests[0]?.path ?? '', url).searchParams.get('ref')).toBe(ref)
})

describe('following an execution', () => {
  const send = (response: ServerResponse, from: number, to: number): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (let position = from; position <= to; position += 1) {
      response.write(
        `id: ${position}\nevent: step.enter\ndata: {"event_id":${ID},"position":${position}}\n\n`,
      )
    }
  }
  const END = 'event: end\ndata: {"status":"COMPLETED","error":null}\n\n'

  const positions = (followed: readonly Followed[]): readonly (number | string)[] =>
    followed.map((each) => (each.type === 'event' ? each.event.position : each.end.status))

  test('goes on from the last position when the connection breaks (1)', async () => {
    const { url, requests } = await startFakeServer(({ headers }, response) => {
      const last = Number(headers['last-event-id'] ?? 0)
      send(response, last + 1, last + 2)
      if (last === 0) response.write(' half a mess', () => response.destroy())
      else if (last === 2) response.end()
      else response.end(END)
    })
    const breaks: string[] = []
    const followed = await collect(
      createClient(url).follow(ID, { onBreak: (problem) => breaks.push(problem.code) }),
    )
    expect(positions(followed)).toEqual([1, 2, 3, 4, 5, 6, 'COMPLETED'])
    expect(requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '2', '4'])
    expect(breaks).toEqual(['unavailable'])
  })

  test('a refusal is thrown at once (2)', async () => {
    const { url, requests } = await startFakeServer((_, response) =>
      answer(response, 404, { error: 'Execution not found: 1', status: 404, code: 'not_found' }),
    )
    await expect(collect(createClient(url).follow('1'))).rejects.toMatchObject({ code: 'not_found' })
    expect(requests).toHaveLength(1)
  })

  test('a server that stays away is given up after a while (2)', async () => {
    const { url, close } = await startFakeServer(() => undefined)
    await close()
    const follow = createClient(url).follow(ID, { patienceMs: 50 })
    await expect(collect(follow)).rejects.toMatchObject({ code: 'unavailable' })
  })

  test('ends when the caller aborts', async () => {
    const controller = new AbortController()
    const { url } = await startFakeServer((_, response) => send(response, 1, 1))
    const seen: Followed[] = []
    const reading = (async () => {
      for await (const each of createClient(url).follow(ID, { signal: controller.signal })) {
        seen.push(each)
        controller.abort()
      }
    })()
    await expect(reading).rejects.toThrow()
    expect(positions(seen)).toEqual([1])
  })
})
