/** Running executions again in place, over HTTP and on a real database. */
import { describe, expect, test } from 'vitest'
import {
  aFailed,
  DIAMOND,
  diamond,
  expectSound,
  failing,
  ok,
  statusOf,
  work,
} from '../../../test/support/diamond.ts'
import { createFamily, familyPlaybook } from '../../../test/support/family.ts'
import { useServers } from '../../../test/support/servers.ts'

const servers = useServers()

describe('a retry in place', () => {
  test('opens the execution, runs what failed, and ends again', async () => {
    const server = await servers.start()
    const id = await aFailed(server, 'a')
    expect(await statusOf(server, id)).toMatchObject({ status: 'FAILED', progress: { failed_steps: 1 } })
    const { status, body } = await server.post(`/api/executions/${id}/retry`, { reason: 'fixed it' })
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { status: 'reopened', steps: ['a'], commands_generated: 1 },
    })
    expect(await statusOf(server, id)).toMatchObject({
      status: 'RUNNING',
      error: null,
      progress: { running_steps: 1, failed_steps: 0 },
    })
    expect((await server.get('/api/executions?status=RUNNING')).text).toContain(id)
    await expectSound(server, id)
    expect(await work(server, ok)).toEqual(['a', 'join'])
    expect(await statusOf(server, id)).toMatchObject({
      status: 'COMPLETED',
      error: null,
      progress: { completed_steps: 4, failed_steps: 0 },
    })
    expect((await server.get(`/api/executions/${id}/result`)).body).toMatchObject({
      status: 'COMPLETED',
      data: { n: 'join' },
    })
    expect((await server.get(`/api/executions/${id}/explain?step=a`)).body).toMatchObject({
      verdict: 'completed',
      run: 2,
      brought_by: 'reopened',
    })
    await expectSound(server, id)
  })

  test('is seen by a server that had forgotten the execution', async () => {
    const [one, two] = [await servers.start(), await servers.start()]
    const id = await aFailed(one, 'a')
    await two.post(`/api/executions/${id}/retry`, {})
    expect(await work(one, ok)).toEqual(['a', 'join'])
    expect(await statusOf(two, id)).toMatchObject({ status: 'COMPLETED' })
    await expectSound(one, id)
  })

  test('streams on after the first end', async () => {
    const server = await servers.start()
    const id = await aFailed(server, 'a')
    await server.post(`/api/executions/${id}/retry`, {})
    await work(server, ok)
    const { text } = await server.get(`/api/executions/${id}/stream`)
    expect(text).toMatch(
      /event: playbook\.failed[^]*event: playbook\.reopened[^]*event: playbook\.completed[^]*event: end\ndata: {"status":"COMPLETED"/,
    )
  })

  test('of a cancelled execution goes on with what was stopped', async () => {
    const server = await servers.start()
    await server.register(diamond())
    const id = await server.execute(DIAMOND)
    await server.post(`/api/executions/${id}/cancel`, {})
    await server.post(`/api/executions/${id}/retry`, {})
    expect(await work(server, ok)).toEqual(['a', 'b', 'join', 'start'])
    await expectSound(server, id)
  })

  test('is refused clearly', async () => {
    const server = await servers.start()
    const id = await aFailed(server, 'a')
    const ask = (body: unknown) => server.post(`/api/executions/${id}/retry`, body)
    expect(await ask({ steps: ['x'] })).toMatchObject({
      status: 422,
      body: { error: "Step 'x' is not in the playbook; it has: start, a, b, join" },
    })
    expect(await ask({ steps: ['b'] })).toMatchObject({
      status: 422,
      body: { error: "Step 'b' did not fail; these did: a" },
    })
    await ask({})
    expect(await ask({})).toMatchObject({
      status: 409,
      body: { error: `Execution ${id} is still running; there is nothing to retry yet` },
    })
    await work(server, ok)
    expect(await ask({})).toMatchObject({ status: 409 })
    expect(await server.post('/api/executions/1/retry', {})).toMatchObject({ status: 404 })
    await server.core.shards
      .of(id)
      .query('update noetl.execution set imported = true where execution_id = $1', [id])
    expect(await ask({})).toMatchObject({
      status: 409,
      body: { error: `Execution ${id} was imported and is only shown here; rerun it instead` },
    })
  })
})

describe('a retry of a child', () => {
  const PARENT = 'tests/parent'
  const parent = familyPlaybook(
    PARENT,
    `\n  - {step: start, tool: {kind: playbook, path: ${DIAMOND}, return_result: true}}`,
  )

  test('before its parent heard of the failure is waited for on', async () => {
    const family = createFamily(await servers.start())
    const { server } = family
    await server.register(diamond())
    await server.register(parent)
    const id = await server.execute(PARENT)
    const [start] = await family.leaseStarts()
    if (!start) throw new Error('nothing to start')
    await family.report(start, await family.start(start))
    await work(server, failing('a'))
    const child = start.eventId
    expect(await family.row(child)).toMatchObject({ status: 'FAILED' })
    await server.post(`/api/executions/${child}/retry`, {})
    // The news of the first end arrives only now.
    await family.timers.runOnce()
    expect(await family.row(id)).toMatchObject({ status: 'RUNNING' })
    await work(server, ok)
    await family.settle()
    expect(await family.row(id)).toMatchObject({ status: 'COMPLETED' })
    expect(await family.problems()).toEqual([])
  })

  test('that failed its parent leaves the parent to a retry of its own', async () => {
    const family = createFamily(await servers.start())
    const { server } = family
    await server.register(diamond())
    await server.register(parent)
    const id = await server.execute(PARENT)
    await family.settle(failing('a'))
    expect(await family.row(id)).toMatchObject({ status: 'FAILED' })
    const [child = ''] = await family.children(id)
    await server.post(`/api/executions/${child}/retry`, {})
    await family.settle(ok)
    expect(await family.row(child)).toMatchObject({ status: 'COMPLETED' })
    expect(await family.row(id)).toMatchObject({ status: 'FAILED' })
    await server.post(`/api/executions/${id}/retry`, {})
    await family.settle(ok)
    expect(await family.row(id)).toMatchObject({ status: 'COMPLETED' })
    expect(await family.problems()).toEqual([])
  })
})
