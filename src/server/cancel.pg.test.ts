/** What a cancel ends, what it leaves alone, and what it answers. Rules are those of cancel.ts. */
import { describe, expect, test } from 'vitest'
import type { Json } from '../contract/json.ts'
import type { Family } from '../../test/support/family.ts'
import { familyPlaybook } from '../../test/support/family.ts'
import { aFamily, aGrownFamily, aTree, grow, statusesOf, WORK } from '../../test/support/family-tree.ts'
import { eventTypes } from '../../test/support/history.ts'
import { textOf } from '../../test/support/server.ts'
import { useServers } from '../../test/support/servers.ts'

const cancel = async ({ server }: Family, id: string, body: Json = {}) =>
  server.post(`/api/executions/${id}/cancel`, body)

describe.each([1, 3])('cancelling, on %i shards,', (shards) => {
  const servers = useServers(shards)

  test('ends an execution and everything below it, and says what it ended', async () => {
    const { family, id, below } = await aTree(await servers.start())
    const { status, body } = await cancel(family, id, { reason: 'not needed' })
    expect(status).toBe(200)
    const cancelled = body['cancelled_executions'] as string[]
    expect(cancelled[0]).toBe(id)
    expect(cancelled.toSorted()).toEqual([id, ...below].toSorted())
    expect(await statusesOf(family, [id, ...below])).toEqual(Array(5).fill('CANCELLED'))
    for (const each of below) expect((await family.row(each)).error).toBe('not needed')
    expect(await family.worker.lease(10)).toEqual([])
    // Those who waited are over; that their children ended is no news for them.
    await family.settle()
    for (const each of [id, ...below]) {
      const types = await eventTypes(family.server.core.shards.of(each), each)
      expect(types.at(-1)).toBe('playbook_cancelled')
    }
    expect(await family.problems()).toEqual([])
  })

  test('again finishes what a server that died left undone (rule 3)', async () => {
    const { family, id, below } = await aTree(await servers.start())
    // The server dies after the first cancellation.
    await family.server.core.demand(id, { type: 'cancel', reason: null })
    const { status, body } = await cancel(family, id)
    expect(status).toBe(200)
    expect((body['cancelled_executions'] as string[]).toSorted()).toEqual(below.toSorted())
    expect(await statusesOf(family, below)).toEqual(Array(4).fill('CANCELLED'))
    expect((await cancel(family, id)).body).toMatchObject({ code: 'invalid' })
    expect(await family.problems()).toEqual([])
  })

  test('leaves the others alone when told so', async () => {
    const { family, id, below } = await aTree(await servers.start())
    const { body } = await cancel(family, id, { cascade: false })
    expect(body['cancelled_executions']).toEqual([id])
    expect(await statusesOf(family, below)).toEqual(Array(4).fill('RUNNING'))
    await family.settle()
    expect(await statusesOf(family, below)).toEqual(Array(4).fill('COMPLETED'))
    expect(await family.row(id)).toMatchObject({ status: 'CANCELLED' })
    expect(await family.problems()).toEqual([])
  })

  test('ends no execution beside or above, which hear of it as of any end', async () => {
    const { family, id, below } = await aTree(await servers.start())
    const [first = '', second = ''] = await family.children(id)
    const [leaf = ''] = await family.children(first)
    expect((await cancel(family, first)).body['cancelled_executions']).toEqual([first, leaf])
    expect(await statusesOf(family, [id, second])).toEqual(['RUNNING', 'RUNNING'])
    await family.settle()
    expect(await family.row(id)).toMatchObject({ status: 'FAILED' })
    expect(await family.row(second)).toMatchObject({ status: 'COMPLETED' })
    expect(below).toContain(leaf)
    expect(await family.problems()).toEqual([])
  })
})

describe('cancelling', () => {
  const servers = useServers()

  test('finds a descendant through one that is over (rule 2)', async () => {
    const family = await aFamily(await servers.start())
    await family.server.register(
      familyPlaybook(
        'tests/chain',
        `
  - {step: start, tool: {kind: playbook, path: tests/lets_go, return_result: true}, next: b}
  - {step: b, ${WORK}}`,
      ),
    )
    const id = await family.server.execute('tests/chain')
    await grow(family)
    await family.timers.runOnce()
    const [middle = ''] = await family.children(id)
    const [leaf = ''] = await family.children(middle)
    expect(await statusesOf(family, [id, middle, leaf])).toEqual(['RUNNING', 'COMPLETED', 'RUNNING'])
    expect((await cancel(family, id)).body['cancelled_executions']).toEqual([id, leaf])
    expect(await statusesOf(family, [id, middle, leaf])).toEqual(['CANCELLED', 'COMPLETED', 'CANCELLED'])
    expect(await family.problems()).toEqual([])
  })

  test('does not leave a child behind that is being started at that moment (rule 1)', async () => {
    const family = await aFamily(await servers.start())
    const id = await family.server.execute('tests/middle')
    const [command] = await family.leaseStarts()
    if (!command) throw new Error('nothing to start')
    expect((await cancel(family, id, { reason: 'too late' })).body['cancelled_executions']).toEqual([id])
    const started = await family.start(command)
    expect(await family.row(command.eventId)).toMatchObject({ status: 'CANCELLED', error: 'too late' })
    expect(await family.report(command, started)).toBe('ok')
    await family.settle()
    expect(await family.worker.lease()).toEqual([])
    expect(await family.problems()).toEqual([])
  })

  test('of many children ends them all', async () => {
    const { family, id } = await aGrownFamily(await servers.start(), 'wide')
    const { body } = await cancel(family, id)
    expect(body['cancelled_executions']).toHaveLength(121)
    expect(await family.problems()).toEqual([])
  })

  test('of a finished execution is refused, and nothing below it is touched', async () => {
    const { family, id } = await aGrownFamily(await servers.start(), 'lets_go')
    const [leaf = ''] = await family.children(id)
    expect(await cancel(family, id)).toMatchObject({
      status: 422,
      body: { error: 'Cannot cancel execution in COMPLETED state' },
    })
    expect(await family.row(leaf)).toMatchObject({ status: 'RUNNING' })
  })

  test('twice at once is done once', async () => {
    const { family, id } = await aTree(await servers.start())
    const answers = await Promise.all([cancel(family, id), cancel(family, id)])
    // The second may find children that the first has not come to yet, and cancel those.
    const cancelled = answers.flatMap(({ body }) => (body['cancelled_executions'] ?? []) as readonly Json[])
    expect(answers.map(({ status }) => status).filter((status) => status !== 422)).toContain(200)
    expect(new Set(cancelled).size).toBe(cancelled.length)
    expect(await family.problems()).toEqual([])
  })

  test('of an execution that does not exist is refused', async () => {
    expect(await cancel(await aFamily(await servers.start()), '12345')).toMatchObject({ status: 404 })
  })

  test('reaches a child that is asked for while its parent is being cancelled', async () => {
    const family = await aFamily(await servers.start())
    const parent = await family.server.execute('tests/leaf')
    await cancel(family, parent, { reason: 'too late' })
    const { body } = await family.server.post('/api/execute', {
      path: 'tests/leaf',
      parent_execution_id: parent,
    })
    const child = await family.row(textOf(body['execution_id']))
    expect([child.status, child.error]).toEqual(['CANCELLED', 'too late'])
  })
})
