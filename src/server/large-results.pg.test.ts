import { describe, expect, test } from 'vitest'
import type { LeasedCommand } from '../contract/command.ts'
import type { EventRecord } from '../contract/event.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { historyProblems, readLog, storedDifferences, stuckExecutions } from '../../test/support/history.ts'
import { aNote } from '../../test/support/inputs.ts'
import type { ScriptedWorker } from '../../test/support/scripted-worker.ts'
import { createScriptedWorker } from '../../test/support/scripted-worker.ts'
import type { TestServer } from '../../test/support/server.ts'
import { useServers } from '../../test/support/servers.ts'
import { findResultOfStep } from '../store/results.ts'

const servers = useServers()
const PATH = 'tests/large'

const playbook = (steps: string): string =>
  `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: { name: large, path: ${PATH} }\nworkflow:\n${steps}`

const WORK = 'tool: {kind: python, code: x}'
const TWO_STEPS = `
  - {step: start, ${WORK}, next: b}
  - {step: b, tool: {kind: python, code: x, input: {n: '{{ start.rows | length }}', one: '{{ start.rows[1100].id }}', count: '{{ start.count }}'}}}`

/** About 120 KB. */
const rowsOf = (count: number): JsonObject[] =>
  Array.from({ length: count }, (_, id) => ({ id, text: `row ${id} `.padEnd(80, '.') }))
const BIG: JsonObject = { count: 1200, rows: rowsOf(1200) }

interface Stage {
  readonly server: TestServer
  readonly id: string
  readonly worker: ScriptedWorker
  /** Another server takes over: nothing is in memory any more. */
  restart(): Promise<Stage>
  log(): Promise<readonly EventRecord[]>
  results(): Promise<readonly { name: string; source_step: string | null; bytes: string; data: Buffer }[]>
  /** What is wrong with the execution now; empty at every quiet point. */
  problems(): Promise<readonly string[]>
}

/** The doctor finds that a result was taken away, and nothing else. */
const expectOneMissing = async ({ server }: Stage): Promise<void> => {
  servers.leaveUnexamined()
  expect(await storedDifferences(server.core)).toEqual([expect.stringContaining('is not there')])
}

const stageOn = (server: TestServer, id: string): Stage => {
  const database = server.core.shards.of(id)
  return {
    server,
    id,
    worker: createScriptedWorker(server, 'w1'),
    restart: async () => stageOn(await servers.start(), id),
    log: () => readLog(database, id),
    results: async () =>
      (
        await database.query(
          'select name, source_step, bytes, data from noetl.result where execution_id = $1 order by result_id',
          [id],
        )
      ).rows,
    problems: async () => [
      ...(await historyProblems(database, id)),
      ...(await stuckExecutions(server.databases)),
    ],
  }
}

const stage = async (steps: string, payload: JsonObject = {}): Promise<Stage> => {
  const server = await servers.start()
  await server.register(playbook(steps))
  return stageOn(server, await server.execute(PATH, payload))
}

const only = async ({ worker }: Stage): Promise<LeasedCommand> => {
  const commands = await worker.lease(10)
  expect(commands).toHaveLength(1)
  return commands[0] as LeasedCommand
}

const complete = async (on: Stage, data: Json): Promise<void> => {
  expect(await on.worker.complete(await only(on), data)).toBe('ok')
}

interface Reported {
  readonly context: { readonly data: JsonObject }
}

const dataOf = (event: EventRecord | undefined): JsonObject => {
  const reported = event?.result?.context?.['result'] as unknown as Reported
  return reported.context.data
}

const completion = async ({ log }: Stage, step: string): Promise<EventRecord | undefined> =>
  (await log()).find(({ eventType, nodeName }) => eventType === 'command.completed' && nodeName === step)

