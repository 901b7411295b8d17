import { describe, expect, test } from 'vitest'
import type { LeasedCommand } from '../contract/command.ts'
import type { Family } from '../../test/support/family.ts'
import { createFamily, familyPlaybook } from '../../test/support/family.ts'
import { readLog } from '../../test/support/history.ts'
import { onlyWoken } from '../../test/support/only-woken.ts'
import type { TestServerOptions } from '../../test/support/server.ts'
import { useServers } from '../../test/support/servers.ts'
import { createMemoryDispatcher } from '../dispatch/memory.ts'
import { takeDueTimers } from '../store/timers.ts'

const servers = useServers()
const WORK = 'tool: {kind: python, code: x}'

interface Stage {
  readonly family: Family
  readonly id: string
  /** The command that waits; its id is the child's. */
  readonly command: LeasedCommand
  timersLeft(): Promise<number>
  /** How often the parent's command ended. */
  ends(): Promise<number>
}

/** A parent that waits for its running child. */
const waiting = async (config = '', options: TestServerOptions = {}): Promise<Stage> => {
  const family = createFamily(await servers.start(options))
  const { server } = family
  await server.register(familyPlaybook('tests/child', `\n  - {step: start, ${WORK}}`))
  await server.register(
    familyPlaybook(
      'tests/parent',
      `
  - {step: start, tool: {kind: playbook, path: tests/child, return_result: true${config}}, next: {arcs: [{step: b, when: '{{ event.name }}'}]}}
  - {step: b, ${WORK}}`,
    ),
  )
  const id = await server.execute('tests/parent')
  const [command] = await family.leaseStarts()
  if (!command) throw new Error('nothing to start')
  await family.report(command, await family.start(command))
  const database = server.core.shards.of(id)
  return {
    family,
    id,
    command,
    timersLeft: async () => (await database.query('select 1 from noetl.timer')).rows.length,
    ends: async () =>
      (await readLog(database, id)).filter(
        ({ eventType, nodeName, status }) =>
          nodeName === 'start' && /^command\.(completed|failed)$/.test(eventType) && status !== 'PENDING',
      ).length,
  }
}

const endChild = async ({ family }: Stage): Promise<void> => {
  const [work] = await family.worker.lease()
  if (!work) throw new Error('the child has no work')
  await family.worker.complete(work, { score: 7 })
}

describe('the end of a child', () => {
  test('is told to its parent, and the timer is gone', async () => {
    const stage = await waiting()
    await endChild(stage)
    expect(await stage.family.problems()).toEqual([])
    // The end of the child, and the end of the wait, which is not due yet.
    expect(await stage.timersLeft()).toBe(2)
    expect(await stage.family.timers.runOnce()).toBe(1)
    expect(await stage.timersLeft()).toBe(1)
    expect(await stage.ends()).toBe(1)
    expect(await stage.family.problems()).toEqual([])
  })

  test('is told once although the timer is delivered twice', async () => {
    const stage = await waiting()
    await endChild(stage)
    const { server, timers } = stage.family
    const database = server.core.shards.of(stage.id)
    // A first server tells the parent and dies before it deletes the timer.
    await timers.runOnce()
    const lost = await database.query(
      `insert into noetl.timer (timer_id, execution_id, due_at, kind, payload)
       values (77, $1, now(), 'child_ended', $2)`,
      [
        stage.command.eventId,
        JSON.stringify({ parent_execution_id: stage.id, command_id: stage.command.commandId }),
      ],
    )
    expect(lost.rowCount).toBe(1)
    const before = await readLog(database, stage.id)
    expect(await createFamily(await servers.start()).timers.runOnce()).toBe(1)
    expect(await readLog(database, stage.id)).toEqual(before)
    expect(await stage.ends()).toBe(1)
  })

  test('is told once although many servers look at the same time', async () => {
    const stage = await waiting()
    await endChild(stage)
    const others = await Promise.all([servers.start(), servers.start(), servers.start()])
    const all = [stage.family, ...others.map(createFamily)]
    const delivered = await Promise.all(all.map(({ timers }) => timers.runOnce()))
    expect(delivered.reduce((sum, count) => sum + count, 0)).toBe(1)
    expect(await stage.ends()).toBe(1)
    expect(await stage.family.problems()).toEqual([])
  })

  test('is told later by another server when the one that took the timer dies', async () => {
    const stage = await waiting()
    await endChild(stage)
    await takeDueTimers(stage.family.server.core.shards.of(stage.id), { max: 10, holdSeconds: 30 })
    expect(await stage.family.timers.runOnce()).toBe(0)
    expect(await stage.family.problems()).toEqual([])
    await stage.family.allTimersDue()
    await createFamily(await servers.start()).timers.runOnce()
    expect(await stage.ends()).toBe(1)
    expect(await stage.family.problems()).toEqual([])
  })

  test('changes nothing for a parent that is over', async () => {
    const stage = await waiting()
    await stage.family.server.post(`/api/executions/${stage.id}/cancel`, { cascade: false })
    await endChild(stage)
    const database = stage.family.server.core.shards.of(stage.id)
    const before = await readLog(database, stage.id)
    await stage.family.settle()
    expect(await readLog(database, stage.id)).toEqual(before)
    expect(await stage.family.problems()).toEqual([])
  })
})

