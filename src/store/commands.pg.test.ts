import { beforeEach, describe, expect, test } from 'vitest'
import { aNewCommand, anAppend, nextTestId } from '../../test/support/appends.ts'
import { useDatabase } from '../../test/support/database.ts'
import { testSealer as sealer } from '../../test/support/server.ts'
import { createAppender } from './appender.ts'
import {
  expireLeasesOf,
  extendLeases,
  leaseCommand,
  leaseCommands,
  readCommand,
  takeExpired,
} from './commands.ts'
import { leaseOrdinary, leaseSuitable } from './lease-statement.ts'

const database = useDatabase()

beforeEach(async () => {
  await database().query('truncate noetl.command')
})

/** Puts commands into the queue; answers their event ids in order. */
const enqueue = async (count: number, pool = 'shared'): Promise<readonly string[]> => {
  const id = nextTestId()
  const commands = Array.from({ length: count }, (_, index) => aNewCommand(id, { pool, position: index + 1 }))
  await createAppender({ database: database(), sealer }).append(anAppend(id, 0, [{}], { commands }))
  return commands.map((command) => command.eventId)
}

const lease = (max: number, workerId = 'w1', pool = 'shared') =>
  leaseCommands(database(), { pool, workerId, max, leaseSeconds: 60 })

const expire = (...eventIds: string[]): Promise<unknown> =>
  database().query(
    `update noetl.command set lease_until = now() - interval '1 second' where event_id = any ($1)`,
    [eventIds],
  )

const eventIds = (rows: readonly { event_id: string }[]): string[] => rows.map((row) => row.event_id).sort()

describe('leasing', () => {
  test('gives the oldest commands of the pool first', async () => {
    const [a, b, c] = await enqueue(3)
    await enqueue(2, 'other')
    expect(eventIds(await lease(2))).toEqual([a, b])
    expect(eventIds(await lease(5))).toEqual([c])
    expect(await lease(5)).toEqual([])
  })

  test('records holder, deadline, token and attempt', async () => {
    const [id = ''] = await enqueue(1)
    await lease(1)
    const row = await readCommand(database(), id)
    expect(row).toMatchObject({ status: 'CLAIMED', worker_id: 'w1', lease_token: '1', attempt: 1 })
    const left = Date.parse(row?.lease_until ?? '') - Date.now()
    expect(left).toBeGreaterThan(50_000)
    expect(left).toBeLessThan(70_000)
  })

  test('never gives a command twice, however many ask at once (rule 1)', async () => {
    const all = await enqueue(200)
    const taken = await Promise.all(Array.from({ length: 40 }, (_, index) => lease(7, `w${index}`)))
    const ids = taken.flat().map((row) => row.event_id)
    expect(new Set(ids).size).toBe(ids.length)
    expect([...ids, ...eventIds(await lease(200))].sort()).toEqual([...all].sort())
  })

  test('does not wait for a command that somebody else is looking at', async () => {
    const [first = '', second] = await enqueue(2)
    const client = await database().connect()
    await client.query('begin')
    await client.query('select from noetl.command where event_id = $1 for update', [first])
    expect(eventIds(await lease(2))).toEqual([second])
    await client.query('rollback')
    client.release()
  })

  describe('commands that ask for something', () => {
    const mixed = async (...demands: readonly (readonly string[])[]): Promise<readonly string[]> => {
      const id = nextTestId()
      const commands = demands.map((requires, index) => aNewCommand(id, { requires, position: index + 1 }))
      await createAppender({ database: database(), sealer }).append(anAppend(id, 0, [{}], { commands }))
      return commands.map((command) => command.eventId)
    }
    const leaseWith = async (max: number, ...capabilities: readonly string[]) =>
      eventIds(
        await leaseCommands(database(), {
          pool: 'shared',
          workerId: 'w1',
          max,
          leaseSeconds: 60,
          capabilities,
        }),
      )

    test('go to workers that have all of it, and are nobody else’s', async () => {
      const [both, gpu, plain] = await mixed(['gpu', 'tpu'], ['gpu'], [])
      expect(await leaseWith(9, 'browser')).toEqual([plain])
      expect(await leaseWith(9, 'gpu', 'browser')).toEqual([gpu])
      expect(await leaseWith(9, 'gpu')).toEqual([])
      expect(await leaseWith(9, 'tpu', 'gpu')).toEqual([both])
    })

    test('take their turn among the others, whatever they ask for', async () => {
      const all = await mixed([], ['b'], ['a'], [], ['b'], [], ['a', 'b'])
      const one: string[] = []
      for (const _ of all) one.push(...(await leaseWith(1, 'a', 'b', 'c')))
      expect(one).toEqual(all)
      const again = await mixed(['a'], [], ['b'], [])
      expect(await leaseWith(2, 'a', 'b')).toEqual(again.slice(0, 2))
      expect(await leaseWith(9, 'a', 'b')).toEqual(again.slice(2))
    })

    test('cost others nothing, however many wait (rule 1 of the statement)', async () => {
      await database().query(
        `insert into noetl.command (event_id, execution_id, position, command_id, step, tool_kind, pool, status, requires)
         select n, n, 1, n::text, 'start', 'noop', 'shared', 'PENDING', '{gpu}' from generate_series(1, 5000) n`,
      )
      await mixed([], ['browser'])
      const client = await database().connect()
      await client.query(`prepare ordinary as ${leaseOrdinary('c.event_id')}`)
      await client.query(`prepare suitable as ${leaseSuitable('c.event_id')}`)
      const pagesRead = async (mode: string, lease: string): Promise<number> => {
        await client.query(`begin; set local plan_cache_mode = ${mode}`)
        const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number } }] }>(
          `explain (analyze, buffers, format json) execute ${lease}`,
        )
        await client.query('rollback')
        return rows[0]?.['QUERY PLAN'][0].Plan['Shared Hit Blocks'] ?? Number.NaN
      }
      const leases = [
        `ordinary('shared', 'w', 60, 1)`,
        `suitable('shared', 'w', 60, 1, '{browser}')`,
        `suitable('shared', 'w', 60, 1, '{gpu}')`,
      ]
      for (const isAnalysed of [false, true]) {
        if (isAnalysed) await client.query('analyze noetl.command')
        for (const mode of ['force_generic_plan', 'force_custom_plan'])
          for (const lease of leases)
            // All of them lie on a hundred pages and more.
            expect(await pagesRead(mode, lease)).toBeLessThan(60)
      }
      await client.query('deallocate ordinary; deallocate suitable')
      client.release()
    })

    test('are not waited for while somebody else looks at them, and are leased once', async () => {
      const [first = '', second, third] = await mixed(['a'], ['a'], [])
      const client = await database().connect()
      await client.query('begin')
      await client.query('select from noetl.command where event_id = $1 for update', [first])
      expect(await leaseWith(2, 'a')).toEqual([second, third])
      await client.query('rollback')
      client.release()
      expect(await leaseWith(2, 'a')).toEqual([first])
      const many = await mixed(
        ...Array.from({ length: 90 }, (_, index) => [[], ['a'], ['b']][index % 3] ?? []),
      )
      const taken = await Promise.all(Array.from({ length: 30 }, () => leaseWith(2, 'a', 'b')))
      const rest = await leaseWith(90, 'a', 'b')
      expect([...taken.flat(), ...rest].sort()).toEqual([...many].sort())
    })
  })

  test('by id takes a waiting command and nothing else', async () => {
    const [id = ''] = await enqueue(1)
    const take = (workerId: string) => leaseCommand(database(), { eventId: id, workerId, leaseSeconds: 60 })
    const answers = await Promise.all([take('w1'), take('w2'), take('w3')])
    expect(answers.filter((row) => row !== null)).toHaveLength(1)
    expect(await take('w4')).toBeNull()
  })
})

