import { describe, expect, test } from 'vitest'
import { aNewCommand, anAppend, nextTestId } from '../../test/support/appends.ts'
import { useDatabase } from '../../test/support/database.ts'
import { testSealer as sealer } from '../../test/support/server.ts'
import type { Append } from './append.ts'
import { appendStatement } from './append-statement.ts'
import { createAppender } from './appender.ts'
import { leaseCommand, readCommand } from './commands.ts'
import { readEvents } from './events.ts'
import { readExecution } from './executions.ts'

const database = useDatabase()

const appendOne = (append: Append): Promise<boolean> =>
  createAppender({ database: database(), sealer }).append(append)

const started = async (events = 1): Promise<string> => {
  const id = nextTestId()
  expect(
    await appendOne(
      anAppend(
        id,
        0,
        Array.from({ length: events }, () => ({})),
      ),
    ),
  ).toBe(true)
  return id
}

const positions = async (id: string): Promise<number[]> =>
  (await readEvents(database(), id)).map((event) => event.position)

describe('the version decides who wins', () => {
  test('a new execution is inserted, an existing one updated from its version', async () => {
    const id = await started(2)
    expect(
      await appendOne(anAppend(id, 2, [{}], { execution: { status: 'COMPLETED', completedSteps: 3 } })),
    ).toBe(true)
    expect(await readExecution(database(), id)).toMatchObject({
      version: 3,
      status: 'COMPLETED',
      completed_steps: 3,
      finished_at: '2026-01-02T03:04:05.678Z',
    })
    expect(await positions(id)).toEqual([1, 2, 3])
  })

  test('a loser writes nothing at all', async () => {
    const id = await started(2)
    const command = aNewCommand(id)
    const before = await readExecution(database(), id)
    for (const expected of [0, 1, 3]) {
      expect(
        await appendOne(
          anAppend(id, expected, [{}], { commands: [command], execution: { status: 'FAILED' } }),
        ),
      ).toBe(false)
    }
    expect(await readExecution(database(), id)).toEqual(before)
    expect(await positions(id)).toEqual([1, 2])
    expect(await readCommand(database(), command.eventId)).toBeNull()
  })

  test('the end of an execution is the instant of its first end', async () => {
    const id = await started()
    await appendOne(
      anAppend(id, 1, [{}], { execution: { status: 'FAILED', at: '2026-02-01T00:00:00.000Z' } }),
    )
    await appendOne(
      anAppend(id, 2, [{}], { execution: { status: 'FAILED', at: '2026-03-01T00:00:00.000Z' } }),
    )
    expect(await readExecution(database(), id)).toMatchObject({
      finished_at: '2026-02-01T00:00:00.000Z',
      updated_at: '2026-03-01T00:00:00.000Z',
    })
  })

  test('of two that race for the same version exactly one wins, round after round', async () => {
    const appenders = Array.from({ length: 2 }, () => createAppender({ database: database(), sealer }))
    const id = nextTestId()
    for (let version = 0; version < 100; version += 1) {
      const types = ['left', 'right']
      const won = await Promise.all(
        appenders.map((appender, index) =>
          appender.append(anAppend(id, version, [{ eventType: types[index] ?? '' }])),
        ),
      )
      expect(won.filter(Boolean)).toHaveLength(1)
      expect((await readEvents(database(), id, { after: version })).map((event) => event.eventType)).toEqual([
        types[won.indexOf(true)],
      ])
    }
    expect(await positions(id)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1))
  })
})