describe('the end of a wait', () => {
  test('fails the step, while the child runs on; its end is no news any more', async () => {
    const stage = await waiting(', timeout: 0.05')
    await stage.family.allTimersDue()
    expect(await stage.family.timers.runOnce()).toBe(1)
    const log = await readLog(stage.family.server.core.shards.of(stage.id), stage.id)
    expect(log.find(({ eventType }) => eventType === 'command.failed')).toMatchObject({
      error: 'No answer within 0.05 s',
      result: { context: { error: { kind: 'timeout', code: 'TIMEOUT', retryable: true } } },
    })
    expect(await stage.family.row(stage.command.eventId)).toMatchObject({ status: 'RUNNING' })
    expect(await stage.family.problems()).toEqual([])
    await stage.family.settle()
    expect(await stage.family.row(stage.command.eventId)).toMatchObject({ status: 'COMPLETED' })
    expect(await stage.family.row(stage.id)).toMatchObject({ status: 'COMPLETED' })
    expect(await stage.ends()).toBe(1)
    expect(await stage.family.problems()).toEqual([])
  })

  test('means nothing once the child has answered', async () => {
    const stage = await waiting()
    await endChild(stage)
    await stage.family.timers.runOnce()
    const database = stage.family.server.core.shards.of(stage.id)
    const before = await readLog(database, stage.id)
    await stage.family.allTimersDue()
    expect(await stage.family.timers.runOnce()).toBe(1)
    expect(await readLog(database, stage.id)).toEqual(before)
    expect(await stage.timersLeft()).toBe(0)
  })

  test.each([
    ['child first', ['child', 'clock']],
    ['clock first', ['clock', 'child']],
  ])('and the end of the child at the same moment, %s: one of them counts', async (_name, order) => {
    const stage = await waiting(', timeout: 1')
    await endChild(stage)
    const database = stage.family.server.core.shards.of(stage.id)
    for (const [nth, which] of order.entries()) {
      const kind = which === 'child' ? 'child_ended' : 'command_timeout'
      await database.query(
        `update noetl.timer set due_at = now() - $1 * interval '1 second' where kind = $2`,
        [10 - nth, kind],
      )
    }
    await stage.family.timers.runOnce()
    expect(await stage.ends()).toBe(1)
    expect(await stage.timersLeft()).toBe(0)
    expect(await stage.family.problems()).toEqual([])
  })
})

describe('the service', () => {
  test('delivers at once what was set in its process, and stops', async () => {
    const stage = await waiting('', { dispatcher: onlyWoken(createMemoryDispatcher()) })
    const { timers, server } = stage.family
    const parentMoved = new Promise<void>((resolve) => {
      server.core.onCommit((state) => {
        if (state.executionId === stage.id && state.steps.get('start')?.phase !== 'running') resolve()
      })
    })
    timers.start()
    await endChild(stage)
    await parentMoved
    await timers.stop()
    expect(await stage.ends()).toBe(1)
  })

  test('delivers the others although one cannot be delivered, and tries that one again', async () => {
    const stage = await waiting()
    await endChild(stage)
    const database = stage.family.server.core.shards.of(stage.id)
    // Of an execution whose playbook is gone nothing can be told.
    const orphan = await stage.family.server.execute('tests/child')
    await database.query('update noetl.execution set catalog_id = 999 where execution_id = $1', [orphan])
    await database.query(
      `update noetl.event set context = '{"catalog_id": "999"}' where execution_id = $1 and position = 1`,
      [orphan],
    )
    await database.query(
      `insert into noetl.timer (timer_id, execution_id, due_at, kind, payload)
       values (78, $1, now() - interval '1 hour', 'child_ended', $2)`,
      [orphan, JSON.stringify({ parent_execution_id: stage.id, command_id: '1:x:2' })],
    )
    const fresh = createFamily(await servers.start())
    expect(await fresh.timers.runOnce()).toBe(1)
    expect(await stage.ends()).toBe(1)
    const { rows } = await database.query('select timer_id from noetl.timer where timer_id = 78')
    expect(rows).toHaveLength(1)
  })
})
