/** A cancel reaches everything below, whichever server dies when. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Json } from '../contract/json.ts'
import type { Family } from '../../test/support/family.ts'
import { createFamily, familyPlaybook } from '../../test/support/family.ts'
import { eventTypes, readLog } from '../../test/support/history.ts'
import { textOf } from '../../test/support/server.ts'
import { useServers } from '../../test/support/servers.ts'
import { cancelExecution } from './cancel.ts'
import { finishCascade } from './cascade.ts'
import type { Core } from './core.ts'
import { createLocalControlPlane } from './local-control-plane.ts'

const WORK = 'tool: {kind: python, code: x}'
const PLAYBOOKS = {
  leaf: `\n  - {step: start, ${WORK}}`,
  middle: `\n  - {step: start, tool: {kind: playbook, path: tests/leaf, return_result: true}}`,
  top: `
  - {step: start, loop: {in: [1, 2], iterator: item, spec: {mode: parallel}}, tool: {kind: playbook, path: tests/middle, return_result: true}}`,
  wide: `
  - {step: start, loop: {in: '{{ range(120) | list }}', iterator: item, spec: {mode: parallel}}, tool: {kind: playbook, path: tests/leaf, return_result: true}}`,
}

const register = async ({ server }: Family): Promise<void> => {
  for (const [path, steps] of Object.entries(PLAYBOOKS))
    await server.register(familyPlaybook(`tests/${path}`, steps))
}

/** Starts children until there are none to start. */
const grow = async (family: Family): Promise<void> => {
  for (;;) {
    const commands = await family.leaseStarts()
    if (commands.length === 0) return
    for (const command of commands) await family.report(command, await family.start(command))
  }
}

const descendants = async (family: Family, id: string): Promise<readonly string[]> => {
  const children = await family.children(id)
  return [...children, ...(await Promise.all(children.map((child) => descendants(family, child)))).flat()]
}

const statuses = async (family: Family, ids: readonly string[]): Promise<ReadonlySet<string>> =>
  new Set((await Promise.all(ids.map((id) => family.row(id)))).map((row) => row.status))

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

const INTENTIONS = `kind in ('cancel_children', 'follow_parent')`

/** Lets the time pass after which another server takes over, which then does. */
const takeOver = async ({ server, timers }: Family): Promise<void> => {
  for (const database of server.databases)
    await database.query(`update noetl.timer set due_at = now() where ${INTENTIONS}`)
  await timers.runOnce()
}

const timerKinds = async ({ server }: Family): Promise<readonly string[]> => {
  const found = await Promise.all(
    server.databases.map((database) =>
      database.query<{ kind: string }>(`select kind from noetl.timer where ${INTENTIONS}`),
    ),
  )
  return found.flatMap(({ rows }) => rows.map(({ kind }) => kind))
}

const cancelOf = async ({ server }: Family, id: string): Promise<string> =>
  (await readLog(server.core.shards.of(id), id)).at(-1)?.eventId ?? ''

const unknown = useServers()

describe.each([1, 3])('a cascade, on %i shards,', (shards) => {
  const servers = useServers(shards)
  const aTree = async () => {
    const family = createFamily(await servers.start())
    await register(family)
    const id = await family.server.execute('tests/top')
    await grow(family)
    const below = await descendants(family, id)
    expect(below).toHaveLength(4)
    return { family, id, below }
  }

  test.each([1, 2, 3, 4])('is finished by another server when one dies after %i cancels', async (nth) => {
    const { family, id, below } = await aTree()
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
    expect(await timerKinds(family)).toEqual([])
    expect(await other.problems()).toEqual([])
  })
})

