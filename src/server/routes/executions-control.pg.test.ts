import { describe, expect, test } from 'vitest'
import { CancelAnswer, CleanupAnswer, FinalizeAnswer } from '../../contract/api-executions.ts'
import type { JsonObject } from '../../contract/json.ts'
import { firstSnowflakeAt } from '../../lib/snowflake.ts'
import { chain, single } from '../../../test/support/playbooks.ts'
import { createScriptedWorker } from '../../../test/support/scripted-worker.ts'
import { useServer } from '../../../test/support/server-file.ts'
import { textOf } from '../../../test/support/server.ts'

const server = useServer()
const get = (path: string) => server().get(`/api/executions${path}`)
const post = (path: string, body: object) => server().post(`/api/executions${path}`, body)

let paths = 0
/** An execution of its own playbook, so that tests do not see each other's. */
const started = async (steps = 1): Promise<{ id: string; path: string }> => {
  const path = `end/at-${(paths += 1)}`
  await server().register(steps === 1 ? single(path) : chain(path, steps))
  return { id: await server().execute(path), path }
}

const finished = async (steps: number): Promise<{ id: string; path: string }> => {
  const execution = await started(steps)
  await createScriptedWorker(server(), 'w1').drain()
  return execution
}

describe.each(['cancel', 'stop'])('with %s', (verb) => {
  test('cancelling ends the execution, its commands and the reason for all to see', async () => {
    const { id } = await started()
    const { status, body, text } = await post(`/${id}/${verb}`, { reason: 'not needed', cascade: true })
    expect(CancelAnswer.parse(body)).toEqual(body)
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        execution_id: id,
        status: 'cancelled',
        message: 'Execution cancellation requested',
        cancelled_executions: [id],
      },
    })
    expect(text).toContain(`"execution_id":${id}`)
    expect((await get(`/${id}/status`)).body).toMatchObject({
      status: 'CANCELLED',
      is_cancelled: true,
      error: 'not needed',
    })
    const events = (await get(`/${id}`)).body['events'] as JsonObject[]
    expect(events.at(-1)).toMatchObject({
      event_type: 'playbook_cancelled',
      status: 'CANCELLED',
      meta: { reason: 'not needed' },
    })
    expect(await createScriptedWorker(server(), 'w1').lease()).toEqual([])
  })

  test('needs no body', async () => {
    const { id } = await started()
    expect((await server().send('POST', `/api/executions/${id}/${verb}`)).status).toBe(200)
  })

  test('of a finished execution is refused', async () => {
    const { id } = await finished(2)
    expect(await post(`/${id}/${verb}`, {})).toMatchObject({
      status: 422,
      body: { error: 'Cannot cancel execution in COMPLETED state', code: 'invalid' },
    })
  })

  test.each([{ reason: 5 }, { cascade: 'yes' }])('refuses the body %j', async (body) => {
    const { id } = await started()
    expect((await post(`/${id}/${verb}`, body)).status).toBe(422)
    expect((await get(`/${id}/status`)).body['status']).toBe('RUNNING')
    await post(`/${id}/cancel`, {})
  })
})

describe('finalizing', () => {
  test.each(['COMPLETED', 'FAILED'])('as %s ends the execution', async (word) => {
    const { id } = await started()
    expect((await post(`/${id}/finalize`, { status: word, error: 'by hand' })).body).toEqual({
      execution_id: id,
      status: word,
      message: `Execution finalized with status: ${word}`,
    })
    expect((await get(`/${id}/status`)).body).toMatchObject({ status: word, error: 'by hand' })
    expect(await createScriptedWorker(server(), 'w1').lease()).toEqual([])
  })

  test('with a reason alone ends it as failed', async () => {
    const { id } = await started()
    const { body } = await post(`/${id}/finalize`, { reason: 'abandoned' })
    expect(body).toMatchObject({ execution_id: id, status: 'FAILED' })
    expect(FinalizeAnswer.parse(body)).toEqual(body)
    expect((await get(`/${id}/status`)).body).toMatchObject({ status: 'FAILED', error: 'abandoned' })
  })

  test('looks at the word first, then at the execution, then at its state', async () => {
    expect(await post('/77/finalize', { status: 'DONE' })).toMatchObject({
      status: 422,
      body: { error: 'Invalid finalization status: DONE' },
    })
    expect((await post('/77/finalize', { status: 'CANCELLED' })).status).toBe(422)
    expect((await post('/77/finalize', {})).status).toBe(422)
    expect((await post('/77/finalize', { status: 'FAILED' })).status).toBe(404)
    const { id } = await finished(2)
    expect(await post(`/${id}/finalize`, { status: 'FAILED' })).toMatchObject({
      status: 409,
      body: { code: 'conflict' },
    })
    expect((await post(`/${id}/finalize`, { status: 'DONE' })).status).toBe(422)
  })
})

