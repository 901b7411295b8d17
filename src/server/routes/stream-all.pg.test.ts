import { describe, expect, test } from 'vitest'
import type { LeasedCommand } from '../../contract/command.ts'
import { EventEnvelope } from '../../contract/api-internal.ts'
import { fromEnvelope, importEvents } from '../import-events.ts'
import { breakHearing, startHearingPair } from '../../../test/support/hearing-servers.ts'
import { aNote } from '../../../test/support/inputs.ts'
import { chain, fanOut, single } from '../../../test/support/playbooks.ts'
import { createScriptedWorker } from '../../../test/support/scripted-worker.ts'
import { textOf } from '../../../test/support/server.ts'
import { useServers } from '../../../test/support/servers.ts'
import type { Message } from '../../../test/support/sse.ts'
import { useStreams } from '../../../test/support/sse.ts'

const servers = useServers()
const streams = useStreams()

const pair = () => startHearingPair(servers)

const isEnd =
  (id: string) =>
  ({ type, data }: Message): boolean =>
    type === 'status' && data['execution_id'] === id && data['status'] !== 'RUNNING'

const statuses = (messages: readonly Message[]): readonly unknown[] =>
  messages
    .filter((message) => message.type === 'status')
    .map(({ data }) => [data['execution_id'], data['status']])

describe('the stream of all executions', () => {
  test('tells how executions start and end, whichever server they are told to', async () => {
    const [here, there] = await pair()
    await here.register(chain('tests/all', 2))
    const { base } = await streams.listen(here)
    const stream = await streams.subscribe(`${base}/api/stream`)
    const a = await here.execute('tests/all')
    await createScriptedWorker(here, 'w1').drain()
    expect(statuses(await stream.until(isEnd(a))).at(-1)).toEqual([a, 'COMPLETED'])
    const b = await there.execute('tests/all')
    expect((await stream.next())?.data).toMatchObject({
      execution_id: b,
      status: 'RUNNING',
      path: 'tests/all',
    })
    await there.post(`/api/executions/${b}/cancel`, { reason: 'enough' })
    expect((await stream.until(isEnd(b))).at(-1)?.data).toMatchObject({
      status: 'CANCELLED',
      error: 'enough',
    })
  })

  test('tells every event once and in order when asked to, without secrets', async () => {
    const [here, there] = await pair()
    await here.register(fanOut('tests/all', 5))
    const { base } = await streams.listen(here)
    const stream = await streams.subscribe(`${base}/api/stream?events=true`)
    const ids = await Promise.all([
      here.execute('tests/all', { token: 'hidden-value' }),
      there.execute('tests/all', { token: 'hidden-value' }),
    ])
    const drained = Promise.all([
      createScriptedWorker(here, 'w1').drain(),
      createScriptedWorker(there, 'w2').drain(),
    ])
    const heard: Message[] = []
    for (const id of ids) if (!heard.some(isEnd(id))) heard.push(...(await stream.until(isEnd(id))))
    await drained
    for (const id of ids) {
      const { events } = (await here.get(`/api/executions/${id}/events?limit=500`)).body
      const told = heard.filter((message) => message.type === 'event' && message.data['execution_id'] === id)
      expect(told.map(({ data }) => data['position'])).toEqual(
        (events as unknown[]).map((_, index) => index + 1),
      )
    }
    expect(JSON.stringify(heard)).not.toContain('hidden-value')
  })

  test('tells an execution from its beginning when a later change is heard of first (rule 3)', async () => {
    // They do not hear each other.
    const [here, there] = [await servers.start(), await servers.start()]
    await here.register(single('tests/all'))
    const known = await there.execute('tests/all')
    const { base } = await streams.listen(here)
    const stream = await streams.subscribe(`${base}/api/stream?events=true`)
    const fresh = await there.execute('tests/all')
    for (const id of [fresh, known]) await here.core.tell(id, aNote())
    const unheard = new Set([fresh, known])
    const heard = await stream.until(({ data }) => {
      if (data['position'] === 4) unheard.delete(textOf(data['execution_id']))
      return unheard.size === 0
    })
    const positions = (id: string) =>
      heard
        .filter(({ type, data }) => type === 'event' && data['execution_id'] === id)
        .map(({ data }) => data['position'])
    expect(positions(fresh)).toEqual([1, 2, 3, 4])
    // What happened before the client came, it did not ask for.
    expect(positions(known)).toEqual([4])
  })

  test('tells only what is asked for', async () => {
    const server = await servers.start()
    await server.register(single('tests/wanted/Flow'))
    await server.register(single('tests/other'))
    const { base } = await streams.listen(server)
    const stream = await streams.subscribe(`${base}/api/stream?path=WANTED&status=failed,Cancelled`)
    const other = await server.execute('tests/other')
    const wanted = await server.execute('tests/wanted/Flow')
    await server.post(`/api/executions/${other}/cancel`, {})
    await server.post(`/api/executions/${wanted}/cancel`, {})
    expect((await stream.next())?.data).toMatchObject({ execution_id: wanted, status: 'CANCELLED' })
    expect((await server.get('/api/stream?status=broken')).status).toBe(422)
    expect((await server.get('/api/stream?events=maybe')).status).toBe(422)
  })

  test('goes on on another server with what happened in between', async () => {
    const [here, there] = await pair()
    await here.register(single('tests/all'))
    const worker = createScriptedWorker(there, 'w1')
    const before = await here.execute('tests/all')
    const first = await streams.listen(here)
    const stream = await streams.subscribe(`${first.base}/api/stream?events=true`)
    const running = await here.execute('tests/all')
    await stream.until(({ data }) => data['event_type'] === 'command.issued')
    await stream.until(({ type, data }) => type === 'status' && data['execution_id'] === running)
    stream.leave()
    first.stop()

    await worker.drain()
    const late = await there.execute('tests/all')
    await there.core.tell(late, aNote())

    const second = await streams.listen(there)
    const again = await streams.subscribe(`${second.base}/api/stream?events=true`, stream.lastId())
    const wanted = new Set([`${before} COMPLETED`, `${running} COMPLETED`, `${late} RUNNING`])
    const heard = await again.until(({ type, data }) => {
      if (type === 'status') wanted.delete(`${textOf(data['execution_id'])} ${textOf(data['status'])}`)
      return wanted.size === 0
    })
    const ended = heard.filter(({ data }) => data['event_type'] === 'playbook.completed')
    expect(new Set(ended.map(({ data }) => data['execution_id']))).toEqual(new Set([before, running]))
    expect(heard.some(({ data }) => data['event_type'] === 'note')).toBe(true)
    await there.post(`/api/executions/${late}/cancel`, {})
    expect((await again.until(isEnd(late))).at(-1)?.data['status']).toBe('CANCELLED')
  })

  test('tells of an execution that was over when the client left, and was opened again meanwhile', async () => {
    const server = await servers.start()
    await server.register(single('tests/all'))
    const { base } = await streams.listen(server)
    const old = await server.execute('tests/all')
    await server.post(`/api/executions/${old}/cancel`, {})
    const running = await server.execute('tests/all')
    // What the client got last when the old one had been over for long.
    const last = `${Date.now()}-${running}`
    expect((await server.post(`/api/executions/${old}/retry`, {})).status).toBe(200)
    const stream = await streams.subscribe(`${base}/api/stream?events=true`, last)
    const heard = await stream.until(({ type, data }) => type === 'status' && data['execution_id'] === old)
    expect(heard.at(-1)?.data['status']).toBe('RUNNING')
    expect(heard.some(({ data }) => data['event_type'] === 'playbook.reopened')).toBe(true)
  })

  test('begins with now when the client knows nothing, or nonsense', async () => {
    const server = await servers.start()
    await server.register(single('tests/all'))
    await server.execute('tests/all')
    const { base } = await streams.listen(server)
    for (const id of [undefined, 'x', '12', '-1-5', '99999999999999-1', '1-99999999999999999999']) {
      const stream = await streams.subscribe(`${base}/api/stream`, id)
      const fresh = await server.execute('tests/all')
      const heard = await stream.until(({ data }) => data['execution_id'] === fresh)
      expect(heard).toHaveLength(1)
      expect(stream.lastId()).toMatch(/^\d{13}-\d+$/)
      stream.leave()
    }
  })

  test('loses nothing when the connection between the servers breaks', async () => {
    const [here, there] = await pair()
    await here.register(single('tests/all'))
    const { base } = await streams.listen(here)
    const stream = await streams.subscribe(`${base}/api/stream`)
    const known = await there.execute('tests/all')
    await stream.until(({ data }) => data['execution_id'] === known)
    await breakHearing(here)
    const worker = createScriptedWorker(there, 'w1')
    const [command] = await worker.lease()
    await worker.complete(command as LeasedCommand)
    expect((await stream.until(isEnd(known))).at(-1)?.data['status']).toBe('COMPLETED')
  })

  test('ends when the server stops', async () => {
    const server = await servers.start()
    const { base, stop } = await streams.listen(server)
    const stream = await streams.subscribe(`${base}/api/stream`)
    stop()
    expect(await stream.next()).toBeNull()
  })
})