describe('group commit', () => {
  test('appends that arrive together share statements', async () => {
    const groups: number[] = []
    const appender = createAppender({ database: database(), sealer, onGroup: (size) => groups.push(size) })
    const ids = Array.from({ length: 1000 }, () => nextTestId())
    const won = await Promise.all(ids.map((id) => appender.append(anAppend(id, 0, [{}, {}]))))
    expect(won.every(Boolean)).toBe(true)
    expect(groups.reduce((sum, size) => sum + size, 0)).toBe(1000)
    expect(groups.length).toBeLessThanOrEqual(8)
    expect(await positions(ids[999] ?? '')).toEqual([1, 2])
  })

  test('lanes share what there is (rule 5)', async () => {
    const groups: number[] = []
    const appender = createAppender({
      database: database(),
      sealer,
      lanes: 2,
      onGroup: (size) => groups.push(size),
    })
    await Promise.all(
      Array.from({ length: 64 }, async () => {
        const id = nextTestId()
        for (let version = 0; version < 5; version += 1) await appender.append(anAppend(id, version, [{}]))
      }),
    )
    expect(groups.reduce((sum, size) => sum + size, 0)).toBe(320)
    expect(Math.max(...groups)).toBe(32)
  })

  test('few appends are not split', async () => {
    const groups: number[] = []
    const appender = createAppender({ database: database(), sealer, onGroup: (size) => groups.push(size) })
    await Promise.all(Array.from({ length: 8 }, () => appender.append(anAppend(nextTestId(), 0, [{}]))))
    expect(groups).toEqual([8])
  })

  test('an append that cannot be written fails alone (rule 2)', async () => {
    const appender = createAppender({ database: database(), sealer })
    const taken = await started()
    const good = Array.from({ length: 20 }, () => nextTestId())
    const [repeat, skip, shape] = [nextTestId(), nextTestId(), nextTestId()]
    const eventId = nextTestId()
    const poison: Append[] = [
      // A repeated id of a sender, a position that exists, a result that is no envelope, an instant that is none.
      anAppend(repeat, 0, [
        { eventId, idFromSender: true },
        { eventId, idFromSender: true },
      ]),
      anAppend(taken, 1, [{ position: 1 }]),
      anAppend(skip, 0, [{ position: 0 }]),
      anAppend(shape, 0, [{ result: { status: 'X', context: [] as never } }]),
      anAppend(nextTestId(), 0, [{ createdAt: 'some day' }]),
    ]
    const results = await Promise.allSettled(
      [...good.map((id) => anAppend(id, 0, [{}])), ...poison].map((append) => appender.append(append)),
    )
    expect(results.map((result) => result.status)).toEqual([
      ...good.map(() => 'fulfilled'),
      ...poison.map(() => 'rejected'),
    ])
    for (const id of good) expect(await positions(id)).toEqual([1])
    for (const id of [repeat, skip, shape]) expect(await readExecution(database(), id)).toBeNull()
    expect(await readExecution(database(), taken)).toMatchObject({ version: 1 })
  })

  test('a loser in a group does not disturb the others', async () => {
    const appender = createAppender({ database: database(), sealer })
    const [ahead, fresh] = [await started(2), nextTestId()]
    expect(
      await Promise.all([
        appender.append(anAppend(ahead, 1, [{}])),
        appender.append(anAppend(fresh, 0, [{}])),
      ]),
    ).toEqual([false, true])
  })

  test('appenders that write the same executions in opposite order all finish (rule 4)', async () => {
    const appenders = Array.from({ length: 3 }, () =>
      createAppender({ database: database(), sealer, lanes: 1 }),
    )
    const ids = await Promise.all(Array.from({ length: 30 }, () => started()))
    for (let version = 1; version <= 20; version += 1) {
      const orders = [ids, ids.toReversed(), ids.toSorted(() => (version % 2) - 0.5)]
      const won = await Promise.all(
        appenders.map((appender, index) =>
          Promise.all((orders[index] ?? []).map((id) => appender.append(anAppend(id, version, [{}])))),
        ),
      )
      expect(won.flat().filter(Boolean)).toHaveLength(ids.length)
    }
  })

  test('idle resolves when everything is written', async () => {
    const appender = createAppender({ database: database(), sealer })
    await appender.idle()
    const id = nextTestId()
    const append = appender.append(anAppend(id, 0, [{}]))
    await appender.idle()
    expect(await positions(id)).toEqual([1])
    expect(await append).toBe(true)
  })
})