describe('heartbeats', () => {
  test('extend what is held and tell the rest, in the order asked', async () => {
    const [held = '', cancelled = '', other = '', waiting = ''] = await enqueue(4)
    await lease(2)
    await leaseCommand(database(), { eventId: other, workerId: 'w2', leaseSeconds: 60 })
    await database().query(
      `update noetl.command set status = 'CANCELLED', lease_until = null where event_id = $1`,
      [cancelled],
    )
    await expire(held)
    const leases = [other, cancelled, held, waiting, '1'].map((eventId) => ({ eventId, leaseToken: '1' }))
    expect(await extendLeases(database(), { workerId: 'w1', leases, leaseSeconds: 60 })).toEqual([
      null,
      'CANCELLED',
      'CLAIMED',
      null,
      null,
    ])
    expect(await takeExpired(database(), { reaperId: 'r', max: 10, leaseSeconds: 30 })).toEqual([])
  })

  test.each(['0', '2', '', 'x', '1.0', '9'.repeat(30)])(
    'with token %j extend nothing',
    async (leaseToken) => {
      const [eventId = ''] = await enqueue(1)
      await lease(1)
      expect(
        await extendLeases(database(), {
          workerId: 'w1',
          leases: [{ eventId, leaseToken }],
          leaseSeconds: 60,
        }),
      ).toEqual([null])
    },
  )

  test('of nothing answer nothing', async () => {
    expect(await extendLeases(database(), { workerId: 'w1', leases: [], leaseSeconds: 60 })).toEqual([])
  })
})

describe('leases that ran out', () => {
  test('are taken over with a larger token, which fences the old holder off (rule 2)', async () => {
    const [id = ''] = await enqueue(1)
    await lease(1)
    await expire(id)
    const [taken] = await takeExpired(database(), { reaperId: 'reaper', max: 10, leaseSeconds: 30 })
    expect(taken).toMatchObject({ event_id: id, lease_token: '2', attempt: 1 })
    expect(
      await extendLeases(database(), {
        workerId: 'w1',
        leases: [{ eventId: id, leaseToken: '1' }],
        leaseSeconds: 60,
      }),
    ).toEqual([null])
    expect(await takeExpired(database(), { reaperId: 'reaper', max: 10, leaseSeconds: 30 })).toEqual([])
  })

  test('of a reaper that died run out like any other', async () => {
    const [id = ''] = await enqueue(1)
    await lease(1)
    await expire(id)
    await takeExpired(database(), { reaperId: 'first', max: 10, leaseSeconds: 30 })
    await expire(id)
    expect(await takeExpired(database(), { reaperId: 'second', max: 10, leaseSeconds: 30 })).toMatchObject([
      { lease_token: '3' },
    ])
  })

  test('are taken over once, however many reapers look at once', async () => {
    const ids = await enqueue(50)
    await lease(50)
    await expire(...ids)
    const taken = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        takeExpired(database(), { reaperId: `r${index}`, max: 20, leaseSeconds: 30 }),
      ),
    )
    const all = taken.flat().map((row) => row.event_id)
    expect(new Set(all).size).toBe(all.length)
  })

  test('of workers known to be gone end at once', async () => {
    const [mine = '', theirs = ''] = await enqueue(2)
    await leaseCommand(database(), { eventId: mine, workerId: 'local-1', leaseSeconds: 60 })
    await leaseCommand(database(), { eventId: theirs, workerId: 'remote-1', leaseSeconds: 60 })
    expect(await expireLeasesOf(database(), 'local-')).toBe(1)
    expect(eventIds(await takeExpired(database(), { reaperId: 'r', max: 10, leaseSeconds: 30 }))).toEqual([
      mine,
    ])
  })
})
