/** A cancel reaches everything below, whichever server dies when. */
import { describe, expect, test } from 'vitest'
import type { Json } from '../contract/json.ts'
import type { Family } from '../../test/support/family.ts'
import { createFamily } from '../../test/support/family.ts'
import type { GrownFamily } from '../../test/support/family-tree.ts'
import { aFamily, aGrownFamily, aTree, grow, statusesOf } from '../../test/support/family-tree.ts'
import { eventTypes, readLog } from '../../test/support/history.ts'
import { intentionsDue, intentionsLeft, takeOver } from '../../test/support/intentions.ts'
import { useServers } from '../../test/support/servers.ts'
import { cancelExecution } from './cancel.ts'
import { finishCascade } from './cascade.ts'
import type { Core } from './core.ts'

const statuses = async (family: Family, ids: readonly string[]): Promise<ReadonlySet<string>> =>
  new Set(await statusesOf(family, ids))

/** A server that dies when it is about to say the nth thing to an execution. */
const dyingAt = (core: Core, nth: number): Core => {
  let told = 0
  return {
    ...core,
    tell: (id, input) => {
      if (told >= nth) return Promise.reject(new Error('the server died'))
      told += 1
      return core.tell(id, input)
    },
  }
}

const cancelOf = async ({ server }: Family, id: string): Promise<string> =>
  (await readLog(server.core.shards.of(id), id)).at(-1)?.eventId ?? ''

describe.each([1, 3])('a cascade, on %i shards,', (shards) => {
  const servers = useServers(shards)

  test.each([1, 2, 3, 4])('is finished by another server when one dies after %i cancels', async (nth) => {
    const { family, id, below } = await aTree(await servers.start())
    const dying = dyingAt(family.server.core, nth)
    await expect(cancelExecution(dying, id, { reason: 'not needed', cascade: true })).rejects.toThrow('died')
    expect(await statuses(family, below)).toContain('RUNNING')
    const other = createFamily(await servers.start())
    await takeOver(other)
    expect(await statuses(family, [id, ...below])).toEqual(new Set(['CANCELLED']))
    for (const each of below) expect((await family.row(each)).error).toBe('not needed')
    for (const each of [id, ...below]) {
      const types = await eventTypes(family.server.core.shards.of(each), each)
      expect(types.filter((type) => type === 'playbook_cancelled')).toHaveLength(1)
    }
    expect(await intentionsLeft(family)).toEqual([])
    expect(await other.problems()).toEqual([])
  })
})