describe('commands go with the events', () => {
  test('waiting, already leased and already cancelled ones are inserted', async () => {
    const id = nextTestId()
    const [waiting, leased, cancelled] = [
      aNewCommand(id),
      aNewCommand(id, { status: 'CLAIMED', attempt: 1, leaseToken: '1', workerId: 'w1', leaseSeconds: 60 }),
      aNewCommand(id, { status: 'CANCELLED' }),
    ]
    await appendOne(anAppend(id, 0, [{}], { commands: [waiting, leased, cancelled] }))
    expect(await readCommand(database(), waiting.eventId)).toMatchObject({
      status: 'PENDING',
      lease_until: null,
      worker_id: null,
      attempt: 0,
    })
    const row = await readCommand(database(), leased.eventId)
    expect(row).toMatchObject({ status: 'CLAIMED', worker_id: 'w1', lease_token: '1', attempt: 1 })
    expect(Date.parse(row?.lease_until ?? '') - Date.now()).toBeGreaterThan(50_000)
    expect(await readCommand(database(), cancelled.eventId)).toMatchObject({
      status: 'CANCELLED',
      lease_until: null,
    })
  })

  test('changes end, hand back and claim', async () => {
    const id = nextTestId()
    const [a, b, c] = [aNewCommand(id), aNewCommand(id), aNewCommand(id)]
    await appendOne(anAppend(id, 0, [{}], { commands: [a, b, c] }))
    for (const { eventId } of [a, b])
      await leaseCommand(database(), { eventId, workerId: 'w1', leaseSeconds: 60 })
    const change = { executionId: id, workerId: null, leaseSeconds: 60 }
    await appendOne(
      anAppend(id, 1, [{}], {
        changes: [
          { ...change, eventId: a.eventId, status: 'COMPLETED' },
          { ...change, eventId: b.eventId, status: 'PENDING' },
          { ...change, eventId: c.eventId, status: 'CLAIMED', workerId: 'w2' },
        ],
      }),
    )
    expect(await readCommand(database(), a.eventId)).toMatchObject({
      status: 'COMPLETED',
      worker_id: 'w1',
      lease_until: null,
    })
    expect(await readCommand(database(), b.eventId)).toMatchObject({
      status: 'PENDING',
      worker_id: null,
      lease_until: null,
      lease_token: '1',
    })
    expect(await readCommand(database(), c.eventId)).toMatchObject({ status: 'CLAIMED', worker_id: 'w2' })
  })
})

describe('constraints of the log, tried with plain SQL', () => {
  const insert = (columns: string, values: string): Promise<unknown> =>
    database().query(
      `insert into noetl.event (execution_id, position, event_id, created_at, event_type, meta${columns}) values (1, 1, ${nextTestId()}, now(), 'x', '{}'${values})`,
    )

  test.each([
    [', result_context', ", '{}'"],
    [', result_reference', ", '{}'"],
    [', result_status, result_context', ", 'X', '[]'"],
    [', result_status, result_context', ", 'X', 'null'"],
    [', result_status, result_context', ", 'X', '\"text\"'"],
    [', result_status, result_reference', ", 'X', '1'"],
  ])('a result of the wrong shape is refused: %s %s', async (columns, values) => {
    await expect(insert(columns, values)).rejects.toMatchObject({ constraint: 'chk_event_result_shape' })
  })

  test('the view shows the envelope whole, nulls inside included', async () => {
    const id = nextTestId()
    await appendOne(
      anAppend(id, 0, [
        { result: { status: 'DONE', context: { b: null, a: [null] } } },
        { result: { status: 'DONE', reference: { ref: 'x' } } },
        {},
      ]),
    )
    const { rows } = await database().query<{ result: unknown }>(
      'select result from noetl.event_log where execution_id = $1 order by position',
      [id],
    )
    expect(rows.map((row) => row.result)).toEqual([
      { status: 'DONE', context: { b: null, a: [null] } },
      { status: 'DONE', reference: { ref: 'x' } },
      null,
    ])
  })
})

test('rows of executions are found along their key, also by a plan made while the table was empty', async () => {
  const client = await database().connect()
  try {
    const id = nextTestId()
    const appends = [
      anAppend(nextTestId(), 0, [{}]),
      anAppend(id, 1, [{}], {
        commands: [aNewCommand(id)],
        changes: [{ eventId: id, executionId: id, status: 'COMPLETED', workerId: null, leaseSeconds: 60 }],
      }),
    ]
    const { text, values } = appendStatement(appends, sealer)
    await client.query(`prepare planned as ${text}`)
    await client.query('set plan_cache_mode = force_generic_plan')
    const nothing = values.map(() => 'null')
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `explain execute planned(${nothing.join(', ')})`,
    )
    const plan = rows.map((line) => line['QUERY PLAN']).join('\n')
    expect(plan).not.toMatch(/Seq Scan on (?:execution|command|event)/)
    expect(plan).toContain('Index Scan using execution_pkey')
  } finally {
    client.release(true)
  }
})