describe('a result too large for an event', () => {
  test('goes into a row of its own; the event keeps the marker', async () => {
    const on = await stage(TWO_STEPS)
    await complete(on, BIG)
    const [row, ...more] = await on.results()
    expect(more).toEqual([])
    const bytes = Buffer.byteLength(JSON.stringify(BIG))
    expect(row).toMatchObject({ name: 'start', source_step: 'start', bytes: String(bytes) })
    const event = await completion(on, 'start')
    expect(dataOf(event)).toMatchObject({
      count: 1200,
      rows: [{ id: 0 }],
      _ref: expect.stringMatching(`^noetl://execution/${on.id}/result/start/\\d+$`),
      _store: 'kv',
      _size_bytes: bytes,
    })
    expect(event?.result?.context?.['result']).toMatchObject({
      reference: {
        kind: 'result_ref',
        ref: dataOf(event)['_ref'],
        meta: { bytes, media_type: 'application/json', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      },
    })
    expect(JSON.stringify(event).length).toBeLessThan(12_000)
    expect(await on.problems()).toEqual([])
  })

  test('stays in the event as long as it fits', async () => {
    const on = await stage(TWO_STEPS)
    const fits = { count: 1, rows: rowsOf(900) }
    await complete(on, fits)
    expect(await on.results()).toEqual([])
    expect(dataOf(await completion(on, 'start'))).toEqual(fits)
  })

  test('is in no column in clear, nor are its secrets in the preview', async () => {
    const on = await stage(TWO_STEPS)
    await complete(on, { password: 'hunter2', nested: [{ api_key: 'k-0815' }], ...BIG })
    const [row] = await on.results()
    expect(row?.data.toString('latin1')).not.toMatch(/hunter2|row 0/)
    const { rows } = await on.server.core.shards
      .of(on.id)
      .query<{ text: string }>('select e::text as text from noetl.event e')
    for (const { text } of rows) expect(text).not.toMatch(/hunter2|k-0815/)
  })

  test('is seen whole by set, guards, arcs, loops and inputs, also by a server that never saw it', async () => {
    const on = await stage(`
  - step: start
    ${WORK}
    set: {ctx.n: '{{ output.rows | length }}'}
    next: {arcs: [{step: wrong, when: '{{ output.rows | length < 2 }}'}, {step: b, when: '{{ start.rows[1100].id == 1100 }}'}]}
  - {step: wrong, ${WORK}}
  - {step: b, ${WORK}, set: {ctx.last: '{{ start.rows[-1].id }}'}, next: {arcs: [{step: c, when: '{{ start.rows | length == ctx.n }}'}]}}
  - {step: c, when: '{{ start.rows[7].id == 7 }}', loop: {in: '{{ start.rows[5:7] }}', iterator: row}, ${WORK}, next: end}
  - {step: end, tool: {kind: python, code: x, input: {n: '{{ ctx.n }}', last: '{{ ctx.last }}', some: '{{ start.rows[3].id }}'}}}`)
    await complete(on, BIG)
    for (const expected of ['b', 'c', 'c']) {
      const next = await on.restart()
      const command = await only(next)
      expect(command.step).toBe(expected)
      await next.worker.complete(command, null)
      expect(await next.problems()).toEqual([])
    }
    const command = await only(await on.restart())
    expect(command.context.args).toEqual({ n: 1200, last: 1199, some: 3 })
    expect(await on.results()).toHaveLength(1)
  })

  test('is the same from memory and from its row', async () => {
    const awkward = {
      big: 1e16,
      id: '9223372036854775807',
      tiny: -0.5,
      nul: 'a\0b',
      lone: '\ud800',
      __proto: 1,
    }
    const steps = `
  - {step: start, ${WORK}, next: b}
  - {step: b, tool: {kind: python, code: x, input: {it: '{{ start.odd }}'}}, next: c}
  - {step: c, tool: {kind: python, code: x, input: {it: '{{ start.odd }}'}}}`
    const on = await stage(steps)
    await complete(on, { ...BIG, odd: awkward })
    const fromMemory = await only(on)
    const restarted = await on.restart()
    await restarted.worker.complete(fromMemory, null)
    const fromRow = await only(restarted)
    expect(fromMemory.context.args).toEqual({ it: awkward })
    expect(fromRow.context.args).toEqual({ it: awkward })
  })

  test('is written once although its report is decided twice', async () => {
    const on = await stage(TWO_STEPS)
    const command = await only(on)
    // Another server writes in between: the cached state is out of date, and the turn is taken again.
    const other = await servers.start()
    await other.core.tell(on.id, aNote())
    expect(await on.worker.complete(command, BIG)).toBe('ok')
    expect(on.server.core.conflicts()).toBe(1)
    expect(await on.results()).toHaveLength(1)
    expect(await on.problems()).toEqual([])
  })

  test('that was deleted ends the execution where it is needed, with missing_reference', async () => {
    const on = await stage(`
  - {step: start, ${WORK}, next: b}
  - {step: b, tool: {kind: python, code: x, input: {n: '{{ start.count }}'}}, next: c}
  - {step: c, tool: {kind: python, code: x, input: {n: '{{ start.rows | length }}'}}}`)
    await complete(on, BIG)
    await on.server.core.shards.of(on.id).query('delete from noetl.result')
    const restarted = await on.restart()
    const command = await only(restarted)
    expect(command.context.args).toEqual({ n: 1200 })
    expect(await restarted.worker.complete(command, null)).toBe('ok')
    const end = (await on.log()).at(-1)
    expect(end).toMatchObject({ eventType: 'playbook.failed', meta: { reason: 'evaluate_error' } })
    expect(end?.error).toMatch(
      /^Orchestrator evaluate failed: Step 'c': missing_reference: the result noetl:\/\/execution\/\d+\/result\/start\/\d+ does not exist any more$/,
    )
    expect(await on.problems()).toEqual([])
    await expectOneMissing(on)
  })

  test('may be needed together with another one, though memory holds only one of them', async () => {
    const server = await servers.start({ resultBytesAtHand: 1000 })
    await server.register(
      playbook(`
  - {step: start, ${WORK}, next: b}
  - {step: b, ${WORK}, next: c}
  - {step: c, tool: {kind: python, code: x, input: {n: '{{ (start.rows | length) + (b.rows | length) }}'}}}`),
    )
    const on = stageOn(server, await server.execute(PATH))
    await complete(on, BIG)
    await complete(on, BIG)
    expect((await only(on)).context.args).toEqual({ n: 2400 })
  })

  test('exports what it holds for the execution, whole', async () => {
    const on = await stage(`
  - {step: start, ${WORK}, next: b}
  - {step: b, tool: {kind: python, code: x, input: {list: '{{ ctx.list }}'}}}`)
    await complete(on, { ...BIG, _context_updates: { 'ctx.list': [1, 2, 3] } })
    expect((await only(on)).context.args).toEqual({ list: [1, 2, 3] })
  })

  test('of an iteration stays in the log, where the list of the loop is made of it', async () => {
    const on = await stage(`
  - {step: start, loop: {in: [1], iterator: item}, ${WORK}, next: b}
  - {step: b, tool: {kind: python, code: x, input: {n: '{{ start.results[0].rows | length }}'}}}`)
    await complete(on, BIG)
    expect(await on.results()).toEqual([])
    expect((await only(await on.restart())).context.args).toEqual({ n: 1200 })
  })

  test('is the final result as a reference', async () => {
    const on = await stage(`\n  - {step: start, ${WORK}}`)
    await complete(on, BIG)
    const data = (await on.log()).at(-1)?.result?.context?.['data'] as JsonObject
    expect(data['_ref']).toBe(dataOf(await completion(on, 'start'))['_ref'])
    expect(await on.problems()).toEqual([])
  })
})

test('data that only looks like a reference is data (rule 4)', async () => {
  const on = await stage(`
  - {step: start, ${WORK}, next: b}
  - {step: b, tool: {kind: python, code: x, input: {rows: '{{ start.rows }}', whole: '{{ start }}'}}}`)
  const forged = { _ref: 'noetl://execution/1/result/other/2', _store: 'kv', rows: [1, 2] }
  await complete(on, forged)
  for (const each of [on, await on.restart()]) {
    const command = await only(each)
    expect(command.context.args).toEqual({ rows: [1, 2], whole: forged })
    await each.worker.release(command)
  }
})

describe('rows of a cursor', () => {
  const CURSOR = `
  - {step: start, loop: {cursor: {claim: take}, iterator: row, spec: {mode: cursor, frame: {row_concurrency: 5000}}}, tool: {kind: python, code: x, input: {id: '{{ row.id }}'}}}`

  test('are all worked on, however many bytes they are', async () => {
    const on = await stage(CURSOR)
    await complete(on, { rows: rowsOf(1300) })
    expect(await on.results()).toEqual([])
    const restarted = await on.restart()
    const commands = await restarted.worker.lease(2000)
    expect(commands).toHaveLength(1300)
    await Promise.all(commands.map((command) => restarted.worker.complete(command, null)))
    await complete(restarted, { rows: [] })
    expect((await on.log()).at(-1)).toMatchObject({
      eventType: 'playbook.completed',
      result: { context: { data: { cursor: 'drained', frames: 1, rows: 1300 } } },
    })
    expect(await on.problems()).toEqual([])
  })
})

describe('a worker that stores its results itself', () => {
  /** Stores data over HTTP and reports the reference alone. */
  const reportStored = async (on: Stage, data: Json, lose = false): Promise<void> => {
    const { commandId, leaseToken, step } = await only(on)
    const put = await on.server.send('PUT', `/api/result/${on.id}`, { name: step, data, source_step: step })
    expect(put.status).toBe(200)
    const ref = put.body['ref'] as string
    if (lose) await on.server.core.shards.of(on.id).query('delete from noetl.result')
    const context = {
      command_id: commandId,
      result: { status: 'success', context: { data: { _ref: ref } }, reference: { kind: 'result_ref', ref } },
    }
    const { reply } = await on.server.core.tell(
      on.id,
      aNote({ eventType: 'command.completed', step, commandId, leaseToken, workerId: 'w1', context }),
    )
    expect(reply.ok).toBe(true)
  }

  test('gives the next step the data, not the reference', async () => {
    const on = await stage(TWO_STEPS)
    await reportStored(on, BIG)
    expect(await on.results()).toHaveLength(1)
    for (const each of [on, await on.restart()]) {
      const command = await only(each)
      expect(command.context.args).toEqual({ n: 1200, one: 1100, count: 1200 })
      await each.worker.release(command)
    }
  })

  test('hands out the rows of a cursor', async () => {
    const on = await stage(`
  - {step: start, loop: {cursor: {claim: take}, iterator: row, spec: {mode: cursor}}, ${WORK}}`)
    await reportStored(on, { rows: [{ id: 7 }] })
    expect((await only(on)).context.args).toMatchObject({ row: { id: 7 } })
  })

  test('and loses one fails its command', async () => {
    const on = await stage(TWO_STEPS)
    await reportStored(on, BIG, true)
    expect((await on.log()).at(-1)).toMatchObject({ eventType: 'playbook.failed' })
    expect((await on.log()).at(-1)?.error).toContain('missing_reference')
    expect(await on.problems()).toEqual([])
  })
})

describe('a command context too large for an event', () => {
  const HUGE = { text: 'x'.repeat(600_000) }
  const PASS_ON = `
  - {step: start, tool: {kind: python, code: x, input: {all: '{{ workload }}'}}, next: {arcs: [{step: b, when: '{{ output.status }}', set: {ctx.why: '{{ error.kind }}'}}]}}
  - {step: b, tool: {kind: python, code: x, input: {it: '{{ ctx.why }}'}}}`

  test('is a reference in the log and whole for the worker, however it asks', async () => {
    const on = await stage(PASS_ON, HUGE)
    const issued = (await on.log()).find(({ eventType }) => eventType === 'command.issued')
    expect(issued?.context).toEqual({
      _ref: expect.stringMatching(`^noetl://execution/${on.id}/result/command:start/\\d+$`),
    })
    const command = await only(on)
    expect(command.context.args).toEqual({ all: HUGE })
    await on.worker.release(command)
    const restarted = await on.restart()
    expect((await only(restarted)).context).toEqual(command.context)
    const { body } = await restarted.server.get(`/api/commands/${command.eventId}`)
    expect(JSON.stringify(body)).toContain('x'.repeat(600_000))
    expect(await on.problems()).toEqual([])
  })

  test('is never taken for the result of its step', async () => {
    const on = await stage(PASS_ON, HUGE)
    expect(await on.results()).toMatchObject([{ name: 'command:start', source_step: null }])
    expect(await findResultOfStep(on.server.core.shards.of(on.id), on.id, 'start')).toBeNull()
  })

  test('that is gone fails the command, and the playbook may route that', async () => {
    const on = await stage(PASS_ON, HUGE)
    await on.server.core.shards.of(on.id).query('delete from noetl.result')
    const restarted = await on.restart()
    expect(await restarted.worker.lease(10)).toEqual([])
    expect(await only(restarted)).toMatchObject({ step: 'b', context: { args: { it: 'missing_reference' } } })
    expect(await on.problems()).toEqual([])
    await expectOneMissing(on)
  })
})