describe('the stream of one execution', () => {
  test('brings what happens on another server without looking for it', async () => {
    const [here, there] = await pair()
    await here.register(chain('tests/one', 3))
    const id = await here.execute('tests/one')
    const { base } = await streams.listen(here)
    const stream = await streams.subscribe(`${base}/api/executions/${id}/stream`)
    await stream.until(({ type }) => type === 'command.issued')
    const worker = createScriptedWorker(there, 'w1')
    const [command] = await worker.lease()
    await worker.complete(command as LeasedCommand)
    await stream.until(({ type }) => type === 'command.issued')
    await worker.drain()
    expect((await stream.until(({ type }) => type === 'end')).at(-1)?.data).toEqual({
      status: 'COMPLETED',
      error: null,
    })
  })

  test('follows an execution that runs elsewhere', async () => {
    const server = await servers.start()
    const id = '320816801799737344'
    const bring = (event_id: string, event_type: string): Promise<number> =>
      importEvents(server.core, [
        fromEnvelope(
          EventEnvelope.parse({ event_id, execution_id: id, event_type }),
          new Date().toISOString(),
        ),
      ])
    await bring('1', 'playbook_started')
    const { base } = await streams.listen(server)
    const stream = await streams.subscribe(`${base}/api/executions/${id}/stream`)
    expect((await stream.next())?.type).toBe('playbook_started')
    await bring('2', 'step.enter')
    expect((await stream.next())?.type).toBe('step.enter')
    await bring('3', 'playbook.failed')
    expect((await stream.until(({ type }) => type === 'end')).map(({ type }) => type)).toEqual([
      'playbook.failed',
      'end',
    ])
  })
})
