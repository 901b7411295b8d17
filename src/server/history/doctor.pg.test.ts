/** What the doctor finds of timers and of results that are stored apart. */
import { describe, expect, test } from 'vitest'
import type { LeasedCommand } from '../../contract/command.ts'
import type { Json, JsonObject } from '../../contract/json.ts'
import type { Family } from '../../../test/support/family.ts'
import { createFamily, familyPlaybook } from '../../../test/support/family.ts'
import { expireLeases, storedDifferences } from '../../../test/support/history.ts'
import { createScriptedWorker } from '../../../test/support/scripted-worker.ts'
import { useServers } from '../../../test/support/servers.ts'

const WORK = 'tool: {kind: python, code: x}'
const BIG = { rows: Array.from({ length: 1500 }, (_, id) => ({ id, text: '.'.repeat(80) })) }

const examined = async ({ server }: Family, id?: string): Promise<JsonObject> =>
  (await server.get(`/api/doctor${id === undefined ? '' : `?execution_id=${id}`}`)).body

const only = async (family: Family): Promise<LeasedCommand> => {
  const [command] = await family.worker.lease()
  if (!command) throw new Error('no work')
  return command
}

describe.each([1, 3])('timers, on %i shards,', (shards) => {
  const servers = useServers(shards)

  /** A parent that waits for its running child. */
  const waiting = async () => {
    const family = createFamily(await servers.start())
    await family.server.register(familyPlaybook('tests/child', `\n  - {step: start, ${WORK}}`))
    await family.server.register(
      familyPlaybook(
        'tests/parent',
        `\n  - {step: start, tool: {kind: playbook, path: tests/child, return_result: true}, next: b}\n  - {step: b, ${WORK}}`,
      ),
    )
    const parent = await family.server.execute('tests/parent')
    const [command] = await family.leaseStarts()
    if (!command) throw new Error('nothing to start')
    await family.report(command, await family.start(command))
    return { family, parent, child: command.eventId, commandId: command.commandId }
  }

  const change = async ({ server }: Family, sql: string, values: readonly unknown[] = []): Promise<void> => {
    for (const database of server.databases) await database.query(sql, [...values])
  }

  test('of waiting commands are there; one that outlives its command is idle, which is no difference', async () => {
    const { family, parent, child } = await waiting()
    expect(await examined(family)).toMatchObject({ healthy: true, timers: 1, idle_timers: 0 })
    await family.worker.complete(await only(family), { score: 7 })
    expect(await examined(family)).toMatchObject({ healthy: true, timers: 2, idle_timers: 0 })
    await family.timers.runOnce()
    expect(await examined(family, parent)).toMatchObject({ healthy: true, timers: 1, idle_timers: 1 })
    await family.settle()
    expect(await examined(family)).toMatchObject({ healthy: true, timers: 1, idle_timers: 1 })
    expect(await examined(family, child)).toMatchObject({ healthy: true, timers: 0 })
  })

  test('that are missed: the end of a wait', async () => {
    servers.leaveUnexamined()
    const { family, parent, commandId } = await waiting()
    await change(family, 'delete from noetl.timer')
    const difference = {
      execution_id: parent,
      kind: 'timer',
      message: `the command ${commandId} waits with a limit of time, and no timer tells when it is over`,
      stored: null,
      folded: 'command_timeout',
    }
    expect(await examined(family, parent)).toMatchObject({ healthy: false, differences: [difference] })
    expect(await examined(family)).toMatchObject({ healthy: false, differences: [difference] })
  })

  test('that are missed: the end of a child', async () => {
    servers.leaveUnexamined()
    const { family, parent, child, commandId } = await waiting()
    await family.worker.complete(await only(family), { score: 7 })
    await change(family, `delete from noetl.timer where kind = 'child_ended'`)
    expect(await examined(family)).toMatchObject({
      differences: [
        {
          execution_id: parent,
          kind: 'timer',
          message: `the command ${commandId} waits for the end of execution ${child}, which is COMPLETED, and no timer tells so`,
        },
      ],
    })
    await change(family, 'delete from noetl.execution where execution_id = $1', [child])
    expect(await examined(family, parent)).toMatchObject({
      differences: [{ kind: 'timer', message: expect.stringMatching(/which does not exist$/) }],
    })
  })

  test('of executions that do not exist, and those that nobody tells', async () => {
    servers.leaveUnexamined()
    const { family, parent } = await waiting()
    const set = `insert into noetl.timer (timer_id, execution_id, due_at, kind, payload) values ($1, $2, now() - $3 * interval '1 minute', 'child_ended', '{}')`
    await family.server.core.shards.of('77').query(set, ['1', '77', 0])
    await family.server.core.shards.of(parent).query(set, ['2', parent, 60])
    expect(await examined(family)).toMatchObject({
      differences: [
        {
          execution_id: '77',
          kind: 'timer',
          message: 'a timer (child_ended) is set for an execution that does not exist',
          stored: 'child_ended',
        },
        {
          execution_id: parent,
          message: expect.stringMatching(/^a timer \(child_ended\) is due since .*no server tells it$/),
        },
      ],
    })
  })
})