describe('a cascade', () => {
  const servers = useServers()
  const grown = async (path: 'middle' | 'top' | 'wide'): Promise<GrownFamily> =>
    aGrownFamily(await servers.start(), path)
  const die = async (family: Family, id: string, reason: string | null = null): Promise<void> => {
    const dying = dyingAt(family.server.core, 1)
    await expect(cancelExecution(dying, id, { reason, cascade: true })).rejects.toThrow('died')
  }

  test('that is done leaves nothing to take over', async () => {
    const { family, id, below } = await grown('top')
    await family.server.post(`/api/executions/${id}/cancel`, {})
    expect(await intentionsLeft(family)).toEqual([])
    await takeOver(createFamily(await servers.start()))
    expect(await statuses(family, below)).toEqual(new Set(['CANCELLED']))
  })

  test('that was not asked for is not made up for', async () => {
    const { family, id, below } = await grown('top')
    await family.server.post(`/api/executions/${id}/cancel`, { cascade: false })
    expect(await intentionsLeft(family)).toEqual([])
    await takeOver(createFamily(await servers.start()))
    expect(await statuses(family, below)).toEqual(new Set(['RUNNING']))
    const [event] = (await readLog(family.server.core.shards.of(id), id)).slice(-1)
    expect(event?.meta).toMatchObject({ emitted_by: 'control_plane', cascade: false })
  })

  test('that is asked for afterwards is finished by another server, too', async () => {
    const { family, id, below } = await grown('top')
    await family.server.post(`/api/executions/${id}/cancel`, { cascade: false })
    await die(family, id, 'all of it')
    await takeOver(createFamily(await servers.start()))
    expect(await statuses(family, below)).toEqual(new Set(['CANCELLED']))
    expect(await intentionsLeft(family)).toEqual([])
    expect(await family.problems()).toEqual([])
  })

  test('of many children is finished by several servers at once, each child cancelled once', async () => {
    const { family, id, below } = await grown('wide')
    expect(below).toHaveLength(120)
    await die(family, id)
    const others = await Promise.all([servers.start(), servers.start()])
    const intention = { executionId: id, eventId: await cancelOf(family, id) }
    const { signal } = new AbortController()
    // Both found the intention: the first was so slow that it came due again.
    await Promise.all(
      others.map(({ core }) => finishCascade(core, intention.executionId, intention.eventId, signal)),
    )
    expect(await statuses(family, below)).toEqual(new Set(['CANCELLED']))
    expect(await intentionsLeft(family)).toEqual([])
    expect(await family.problems()).toEqual([])
  })

  test('that a stopping server breaks off is left to the others at once', async () => {
    const { family, id, below } = await grown('wide')
    await die(family, id)
    const eventId = await cancelOf(family, id)
    expect(await finishCascade(family.server.core, id, eventId, AbortSignal.abort())).toBe(false)
    expect(await statuses(family, below)).toEqual(new Set(['RUNNING']))
    await createFamily(await servers.start()).timers.runOnce()
    expect(await statuses(family, below)).toEqual(new Set(['CANCELLED']))
  })

  test('spares what was started after the execution was opened again', async () => {
    const { family, id, below } = await grown('middle')
    await die(family, id)
    await family.server.post(`/api/executions/${id}/retry`, {})
    await grow(family)
    const fresh = (await family.children(id)).filter((child) => !below.includes(child))
    expect(fresh).toHaveLength(1)
    await takeOver(createFamily(await servers.start()))
    expect(await statuses(family, below)).toEqual(new Set(['CANCELLED']))
    expect(await statuses(family, [id, ...fresh])).toEqual(new Set(['RUNNING']))
    await family.settle()
    expect(await family.row(id)).toMatchObject({ status: 'COMPLETED' })
    expect(await family.problems()).toEqual([])
  })

  test('goes on over one that cannot be told, and comes again for it', async () => {
    servers.leaveUnexamined()
    const { family, id, below } = await grown('top')
    const [first = ''] = await family.children(id)
    const [broken = ''] = await family.children(first)
    const database = family.server.core.shards.of(broken)
    await die(family, id)
    const { rows } = await database.query<{ context: Json }>(
      'select context from noetl.event where execution_id = $1 and position = 1',
      [broken],
    )
    const begins = (context: Json) =>
      database.query('update noetl.event set context = $2 where execution_id = $1 and position = 1', [
        broken,
        JSON.stringify(context),
      ])
    await begins({ catalog_id: '999' })
    await takeOver(createFamily(await servers.start()))
    const others = below.filter((each) => each !== broken)
    expect(await statuses(family, others)).toEqual(new Set(['CANCELLED']))
    expect(await family.row(broken)).toMatchObject({ status: 'RUNNING' })
    expect(await intentionsLeft(family)).toEqual(['cancel_children'])
    await begins(rows[0]?.context ?? {})
    await takeOver(createFamily(await servers.start()))
    expect(await family.row(broken)).toMatchObject({ status: 'CANCELLED' })
    expect(await intentionsLeft(family)).toEqual([])
  })

  test('tells its reason as it was given, though it holds a secret', async () => {
    const { family, id, below } = await grown('middle')
    const reason = 'Bearer hunter22hunter22'
    await die(family, id, reason)
    await takeOver(createFamily(await servers.start()))
    const [child = ''] = below
    const log = await readLog(family.server.core.shards.of(child), child)
    expect(log.at(-1)?.error).toBe(reason)
    expect((await family.row(child)).error).not.toContain('hunter22')
  })

  test('is found by the service by itself', async () => {
    const { family, id, below } = await grown('top')
    await die(family, id)
    const other = createFamily(await servers.start())
    const left = new Set(below)
    const allCancelled = new Promise<void>((resolve) => {
      other.server.core.onCommit((state) => {
        if (state.status === 'CANCELLED') left.delete(state.executionId)
        if (left.size === 0) resolve()
      })
    })
    await intentionsDue(family)
    other.timers.start()
    await allCancelled
    await other.timers.stop()
    expect(await intentionsLeft(family)).toEqual([])
    expect(await family.problems()).toEqual([])
  })
})

describe('a timer of a kind that a server does not know', () => {
  const servers = useServers()

  test('is left to one that does', async () => {
    const family = await aFamily(await servers.start())
    const id = await family.server.execute('tests/leaf')
    await family.server.core.shards
      .of(id)
      .query(
        `insert into noetl.timer (timer_id, execution_id, due_at, kind, payload) values (5, $1, now(), 'later', '{}')`,
        [id],
      )
    expect(await family.timers.runOnce()).toBe(0)
    const { rows } = await family.server.core.shards.of(id).query('select kind from noetl.timer')
    expect(rows).toEqual([{ kind: 'later' }])
    servers.leaveUnexamined()
    expect(await family.problems()).toEqual([expect.stringContaining('of a kind that nobody can tell')])
  })
})