describe('a cascade', () => {
  const servers = useServers()
  const aFamily = async (path: string) => {
    const family = createFamily(await servers.start())
    await register(family)
    const id = await family.server.execute(`tests/${path}`)
    await grow(family)
    return { family, id, below: await descendants(family, id) }
  }
  const die = async (family: Family, id: string, reason: string | null = null): Promise<void> => {
    const dying = dyingAt(family.server.core, 1)
    await expect(cancelExecution(dying, id, { reason, cascade: true })).rejects.toThrow('died')
  }

  test('that is done leaves nothing to take over', async () => {
    const { family, id, below } = await aFamily('top')
    await family.server.post(`/api/executions/${id}/cancel`, {})
    expect(await timerKinds(family)).toEqual([])
    await takeOver(createFamily(await servers.start()))
    expect(await statuses(family, below)).toEqual(new Set(['CANCELLED']))
  })

  test('that was not asked for is not made up for', async () => {
    const { family, id, below } = await aFamily('top')
    await family.server.post(`/api/executions/${id}/cancel`, { cascade: false })
    expect(await timerKinds(family)).toEqual([])
    await takeOver(createFamily(await servers.start()))
    expect(await statuses(family, below)).toEqual(new Set(['RUNNING']))
    const [event] = (await readLog(family.server.core.shards.of(id), id)).slice(-1)
    expect(event?.meta).toMatchObject({ emitted_by: 'control_plane', cascade: false })
  })

  test('that is asked for afterwards is finished by another server, too', async () => {
    const { family, id, below } = await aFamily('top')
    await family.server.post(`/api/executions/${id}/cancel`, { cascade: false })
    await die(family, id, 'all of it')
    await takeOver(createFamily(await servers.start()))
    expect(await statuses(family, below)).toEqual(new Set(['CANCELLED']))
    expect(await timerKinds(family)).toEqual([])
    expect(await family.problems()).toEqual([])
  })

  test('of many children is finished by several servers at once, each child cancelled once', async () => {
    const { family, id, below } = await aFamily('wide')
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
    expect(await timerKinds(family)).toEqual([])
    expect(await family.problems()).toEqual([])
  })

  test('that a stopping server breaks off is left to the others at once', async () => {
    const { family, id, below } = await aFamily('wide')
    await die(family, id)
    const eventId = await cancelOf(family, id)
    expect(await finishCascade(family.server.core, id, eventId, AbortSignal.abort())).toBe(false)
    expect(await statuses(family, below)).toEqual(new Set(['RUNNING']))
    await createFamily(await servers.start()).timers.runOnce()
    expect(await statuses(family, below)).toEqual(new Set(['CANCELLED']))
  })

  test('spares what was started after the execution was opened again', async () => {
    const { family, id, below } = await aFamily('middle')
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
    const { family, id, below } = await aFamily('top')
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
    expect(await timerKinds(family)).toEqual(['cancel_children'])
    await begins(rows[0]?.context ?? {})
    await takeOver(createFamily(await servers.start()))
    expect(await family.row(broken)).toMatchObject({ status: 'CANCELLED' })
    expect(await timerKinds(family)).toEqual([])
  })

  test('tells its reason as it was given, though it holds a secret', async () => {
    const { family, id, below } = await aFamily('middle')
    const reason = 'Bearer hunter22hunter22'
    await die(family, id, reason)
    await takeOver(createFamily(await servers.start()))
    const [child = ''] = below
    const log = await readLog(family.server.core.shards.of(child), child)
    expect(log.at(-1)?.error).toBe(reason)
    expect((await family.row(child)).error).not.toContain('hunter22')
  })

  test('is found by the service by itself', async () => {
    const { family, id, below } = await aFamily('top')
    await die(family, id)
    const other = createFamily(await servers.start())
    const left = new Set(below)
    const allCancelled = new Promise<void>((resolve) => {
      other.server.core.onCommit((state) => {
        if (state.status === 'CANCELLED') left.delete(state.executionId)
        if (left.size === 0) resolve()
      })
    })
    for (const database of family.server.databases)
      await database.query(`update noetl.timer set due_at = now() where ${INTENTIONS}`)
    other.timers.start()
    await allCancelled
    await other.timers.stop()
    expect(await timerKinds(family)).toEqual([])
    expect(await family.problems()).toEqual([])
  })
})

