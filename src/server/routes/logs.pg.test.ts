import { describe, expect, test } from 'vitest'
import { loopOver, single } from '../../../test/support/playbooks.ts'
import { createScriptedWorker } from '../../../test/support/scripted-worker.ts'
import type { TestServer } from '../../../test/support/server.ts'
import { textOf } from '../../../test/support/server.ts'
import { useServers } from '../../../test/support/servers.ts'
import type { LeasedCommand } from '../../contract/command.ts'
import { createExpiryKeeper } from '../expiry-keeper.ts'

const servers = useServers()
const AT = '2026-11-15T12:00:00.000Z'

const start = async (playbook = single('tests/one'), path = 'tests/one') => {
  const server = await servers.start()
  await server.register(playbook)
  const id = await server.execute(path)
  const worker = createScriptedWorker(server, 'w')
  return { server, id, worker }
}

const print = (server: TestServer, command: LeasedCommand, parts: readonly object[], worker = 'w') =>
  server.post('/api/commands/output', {
    worker_id: worker,
    outputs: [
      {
        execution_id: command.executionId,
        event_id: command.eventId,
        lease_token: command.leaseToken,
        parts: parts.map((part, index) => ({ part: index + 1, stream: 'stdout', at: AT, text: '', ...part })),
      },
    ],
  })

const entries = async (server: TestServer, id: string, query = '') =>
  (await server.get(`/api/executions/${id}/logs${query}`)).body['entries'] as readonly {
    text: string
    stream: string
    attempt: number
    step: string
  }[]

describe('bringing output', () => {
  test('what the holder of the lease prints is kept, once', async () => {
    const { server, id, worker } = await start()
    const [command] = await worker.lease()
    if (!command) throw new Error('no command')
    const parts = [{ text: 'one\n' }, { text: 'two\n', stream: 'stderr' }]
    expect((await print(server, command, parts)).body).toEqual({ status: 'ok', stored: 2 })
    expect((await print(server, command, parts)).body).toEqual({ status: 'ok', stored: 0 })
    expect(await entries(server, id)).toMatchObject([
      { text: 'one\n', stream: 'stdout', attempt: 1, step: 'start' },
      { text: 'two\n', stream: 'stderr', attempt: 1, step: 'start' },
    ])
  })

  test('whoever does not hold the lease leaves nothing', async () => {
    const { server, id, worker } = await start()
    const [command] = await worker.lease()
    if (!command) throw new Error('no command')
    await print(server, command, [{ text: 'other worker' }], 'somebody')
    await print(server, { ...command, leaseToken: '77' }, [{ text: 'old lease' }])
    await worker.complete(command)
    await print(server, command, [{ text: 'too late' }])
    expect(await entries(server, id)).toEqual([])
  })

  test('what has the shape of a secret is not stored, and unstorable characters are replaced', async () => {
    const { server, id, worker } = await start()
    const [command] = await worker.lease()
    if (!command) throw new Error('no command')
    await print(server, command, [{ text: 'Authorization: Bearer abcdefgh12345678 sent\u0000' }])
    expect((await entries(server, id)).map(({ text }) => text)).toEqual([
      'Authorization: [REDACTED] sent\uFFFD',
    ])
    const stored = await server.databases[0]?.query<{ text: string }>('select text from noetl.tool_output')
    expect(JSON.stringify(stored?.rows)).not.toContain('abcdefgh')
  })

  test.each([
    [{ outputs: [] }, 'worker_id'],
    [{ worker_id: 'w', outputs: 'x' }, 'outputs'],
    [
      { worker_id: 'w', outputs: [{ execution_id: 'x', event_id: '1', lease_token: '1', parts: [] }] },
      'execution_id',
    ],
    [
      {
        worker_id: 'w',
        outputs: [
          {
            execution_id: '1',
            event_id: '1',
            lease_token: '1',
            parts: [{ part: 0, stream: 'stdout', at: AT, text: '' }],
          },
        ],
      },
      'part',
    ],
  ])('a request that makes no sense is refused: %j', async (body, named) => {
    const server = await servers.start()
    const { status, text } = await server.post('/api/commands/output', body)
    expect([status, text.includes(named)]).toEqual([422, true])
  })
})

describe('reading output', () => {
  test('filters, pages and attempts', async () => {
    const { server, id, worker } = await start(loopOver('tests/loop', 2), 'tests/loop')
    const [first, second] = await worker.lease(2)
    if (!first || !second) throw new Error('no commands')
    await print(server, first, [{ text: 'a' }, { text: 'b', stream: 'stderr' }])
    await print(server, second, [{ text: 'c' }])
    await worker.release(first)
    const [again] = await worker.lease()
    if (!again) throw new Error('no command')
    await print(server, again, [{ text: 'd' }])
    const texts = async (query: string) => (await entries(server, id, query)).map(({ text }) => text)
    expect(await texts('')).toEqual(['a', 'b', 'c', 'd'])
    expect(await texts('?stream=stderr')).toEqual(['b'])
    expect(await texts('?attempt=2')).toEqual(['d'])
    expect(await texts(`?command_id=${encodeURIComponent(second.commandId)}`)).toEqual(['c'])
    expect(await texts('?step=nothing')).toEqual([])
    const page = await server.get(`/api/executions/${id}/logs?limit=3`)
    const cursor = textOf(page.body['next_cursor'])
    expect(await texts(`?limit=3&after=${cursor}`)).toEqual(['d'])
    expect((await server.get(`/api/executions/${id}/logs?after=nonsense`)).status).toBe(422)
    expect((await server.get('/api/executions/1/logs')).status).toBe(404)
  })

  test('old output is deleted', async () => {
    const { server, id, worker } = await start()
    const [command] = await worker.lease()
    if (!command) throw new Error('no command')
    await print(server, command, [
      { text: 'old', at: '2020-01-01T00:00:00Z' },
      { text: 'new', at: new Date().toISOString() },
    ])
    expect(await createExpiryKeeper(server.core).runOnce()).toBe(1)
    expect((await entries(server, id)).map(({ text }) => text)).toEqual(['new'])
  })
})
