import { beforeAll, describe, expect, test } from 'vitest'
import type { LeasedCommand } from '../../contract/command.ts'
import type { JsonObject } from '../../contract/json.ts'
import { INTERNAL_TOKEN } from '../../../test/support/api-server.ts'
import { eventTypes, historyProblems } from '../../../test/support/history.ts'
import { createScriptedWorker } from '../../../test/support/scripted-worker.ts'
import type { Response } from '../../../test/support/server.ts'
import { useApiServer } from '../../../test/support/server-file.ts'

const ALLOWED = { authorization: `Bearer ${INTERNAL_TOKEN}` }
const PLAYBOOK = `apiVersion: noetl.io/v2
kind: Playbook
metadata: { name: job, path: tests/job }
workflow:
  - step: start
    tool: { kind: python, code: "result = 1" }
    next:
      arcs:
        - { step: after, when: "{{ output.status != 'error' }}" }
        - { step: cleanup, when: "{{ output.status == 'error' }}" }
  - { step: after, tool: { kind: noop, result: "{{ start }}" } }
  - { step: cleanup, tool: { kind: noop, result: "{{ start }}" } }
`

const server = useApiServer()
beforeAll(async () => {
  await server().register(PLAYBOOK)
})

const callback = (id: string, step: string, body: object): Promise<Response> =>
  server().send('POST', `/api/internal/container-callback/${id}/${step}`, body, ALLOWED)

/** An execution that is alone with its first step. */
const started = async (): Promise<string> => {
  await createScriptedWorker(server(), 'w0').drain()
  return server().execute('tests/job')
}

/** One whose first step waits for a container. */
const parked = async (): Promise<string> => {
  const id = await started()
  const [command] = (await createScriptedWorker(server(), 'w1').lease()) as [LeasedCommand]
  const answer = await server().post('/api/events', {
    execution_id: id,
    step: 'start',
    event_type: 'command.completed',
    payload: { command_id: command.commandId, status: 'pending', pending_callback: true },
    lease_token: command.leaseToken,
    worker_id: 'w1',
  })
  expect(answer.status).toBe(200)
  return id
}

const stepsEntered = async (id: string): Promise<readonly unknown[]> => {
  const { events } = (await server().get(`/api/executions/${id}/events`)).body
  return (events as JsonObject[])
    .filter((event) => event['event_type'] === 'step.enter')
    .map((event) => event['node_name'])
}

describe('the callback of a container', () => {
  test('ends the step that waits for it, and the execution moves on', async () => {
    const id = await parked()
    const answer = await callback(id, 'start', {
      state: 'succeeded',
      job_name: 'job-1',
      exit_code: 0,
      stdout_uri: 'gs://o',
    })
    expect(answer.status).toBe(202)
    expect(answer.body).toEqual({ status: 'accepted_in_flight', event_id: expect.any(String) as string })
    expect(await stepsEntered(id)).toEqual(['start', 'after'])
    await createScriptedWorker(server(), 'w1').drain()
    expect((await server().get(`/api/executions/${id}/status`)).body['status']).toBe('COMPLETED')
    expect((await server().get(`/api/executions/${id}/result?step=start`)).body['data']).toEqual({
      state: 'succeeded',
      job_name: 'job-1',
      exit_code: 0,
      stdout_uri: 'gs://o',
    })
    expect(await eventTypes(server().core.shards.of(id), id)).toContain('call.done')
    expect(await historyProblems(server().core.shards.of(id), id)).toEqual([])
  })

  test.each(['failed', 'failed_image_pull', 'failed_oom', 'failed_node_lost', 'failed_timeout'])(
    'that says %s is an error that the playbook may route',
    async (state) => {
      const id = await parked()
      expect(
        (await callback(id, 'start', { state, job_name: 'job-1', reason: 'bad luck' })).body['status'],
      ).toBe('accepted_in_flight')
      expect(await stepsEntered(id)).toEqual(['start', 'cleanup'])
    },
  )

  test('that comes twice, late, or for nobody is stale and changes nothing', async () => {
    const id = await parked()
    const ok = { state: 'succeeded', job_name: 'job-1' }
    await callback(id, 'start', ok)
    const before = await eventTypes(server().core.shards.of(id), id)
    for (const [execution, step] of [
      [id, 'start'],
      [id, 'nowhere'],
      ['12345', 'start'],
    ] as const) {
      const { status, body } = await callback(execution, step, ok)
      expect([status, body]).toEqual([202, { status: 'accepted_stale' }])
    }
    expect(await eventTypes(server().core.shards.of(id), id)).toEqual(before)
    await server().post(`/api/executions/${id}/cancel`, {})
    expect((await callback(id, 'after', ok)).body).toEqual({ status: 'accepted_stale' })
  })

  test('that comes before the worker has let go counts when it does', async () => {
    const id = await started()
    const [command] = (await createScriptedWorker(server(), 'w1').lease()) as [LeasedCommand]
    expect((await callback(id, 'start', { state: 'succeeded', job_name: 'quick' })).body['status']).toBe(
      'accepted_in_flight',
    )
    await server().post('/api/events', {
      execution_id: id,
      step: 'start',
      event_type: 'command.completed',
      payload: { command_id: command.commandId, status: 'pending', pending_callback: true },
      worker_id: 'w1',
    })
    expect(await stepsEntered(id)).toEqual(['start', 'after'])
  })

  test('is refused when it makes no sense', async () => {
    const ok = { state: 'succeeded', job_name: 'job-1' }
    expect((await callback('x', 'start', ok)).status).toBe(422)
    expect((await callback('1', '%20', ok)).status).toBe(422)
    expect((await callback('1', 'start', { ...ok, state: 'exploded' })).status).toBe(422)
    expect((await callback('1', 'start', { state: 'succeeded' })).status).toBe(422)
    expect((await server().post('/api/internal/container-callback/1/start', ok)).status).toBe(403)
  })
})
