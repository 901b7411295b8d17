import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../contract/json.ts'
import { chain, single } from '../../../test/support/playbooks.ts'
import { createScriptedWorker } from '../../../test/support/scripted-worker.ts'
import { useServer } from '../../../test/support/server-file.ts'
import { textOf } from '../../../test/support/server.ts'

const server = useServer()
const get = (path: string) => server().get(`/api/executions${path}`)
const post = (path: string, body: object) => server().post(`/api/executions${path}`, body)

let paths = 0
/** An execution of its own playbook, so that tests do not see each other's. */
const started = async (steps = 1): Promise<{ id: string; path: string; catalogId: string }> => {
  const path = `look/at-${(paths += 1)}`
  const catalogId = await server().register(steps === 1 ? single(path) : chain(path, steps))
  return { id: await server().execute(path), path, catalogId }
}

const finished = async (steps: number): Promise<{ id: string; path: string }> => {
  const execution = await started(steps)
  await createScriptedWorker(server(), 'w1').drain()
  return execution
}

describe('the list', () => {
  const ids = async (query: string): Promise<readonly unknown[]> => {
    const { body } = await get(query)
    return (body as unknown as JsonObject[]).map((item) => item['execution_id'])
  }

  test('has one row per execution, newest first, with exact integer ids', async () => {
    const { id, path, catalogId } = await started()
    const { body, text } = await get(`?catalog_id=${catalogId}`)
    expect(body).toEqual([
      {
        execution_id: id,
        catalog_id: catalogId,
        path,
        version: 1,
        status: 'RUNNING',
        started_at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
        completed_at: null,
        event_count: 3,
        error: null,
      },
    ])
    expect(text).toContain(`"execution_id":${id},"catalog_id":${catalogId},`)
  })

  test('is filtered before it is cut', async () => {
    const { path, catalogId, id } = await started()
    const more = [await server().execute(path), await server().execute(path), await server().execute(path)]
    const [a, b, c] = more
    await post(`/${a}/cancel`, {})
    await post(`/${c}/finalize`, { status: 'FAILED', error: 'x' })
    const here = `path=${path.toUpperCase()}`
    expect(await ids(`?${here}`)).toEqual([c, b, a, id])
    expect(await ids(`?${here}&limit=2`)).toEqual([c, b])
    expect(await ids(`?${here}&limit=2&offset=3`)).toEqual([id])
    expect(await ids(`?${here}&status=running`)).toEqual([b, id])
    expect(await ids(`?${here}&status=CANCELLED`)).toEqual([a])
    expect(await ids(`?${here}&status=FAILED&limit=1`)).toEqual([c])
    expect(await ids(`?${here}&limit=0`)).toEqual([])
    expect(await ids(`?catalog_id=${catalogId}&offset=1&limit=1`)).toEqual([b])
    expect(await ids(`?${here}&limit=100000`)).toHaveLength(4)
    expect(await ids('?path=no/such/path')).toEqual([])
  })

  test.each([
    'limit=-1',
    'offset=-1',
    'limit=x',
    'limit=1.5',
    'limit=1&limit=2',
    'status=DONE',
    'catalog_id=x',
    'parent_execution_id=1.5',
    'path=a&path=b',
    'path=%00',
  ])('refuses ?%s', async (query) => {
    expect(await get(`?${query}`)).toMatchObject({ status: 422, body: { status: 422, code: 'invalid' } })
  })
})

