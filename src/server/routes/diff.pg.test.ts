/** Two executions compared over HTTP: where the one went another way than the other. */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../contract/json.ts'
import { aFailed, DIAMOND, diamond, NOOP, ok, work } from '../../../test/support/diamond.ts'
import { textOf } from '../../../test/support/server.ts'
import { useServers } from '../../../test/support/servers.ts'

const servers = useServers()

describe('a diff', () => {
  test('finds where a rerun went another way than its origin', async () => {
    const server = await servers.start()
    const origin = await aFailed(server, 'a', { api_key: 'secret-one' })
    const { body } = await server.post(`/api/executions/${origin}/rerun`, {
      workload: { api_key: 'secret-two', limit: 6 },
    })
    const id = textOf(body['execution_id'])
    await work(server, ok)
    const answer = await server.get(`/api/executions/diff?a=${origin}&b=${id}`)
    expect(answer.body).toMatchObject({
      same: false,
      a: { execution_id: origin, status: 'FAILED' },
      b: { execution_id: id, status: 'COMPLETED', origin_execution_id: origin },
      first_difference: { aspect: 'workload', text: 'workload.limit is 5 and 6' },
      workload: [
        { path: 'limit', a: 5, b: 6 },
        { path: 'api_key', a: '[REDACTED]', b: '[REDACTED]' },
      ],
      steps_differing: 2,
    })
    expect(answer.text).not.toContain('secret-')
    const again = await server.post(`/api/executions/${id}/rerun`, { from: { step: 'b' } })
    await work(server, ok)
    const same = await server.get(`/api/executions/diff?a=${id}&b=${textOf(again.body['execution_id'])}`)
    expect(same.body).toMatchObject({ same: true, first_difference: null })
    expect(await server.get(`/api/executions/diff?a=${id}&b=1`)).toMatchObject({ status: 404 })
    expect(await server.get(`/api/executions/diff?a=${id}`)).toMatchObject({ status: 422 })
  })

  test('takes versions that say the same for the same, and others not', async () => {
    const server = await servers.start()
    const ran = async (text: string): Promise<string> => {
      await server.register(text)
      const id = await server.execute(DIAMOND, {})
      await work(server, ok)
      return id
    }
    const first = await ran(diamond())
    const commented = await ran(`# written again\n${diamond()}`)
    const changed = await ran(diamond(`  - {step: more, ${NOOP}}\n`))
    const differing = async (a: string, b: string): Promise<JsonObject> =>
      (await server.get(`/api/executions/diff?a=${a}&b=${b}`)).body
    expect(await differing(first, commented)).toMatchObject({
      same: true,
      same_definition: true,
      a: { version: 1 },
      b: { version: 2 },
    })
    expect(await differing(first, changed)).toMatchObject({
      same: false,
      same_definition: false,
      first_difference: { aspect: 'definition', text: `${DIAMOND} version 1 and ${DIAMOND} version 3` },
    })
  })
})