describe.each([1, 3])('results that are stored apart, on %i shards,', (shards) => {
  const servers = useServers(shards)
  const STEPS = `\n  - {step: start, ${WORK}, next: b}\n  - {step: b, tool: {kind: python, code: x, input: {it: '{{ workload.huge }}'}}}`

  const stage = async (steps = STEPS, workload: JsonObject = {}) => {
    const family = createFamily(await servers.start())
    await family.server.register(familyPlaybook('tests/stored', steps, workload))
    const id = await family.server.execute('tests/stored')
    const database = family.server.core.shards.of(id)
    return {
      family,
      id,
      change: (set: string) => database.query(`update noetl.result set ${set} where execution_id = $1`, [id]),
      store: (data: Json, executionId = id) =>
        family.server.send('PUT', `/api/result/${executionId}`, { name: 'note', data }),
    }
  }

  test('are there, also contexts of commands', async () => {
    const { family, id } = await stage(STEPS, { huge: 'x'.repeat(600_000) })
    await family.worker.complete(await only(family), BIG)
    expect(await examined(family)).toMatchObject({ healthy: true, results: 2, unreferenced_results: 0 })
    await family.worker.complete(await only(family), BIG)
    expect(await examined(family, id)).toMatchObject({
      healthy: true,
      results: 3,
      unreferenced_results: 0,
      unreferenced_bytes: 0,
    })
  })

  test.each([
    ['bytes = bytes + 1', ['has not the size that its event names', 'is not of its size']],
    [`sha256 = repeat('0', 64)`, ['has not the digest that its event names']],
    [`data = data || '\\x00'::bytea`, ['is not of its size']],
    [`name = 'other'`, ['is not there']],
    [`expires_at = now() - interval '1 second'`, ['is not there']],
  ])('that are not what their events say: %s', async (set, messages) => {
    servers.leaveUnexamined()
    const { family, id, change } = await stage()
    await family.worker.complete(await only(family), BIG)
    await change(set)
    expect(await examined(family, id)).toMatchObject({
      healthy: false,
      differences: messages.map((message) => ({
        execution_id: id,
        kind: 'result',
        message: expect.stringContaining(message),
      })),
    })
  })

  test('that a report left behind whose lease was lost are counted when the execution is over', async () => {
    const { family, id } = await stage(`\n  - {step: start, ${WORK}}`)
    const lost = await only(family)
    await expireLeases(family.server.databases)
    await family.server.reaper.runOnce()
    const other = createScriptedWorker(family.server, 'w2')
    const [command] = await other.lease()
    expect(await family.worker.complete(lost, BIG)).toBe('lost')
    expect(await examined(family)).toMatchObject({ healthy: true, results: 0, unreferenced_results: 0 })
    if (command) await other.complete(command, BIG)
    const left = {
      healthy: true,
      results: 1,
      unreferenced_results: 1,
      unreferenced_bytes: expect.any(Number),
    }
    expect(await examined(family)).toMatchObject(left)
    expect(await examined(family, id)).toMatchObject(left)
  })

  test('that belong to no execution are counted', async () => {
    const { family, store } = await stage()
    await store({ a: 1 }, '77')
    expect(await examined(family)).toMatchObject({
      healthy: true,
      unreferenced_results: 1,
      unreferenced_bytes: 7,
    })
  })

  test('are those that the control plane stored: data that looks like a reference is none', async () => {
    const LOOP = `\n  - {step: start, ${WORK}, next: b}\n  - {step: b, loop: {in: [1, 2], iterator: i}, ${WORK}}`
    const { family, id } = await stage(LOOP)
    const lookalike = { _ref: `noetl://execution/${id}/result/x/5`, _store: 'kv' }
    await family.settle(() => lookalike)
    expect(await examined(family, id)).toMatchObject({ healthy: true, results: 1, unreferenced_results: 0 })
    expect(await storedDifferences(family.server.core)).toEqual([])
  })
})