describe('one execution', () => {
  test('in detail has its workload and its events', async () => {
    const { id, path } = await finished(2)
    const { body, text } = await get(`/${id}`)
    expect(body).toMatchObject({
      execution_id: id,
      path,
      status: 'COMPLETED',
      parent_execution_id: null,
      workload: {},
      error: null,
    })
    const events = body['events'] as JsonObject[]
    expect(events.map((event) => event['event_type'])).toEqual([
      'playbook_started',
      'step.enter',
      'command.issued',
      'command.claimed',
      'command.completed',
      'step.exit',
      'step.enter',
      'command.issued',
      'command.claimed',
      'command.completed',
      'step.exit',
      'playbook.completed',
    ])
    expect(events.map((event) => event['position'])).toEqual(events.map((_, index) => index + 1))
    expect(body['event_count']).toBe(events.length)
    expect(body['completed_at']).toBe(events.at(-1)?.['created_at'])
    expect(text).toContain(`"event_id":${textOf(events[0]?.['event_id'])},`)
  })

  test('gives its events by the page', async () => {
    const { id } = await finished(3)
    const all = (await get(`/${id}/events`)).body
    const page = (await get(`/${id}/events?after=2&limit=3`)).body
    expect((page['events'] as JsonObject[]).map((event) => event['position'])).toEqual([3, 4, 5])
    expect(page).toMatchObject({ execution_id: id, last_position: (all['events'] as unknown[]).length })
    expect((await get(`/${id}/events?after=2147483647`)).body['events']).toEqual([])
    for (const query of ['after=-1', 'limit=0', 'limit=5001', 'after=x', 'after=2147483648', 'limit=1e9']) {
      expect((await get(`/${id}/events?${query}`)).status).toBe(422)
    }
  })

  test('tells status and progress, the same in every answer', async () => {
    const { id } = await started(3)
    const worker = createScriptedWorker(server(), 'w1')
    expect((await get(`/${id}/status`)).body).toEqual({
      execution_id: id,
      status: 'RUNNING',
      current_step: 'start',
      progress: { total_steps: 1, completed_steps: 0, running_steps: 1, failed_steps: 0 },
      is_cancelled: false,
      completed: false,
      failed: false,
      error: null,
    })
    for (let [command] = await worker.lease(); command; [command] = await worker.lease())
      await worker.complete(command)
    const { body } = await get(`/${id}/status`)
    expect(body).toMatchObject({
      status: 'COMPLETED',
      current_step: 's3',
      completed: true,
      progress: { total_steps: 3, completed_steps: 3, running_steps: 0, failed_steps: 0 },
    })
    expect((await get(`/${id}`)).body['status']).toBe('COMPLETED')
    expect((await get('?limit=100')).body).toEqual(
      expect.arrayContaining([expect.objectContaining({ execution_id: id, status: 'COMPLETED' })]),
    )
  })

  test('that failed names the step and the error', async () => {
    const { id } = await started()
    const worker = createScriptedWorker(server(), 'w1')
    const [command] = await worker.lease()
    if (command) await worker.fail(command, 'it broke')
    const error = "Step 'start' failed: it broke"
    expect((await get(`/${id}/status`)).body).toMatchObject({
      status: 'FAILED',
      failed: true,
      error,
      progress: { failed_steps: 1 },
    })
    expect((await get(`/${id}`)).body).toMatchObject({ status: 'FAILED', error })
  })

  test('that does not exist is not found, under any of its paths', async () => {
    const body = { error: 'Execution not found: 77', status: 404, code: 'not_found' }
    for (const path of ['/77', '/77/status', '/77/events', '/77/stream'])
      expect(await get(path)).toMatchObject({ status: 404, body })
    expect(await post('/77/cancel', {})).toMatchObject({ status: 404, body })
    expect(await post('/77/finalize', { status: 'FAILED' })).toMatchObject({ status: 404, body })
  })

  test.each(['+77', '0077', '%2077%20'])('is found by its id written as %s', async (id) => {
    expect((await get(`/${id}`)).body['error']).toBe('Execution not found: 77')
  })
})

describe('cancelling', () => {
  test('ends the execution, its commands and the reason for all to see', async () => {
    const { id } = await started()
    const { status, body, text } = await post(`/${id}/cancel`, { reason: 'not needed', cascade: true })
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
    expect((await server().send('POST', `/api/executions/${id}/cancel`)).status).toBe(200)
  })

  test('of a finished execution is refused', async () => {
    const { id } = await finished(2)
    expect(await post(`/${id}/cancel`, {})).toMatchObject({
      status: 422,
      body: { error: 'Cannot cancel execution in COMPLETED state', code: 'invalid' },
    })
  })

  test.each([{ reason: 5 }, { cascade: 'yes' }])('refuses the body %j', async (body) => {
    const { id } = await started()
    expect((await post(`/${id}/cancel`, body)).status).toBe(422)
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
