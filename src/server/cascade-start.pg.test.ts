/** A child that is started below an execution that is being cancelled ends with it, whichever server dies when. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Family } from '../../test/support/family.ts'
import { createFamily } from '../../test/support/family.ts'
import { aFamily, grow, statusesOf } from '../../test/support/family-tree.ts'
import { intentionsLeft, takeOver } from '../../test/support/intentions.ts'
import { textOf } from '../../test/support/server.ts'
import { useServers } from '../../test/support/servers.ts'
import { cancelExecution } from './cancel.ts'
import { createLocalControlPlane } from './local-control-plane.ts'

describe('a child that is being started while its parent is cancelled', () => {
  const servers = useServers()

  /** The server that starts it dies before it has looked at the parent. */
  const startAndDie = async ({ server }: Family, parentExecutionId: string): Promise<string> => {
    const playbook = await server.core.playbooks.byPath('tests/leaf', null)
    const start = { payload: {}, parentExecutionId, depth: 1, pool: 'shared', trace: null }
    return (await server.core.start(playbook, start)).executionId
  }
  const aParent = async (path = 'leaf') => {
    const family = await aFamily(await servers.start())
    return { family, parent: await family.server.execute(`tests/${path}`) }
  }

  test('is cancelled although the server that started it died before it could look', async () => {
    const { family, parent } = await aParent()
    await family.server.post(`/api/executions/${parent}/cancel`, { reason: 'too late' })
    const child = await startAndDie(family, parent)
    expect(await family.row(child)).toMatchObject({ status: 'RUNNING' })
    await takeOver(createFamily(await servers.start()))
    expect(await family.row(child)).toMatchObject({ status: 'CANCELLED', error: 'too late' })
    expect(await intentionsLeft(family)).toEqual([])
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
    expect(new Set(await statusesOf(family, [...parents, ...started]))).toEqual(new Set(['CANCELLED']))
    expect(await intentionsLeft(family)).toEqual([])
    expect(await family.problems()).toEqual([])
  })

  test('runs when its parent does, and the timer is gone', async () => {
    const { family, parent } = await aParent()
    const child = await startAndDie(family, parent)
    expect(await intentionsLeft(family)).toEqual(['follow_parent'])
    await takeOver(createFamily(await servers.start()))
    expect(await family.row(child)).toMatchObject({ status: 'RUNNING' })
    expect(await intentionsLeft(family)).toEqual([])
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
    expect(await intentionsLeft(family)).toEqual([])
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
    expect(await intentionsLeft(family)).toEqual([])
  })
})