describe('a child that is being started while its parent is cancelled', () => {
  const servers = useServers()

  /** The server that starts it dies before it has looked at the parent. */
  const startAndDie = async ({ server }: Family, parentExecutionId: string): Promise<string> => {
    const playbook = await server.core.playbooks.byPath('tests/leaf', null)
    const start = { payload: {}, parentExecutionId, depth: 1, pool: 'shared', trace: null }
    return (await server.core.start(playbook, start)).executionId
  }
  const aParent = async (path = 'leaf') => {
    const family = createFamily(await servers.start())
    await register(family)
    return { family, parent: await family.server.execute(`tests/${path}`) }
  }

  test('is cancelled although the server that started it died before it could look', async () => {
    const { family, parent } = await aParent()
    await family.server.post(`/api/executions/${parent}/cancel`, { reason: 'too late' })
    const child = await startAndDie(family, parent)
    expect(await family.row(child)).toMatchObject({ status: 'RUNNING' })
    await takeOver(createFamily(await servers.start()))
    expect(await family.row(child)).toMatchObject({ status: 'CANCELLED', error: 'too late' })
    expect(await timerKinds(family)).toEqual([])
    expect(await family.problems()).toEqual([])
  })

  test('is found by a cascade that comes after it', async () => {
    const { family, parent } = await aParent()
    const child = await startAndDie(family, parent)
    const { body } = await family.server.post(`/api/executions/${parent}/cancel`, {})
    expect(body['cancelled_executions']).toEqual([parent, child])
    await takeOver(createFamily(await servers.start()))
    expect(await family.problems()).toEqual([])
  })

  test('by a call of a pipeline ends with its parent, whichever of the two is faster', async () => {
    const { family, parent: first } = await aParent()
    const { core, leases } = family.server
    const plane = createLocalControlPlane(core, leases)
    const parents = [first]
    while (parents.length < 12) parents.push(await family.server.execute('tests/leaf'))
    const start = (parentExecutionId: string, nth: number) =>
      plane.startPlaybook({
        callId: `call-${nth}`,
        parentExecutionId,
        playbook: { path: 'tests/leaf' },
        payload: {},
      })
    const started = await Promise.all(
      parents.map(async (parent, nth) => {
        const starting = start(parent, nth)
        // Some cancels begin while the start is on its way, some after its first answers from the database.
        for (let turns = 0; turns < nth * 3; turns += 1) await nextTurn()
        await cancelExecution(core, parent, { reason: null, cascade: true })
        return (await starting).executionId
      }),
    )
    expect(await statuses(family, [...parents, ...started])).toEqual(new Set(['CANCELLED']))
    expect(await timerKinds(family)).toEqual([])
    expect(await family.problems()).toEqual([])
  })

  test('runs when its parent does, and the timer is gone', async () => {
    const { family, parent } = await aParent()
    const child = await startAndDie(family, parent)
    expect(await timerKinds(family)).toEqual(['follow_parent'])
    await takeOver(createFamily(await servers.start()))
    expect(await family.row(child)).toMatchObject({ status: 'RUNNING' })
    expect(await timerKinds(family)).toEqual([])
  })

  test.each([true, false])('is cancelled with it only if that cancel cascades: %s', async (cascade) => {
    const { family, parent } = await aParent()
    await family.server.post(`/api/executions/${parent}/cancel`, { cascade })
    const { body } = await family.server.post('/api/execute', {
      path: 'tests/leaf',
      parent_execution_id: parent,
    })
    const child = await family.row(textOf(body['execution_id']))
    expect(child.status).toBe(cascade ? 'CANCELLED' : 'RUNNING')
    expect(await timerKinds(family)).toEqual([])
  })

  test('is cancelled, too, when it is a rerun', async () => {
    const { family, parent } = await aParent()
    await family.server.post(`/api/executions/${parent}/cancel`, {})
    const { body } = await family.server.post(`/api/executions/${parent}/rerun`, {
      parent_execution_id: parent,
    })
    expect(await family.row(textOf(body['execution_id']))).toMatchObject({ status: 'CANCELLED' })
  })

  test('is cancelled through a parent that is over when the one above was cancelled', async () => {
    const { family, parent: above } = await aParent('middle')
    await grow(family)
    const [parent = ''] = await family.children(above)
    await family.server.post(`/api/executions/${parent}/finalize`, { status: 'COMPLETED' })
    await family.server.post(`/api/executions/${above}/cancel`, { reason: 'all' })
    const child = await startAndDie(family, parent)
    await takeOver(createFamily(await servers.start()))
    expect(await family.row(child)).toMatchObject({ status: 'CANCELLED', error: 'all' })
  })

  test('leaves nothing behind when it is asked for again with the key of its call', async () => {
    const { family, parent } = await aParent()
    const request = {
      path: 'tests/leaf',
      parent_execution_id: parent,
      dedup: { key: 'call-1', window_secs: 60 },
    }
    const first = await family.server.post('/api/execute', request)
    await family.server.post(`/api/executions/${parent}/cancel`, {})
    const second = await family.server.post('/api/execute', request)
    expect(second.body).toMatchObject({ status: 'duplicate', execution_id: first.body['execution_id'] })
    expect(await family.row(textOf(first.body['execution_id']))).toMatchObject({ status: 'CANCELLED' })
    expect(await timerKinds(family)).toEqual([])
  })
})

test('a timer of a kind that a server does not know is left to one that does', async () => {
  const family = createFamily(await unknown.start())
  await register(family)
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
  unknown.leaveUnexamined()
  expect(await family.problems()).toEqual([expect.stringContaining('of a kind that nobody can tell')])
})
