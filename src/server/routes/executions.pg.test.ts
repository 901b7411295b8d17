import { describe, expect, test } from 'vitest'
import {
  CancellationCheckAnswer,
  ExecutionDetailAnswer,
  ExecutionList,
  ExecutionResultAnswer,
  ExecutionStatusAnswer,
} from '../../contract/api-executions.ts'
import type { JsonObject } from '../../contract/json.ts'
import { anAppend, nextTestId } from '../../../test/support/appends.ts'
import { chain, single } from '../../../test/support/playbooks.ts'
import { createScriptedWorker } from '../../../test/support/scripted-worker.ts'
import { useServer } from '../../../test/support/server-file.ts'
import { testSealer, textOf } from '../../../test/support/server.ts'
import { createAppender } from '../../store/appender.ts'

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
        start_time: expect.stringMatching(/^\d{4}-.*Z$/) as string,
        end_time: null,
        duration_seconds: expect.any(Number) as number,
        duration_human: expect.stringMatching(/s$/) as string,
        progress: 0,
        event_count: 3,
        parent_execution_id: null,
        origin_execution_id: null,
        origin_event: null,
        current_step: 'start',
        error: null,
      },
    ])
    expect(ExecutionList.parse(body)).toEqual(body)
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
    expect(await ids(`?search=${path.toUpperCase()}`)).toEqual([c, b, a, id])
    expect(await ids(`?search=${b}`)).toEqual([b])
    expect(await ids(`?search=${String(b).slice(0, 8)}&${here}&status=FAILED`)).toEqual([c])
    expect(await ids(`?${here}&catalog_id=${catalogId}&status=FAILED`)).toEqual([c])
    expect(await ids(`?catalog_id=${catalogId}&path=`)).toHaveLength(4)
  })

  test('is cut by time', async () => {
    const { id, catalogId } = await started()
    const [item] = (await get(`?catalog_id=${catalogId}`)).body as unknown as [JsonObject]
    const startedAt = textOf(item['started_at'])
    const later = new Date(Date.parse(startedAt) + 1).toISOString()
    const here = `?catalog_id=${catalogId}`
    expect(await ids(`${here}&started_after=${startedAt}`)).toEqual([id])
    expect(await ids(`${here}&started_after=${later}`)).toEqual([])
    expect(await ids(`${here}&started_before=${startedAt}`)).toEqual([])
    expect(await ids(`${here}&started_before=${later}`)).toEqual([id])
    const shifted = encodeURIComponent(startedAt.replace('Z', '+00:00'))
    expect(await ids(`${here}&started_after=${shifted}`)).toEqual([id])
  })

  test('goes on behind a cursor, whatever starts meanwhile', async () => {
    const { path, id, catalogId } = await started()
    const more = [id]
    for (let count = 0; count < 4; count += 1) more.unshift(await server().execute(path))
    const first = await get(`?catalog_id=${catalogId}&limit=2`)
    const cursor = textOf(first.headers['x-next-cursor'] as string)
    expect(cursor).toBe(more[1])
    expect(first.headers['link']).toBe(
      `</api/executions?catalog_id=${catalogId}&limit=2&cursor=${cursor}>; rel="next"`,
    )
    await server().execute(path)
    expect(await ids(`?catalog_id=${catalogId}&limit=2&cursor=${cursor}`)).toEqual([more[2], more[3]])
    const last = await get(`?catalog_id=${catalogId}&limit=1&cursor=${more[3]}`)
    expect(last.body).toMatchObject([{ execution_id: id }])
    expect(last.headers).not.toHaveProperty('x-next-cursor')
    expect(last.headers).not.toHaveProperty('link')
  })

  test('has numbered pages, too', async () => {
    const { path, id, catalogId } = await started()
    const more = [id]
    for (let count = 0; count < 4; count += 1) more.unshift(await server().execute(path))
    const here = `?catalog_id=${catalogId}`
    expect(await ids(`${here}&page=1&page_size=2`)).toEqual(more.slice(0, 2))
    expect(await ids(`${here}&page=3&page_size=2`)).toEqual(more.slice(4))
    expect(await ids(`${here}&page=2`)).toEqual([])
    expect(await ids(`${here}&page_size=3`)).toEqual(more.slice(0, 3))
    const { headers } = await get(`${here}&page=2&page_size=2`)
    expect(headers['link']).toBe(
      `</api/executions?catalog_id=${catalogId}&page_size=2&cursor=${more[3]}>; rel="next"`,
    )
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
    'search=%00',
    'search=x&path=y',
    'cursor=x',
    'cursor=1&offset=1',
    'cursor=1&page=1',
    'page=1&offset=1',
    'page=0',
    'page_size=0',
    'page=2000&page_size=100',
    'offset=100001',
    'started_after=yesterday',
    'started_before=2026-01-01',
    'started_after=2026-13-01T00:00:00Z',
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
    expect(body).toMatchObject({
      pagination: {
        page: 1,
        page_size: 2000,
        total_events: 12,
        total_pages: 1,
        has_next: false,
        has_prev: false,
        truncated: false,
      },
      events_endpoint: `/api/executions/${id}/events`,
      progress: 100,
      end_time: body['completed_at'],
    })
    expect(ExecutionDetailAnswer.safeParse(body).error).toBeUndefined()
  })

  test('in detail shows the page of events that is asked for', async () => {
    const { id } = await finished(2)
    const positions = async (query: string): Promise<unknown> => {
      const { body } = await get(`/${id}?${query}`)
      return (body['events'] as JsonObject[]).map((event) => event['position'])
    }
    expect(await positions('page=1&page_size=5')).toEqual([8, 9, 10, 11, 12])
    expect(await positions('page=3&page_size=5')).toEqual([1, 2])
    expect(await positions('page=4&page_size=5')).toEqual([])
    expect(await positions('include_events=false')).toEqual([])
    expect(await positions('event_type=command.completed')).toEqual([5, 10])
    expect(await positions('event_type=command.completed,step.exit&page=2&page_size=3')).toEqual([5])
    expect((await get(`/${id}?page=2&page_size=5`)).body['pagination']).toEqual({
      page: 2,
      page_size: 5,
      total_events: 12,
      total_pages: 3,
      has_next: true,
      has_prev: true,
      truncated: false,
    })
    expect((await get(`/${id}?include_events=false`)).body).toMatchObject({
      workload: {},
      pagination: { total_events: 12 },
    })
    const all = (await get(`/${id}`)).body['events'] as JsonObject[]
    expect(await positions(`since_event_id=${textOf(all[8]?.['event_id'])}`)).toEqual([10, 11, 12])
    for (const query of [
      'page=0',
      'page_size=0',
      'page_size=5001',
      'since_event_id=x',
      'include_events=perhaps',
    ])
      expect((await get(`/${id}?${query}`)).status).toBe(422)
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
    const { id, path } = await started(3)
    const worker = createScriptedWorker(server(), 'w1')
    expect((await get(`/${id}/status`)).body).toEqual({
      execution_id: id,
      status: 'RUNNING',
      current_step: 'start',
      progress: { total_steps: 1, completed_steps: 0, running_steps: 1, failed_steps: 0 },
      is_cancelled: false,
      completed: false,
      failed: false,
      completion_inferred: false,
      completed_steps: [],
      variables: {},
      path,
      start_time: expect.stringMatching(/Z$/) as string,
      end_time: null,
      duration_seconds: expect.any(Number) as number,
      duration_human: expect.stringMatching(/s$/) as string,
      error: null,
    })
    await server().post(`/api/vars/${id}`, { variables: { region: 'north', api_key: 'hidden' } })
    for (let [command] = await worker.lease(); command; [command] = await worker.lease())
      await worker.complete(command)
    const { body } = await get(`/${id}/status`)
    expect(body).toMatchObject({
      status: 'COMPLETED',
      current_step: 's3',
      completed: true,
      progress: { total_steps: 3, completed_steps: 3, running_steps: 0, failed_steps: 0 },
      completed_steps: ['start', 's2', 's3'],
      variables: { region: 'north', api_key: '[REDACTED]' },
      end_time: (await get(`/${id}`)).body['completed_at'],
    })
    expect(ExecutionStatusAnswer.parse(body)).toEqual(body)
    expect((await get(`/${id}`)).body['status']).toBe('COMPLETED')
    expect((await get('?limit=100')).body).toEqual(
      expect.arrayContaining([expect.objectContaining({ execution_id: id, status: 'COMPLETED' })]),
    )
  })

  test('that came from elsewhere without an end says that its end is inferred', async () => {
    const [open, closed] = [nextTestId(), nextTestId()]
    const appender = createAppender({ database: server().core.shards.cluster, sealer: testSealer })
    const over = { execution: { status: 'COMPLETED' as const } }
    await appender.append(anAppend(open, 0, [{ eventType: 'step.exit' }], over))
    await appender.append(anAppend(closed, 0, [{ eventType: 'playbook.completed' }], over))
    await server().core.shards.cluster.query(
      'update noetl.execution set imported = true where execution_id = any ($1::bigint[])',
      [[open, closed]],
    )
    expect((await get(`/${open}/status`)).body).toMatchObject({ completed: true, completion_inferred: true })
    expect((await get(`/${closed}/status`)).body).toMatchObject({
      completed: true,
      completion_inferred: false,
    })
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

describe('whether it was cancelled', () => {
  test('is told for every execution, also for one that does not exist', async () => {
    const { id } = await started()
    const running = await get(`/${id}/cancellation-check`)
    expect(running).toMatchObject({
      status: 200,
      body: {
        execution_id: id,
        is_cancelled: false,
        status: 'RUNNING',
        event_type: 'command.issued',
        cancelled: false,
        completed: false,
        failed: false,
      },
    })
    expect(CancellationCheckAnswer.parse(running.body)).toEqual(running.body)
    await post(`/${id}/cancel`, {})
    expect((await get(`/${id}/cancellation-check`)).body).toMatchObject({
      is_cancelled: true,
      cancelled: true,
      status: 'CANCELLED',
      event_type: 'playbook_cancelled',
    })
    expect(await get('/77/cancellation-check')).toMatchObject({
      status: 200,
      body: { execution_id: 77, is_cancelled: false, status: null, event_type: null },
    })
    expect((await get('/x/cancellation-check')).status).toBe(400)
  })
})

describe('its result', () => {
  test('is that of the last step, or of the one that is asked for', async () => {
    const { id } = await finished(2)
    const { status, body } = await get(`/${id}/result`)
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { execution_id: id, status: 'COMPLETED', error: null },
    })
    expect(ExecutionResultAnswer.parse(body)).toEqual(body)
    expect((await get(`/${id}/result?step=start&wait_ms=10&include_secrets=true`)).status).toBe(200)
    expect((await get('/77/result')).status).toBe(404)
    for (const query of ['wait_ms=-1', 'wait_ms=60001', 'include_secrets=perhaps'])
      expect((await get(`/${id}/result?${query}`)).status).toBe(422)
  })
})