describe('cleaning up', () => {
  const cleanUp = (body?: object) => server().send('POST', '/api/executions/cleanup', body)
  let made = 0
  /** An execution that was started ten minutes ago. */
  const startedLongAgo = async (parentExecutionId: string | null = null): Promise<string> => {
    const { core } = server()
    const path = `end/long-ago-${(made += 1)}`
    await server().register(single(path))
    const id = (BigInt(firstSnowflakeAt(Date.now() - 600_000)) + BigInt(made)).toString()
    const input = { payload: {}, parentExecutionId, depth: 0, pool: 'shared', trace: null }
    await core.startAs(id, await core.playbooks.byPath(path, null), input)
    await core.shards.cluster.query(
      `update noetl.execution set started_at = now() - interval '10 minutes' where execution_id = $1`,
      [id],
    )
    return id
  }
  /** Other tests leave running executions behind. */
  const clear = async (): Promise<void> => {
    await createScriptedWorker(server(), 'w1').drain()
  }

  test('cancels what runs for too long, and nothing else', async () => {
    await clear()
    const [old, over] = [await startedLongAgo(), await startedLongAgo()]
    const { id: young } = await started()
    await post(`/${over}/finalize`, { status: 'COMPLETED' })
    const dry = await cleanUp({ dry_run: true })
    expect(dry).toMatchObject({
      status: 200,
      body: {
        cancelled_count: 1,
        execution_ids: [old],
        message: 'Would cancel 1 executions that run for more than 5 minutes',
        dry_run: true,
        more: false,
      },
    })
    expect(CleanupAnswer.parse(dry.body)).toEqual(dry.body)
    expect((await get(`/${old}/status`)).body['status']).toBe('RUNNING')
    expect((await cleanUp({ older_than_minutes: 11 })).body['execution_ids']).toEqual([])
    expect((await cleanUp()).body).toMatchObject({
      cancelled_count: 1,
      execution_ids: [old],
      message: 'Cancelled 1 executions that run for more than 5 minutes',
      dry_run: false,
    })
    expect((await get(`/${old}/status`)).body).toMatchObject({
      status: 'CANCELLED',
      error: 'Running for more than 5 minutes',
    })
    expect((await get(`/${young}/status`)).body['status']).toBe('RUNNING')
    expect((await get(`/${over}/status`)).body['status']).toBe('COMPLETED')
    expect((await cleanUp({})).body['cancelled_count']).toBe(0)
  })

  test('takes what is below with it, and counts each once', async () => {
    await clear()
    const parent = await startedLongAgo()
    const oldChild = await startedLongAgo(parent)
    const { path } = await started()
    const answer = await server().post('/api/execute', { path, parent_execution_id: parent })
    const youngChild = textOf(answer.body['execution_id'])
    const { body } = await cleanUp({ older_than_minutes: 5 })
    expect([...(body['execution_ids'] as string[])].sort()).toEqual([parent, oldChild, youngChild].sort())
    expect(body['cancelled_count']).toBe(3)
  })

  test('goes on where it was cut', async () => {
    await clear()
    const [first, second] = [await startedLongAgo(), await startedLongAgo()]
    expect((await cleanUp({ limit: 1 })).body).toMatchObject({ execution_ids: [first], more: true })
    expect((await cleanUp({ limit: 1 })).body).toMatchObject({ execution_ids: [second], more: false })
  })

  test.each([
    { older_than_minutes: 0 },
    { older_than_minutes: '5' },
    { older_than_minutes: 1.5 },
    { older_than_minutes: 10 ** 9 },
    { dry_run: 'yes' },
    { limit: 0 },
    { limit: 10_001 },
    [[]],
  ])('refuses %j', async (body) => {
    expect((await cleanUp(body)).status).toBe(422)
  })
})
