/** Batches that are sent again under a key; the numbers are those of event-batch.ts. */
import { describe, expect, test } from 'vitest'
import { nextTestId } from '../../../test/support/appends.ts'
import { historyProblems, readLog } from '../../../test/support/history.ts'
import { chain, fanOut, single } from '../../../test/support/playbooks.ts'
import { createScriptedWorker } from '../../../test/support/scripted-worker.ts'
import type { Response, TestServer } from '../../../test/support/server.ts'
import { useServers } from '../../../test/support/servers.ts'
import { claimBatch } from '../../store/event-batches.ts'
import { batchKey } from '../event-batch.ts'
import { createExpiryKeeper } from '../expiry-keeper.ts'

const servers = useServers()
const PATH = 'tests/keyed'

/** A step without a tool leads on to two with one. */
const ROUTED = `apiVersion: noetl.io/v2
kind: Playbook
metadata: { name: keyed, path: ${PATH} }
workflow:
  - { step: start, tool: { kind: noop }, next: { arcs: [{ step: fork }] } }
  - { step: fork, next: { spec: { mode: inclusive }, arcs: [{ step: a }, { step: b }] } }
  - { step: a, tool: { kind: noop }, next: { arcs: [{ step: last }] } }
  - { step: b, tool: { kind: noop }, next: { arcs: [{ step: last }] } }
  - { step: last, tool: { kind: noop } }
`

const stage = async (playbook = single(PATH)): Promise<{ server: TestServer; id: string }> => {
  const server = await servers.start()
  await server.register(playbook)
  return { server, id: await server.execute(PATH) }
}

const log = ({ core }: TestServer, id: string) => readLog(core.shards.of(id), id)
const note = (over: object = {}) => ({ step: 'start', event_type: 'note', ...over })
const done = (step = 'start') => ({ step, event_type: 'command.completed', payload: { result: { ok: 1 } } })

const send = (
  server: TestServer,
  execution_id: string,
  events: readonly object[],
  headers: Record<string, string> = { 'idempotency-key': 'k1' },
): Promise<Response> =>
  server.send('POST', '/api/events/batch', { execution_id, worker_id: 'w1', events }, headers)

/** As if the server had died before it could answer: what it wrote is there, the answer is not. */
const forgetAnswers = async ({ core }: TestServer, id: string): Promise<void> => {
  await core.shards.of(id).query('update noetl.event_batch set commands_generated = null')
}

const keysOf = async ({ databases: [database] }: TestServer): Promise<readonly unknown[]> =>
  (await database?.query('select key, event_ids, commands_generated from noetl.event_batch'))?.rows ?? []

describe('a batch with a key', () => {
  test('that is sent again is answered like the first time and writes nothing (3)', async () => {
    const { server, id } = await stage(fanOut(PATH, 3))
    const events = [note({ payload: { n: 1 } }), done(), note()]
    const first = await send(server, id, events)
    expect(first).toMatchObject({ status: 200, body: { commands_generated: 3 } })
    const written = await log(server, id)
    expect(written.filter(({ eventType }) => eventType === 'note')).toHaveLength(2)
    expect((await send(server, id, events)).text).toBe(first.text)
    const other = await servers.start()
    expect((await send(other, id, events)).text).toBe(first.text)
    expect((await send(other, id, events, { 'x-idempotency-key': 'k1' })).text).toBe(first.text)
    expect(await log(server, id)).toEqual(written)
    expect(first.body['event_ids']).toEqual(
      written
        .filter(({ eventType }) => eventType === 'note' || eventType === 'command.completed')
        .map(({ eventId }) => eventId),
    )
    expect(await historyProblems(server.core.shards.of(id), id)).toEqual([])
  })

  test('is as good as one without, and as small', async () => {
    const { server, id } = await stage()
    const keyed = await send(server, id, [note(), done('nowhere'), note({ event_id: nextTestId() })])
    const plain = await send(server, id, [note(), done('nowhere'), note({ event_id: nextTestId() })], {})
    const shape = ({ body }: Response) => (body['event_ids'] as string[]).map((each) => Number(each) > 0)
    expect(shape(keyed)).toEqual(shape(plain))
    expect(await keysOf(server)).toEqual([
      { key: 'k1', event_ids: (keyed.body['event_ids'] as unknown[]).map(String), commands_generated: 0 },
    ])
  })

  test('is refused when other events had the key, and the key keeps its batch (1)', async () => {
    const { server, id } = await stage()
    const first = await send(server, id, [note()])
    const written = await log(server, id)
    for (const events of [[note(), note()], [note({ payload: { n: 1 } })], [note({ event_id: '42' })]])
      expect(await send(server, id, events)).toMatchObject({
        status: 422,
        body: {
          code: 'invalid',
          error: `Idempotency-Key 'k1' was sent with other events of execution ${id} before; use another key for these`,
        },
      })
    expect(await log(server, id)).toEqual(written)
    expect((await send(server, id, [note()])).text).toBe(first.text)
  })

  test('meets no key of another execution (1)', async () => {
    const { server, id } = await stage()
    const other = await server.execute(PATH)
    await send(server, id, [note()])
    expect((await send(server, other, [note(), note()])).status).toBe(200)
    expect(await log(server, other)).toHaveLength((await log(server, id)).length + 1)
  })

  test('is written once when it is sent many times at once, to any server (3)', async () => {
    const { server, id } = await stage(fanOut(PATH, 4))
    const there = await servers.start()
    for (let round = 0; round < 10; round += 1) {
      const events = round === 5 ? [note(), done()] : [note(), note({ payload: { round } })]
      const key = { 'idempotency-key': `round-${round}` }
      const answers = await Promise.all(
        [server, there, server, there, there].map((each) => send(each, id, events, key)),
      )
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
      expect(answers[0]).toMatchObject({ status: 200, body: { commands_generated: round === 5 ? 4 : 0 } })
    }
    const written = await log(server, id)
    expect(written.filter(({ eventType }) => eventType === 'note')).toHaveLength(19)
    expect(written.filter(({ eventType }) => eventType === 'command.completed')).toHaveLength(1)
    expect(await historyProblems(server.core.shards.of(id), id)).toEqual([])
  })

  test('can be sent with other events at the same time; one of them wins (1)', async () => {
    const { server, id } = await stage()
    const there = await servers.start()
    const answers = await Promise.all([send(server, id, [note()]), send(there, id, [note(), note()])])
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 422]))
  })

  test('whose server died before it wrote is written by the next attempt (2)', async () => {
    const { server, id } = await stage()
    const events = [note(), note({ event_id: '77' })]
    const ids = [nextTestId(), '77']
    const key = await batchKey(id, 'k1', { worker_id: 'w1', events })
    await claimBatch(server.core.shards.of(id), key, ids)
    const { status, body } = await send(server, id, events)
    expect({ status, ids: (body['event_ids'] as unknown[]).map(String) }).toEqual({ status: 200, ids })
    expect((await log(server, id)).slice(-2).map(({ eventId }) => eventId)).toEqual(ids)
  })

  test('whose server died after it wrote is found to be written (2)', async () => {
    const { server, id } = await stage(fanOut(PATH, 3))
    const events = [note(), done(), note({ event_id: nextTestId() })]
    const first = await send(server, id, events)
    const written = await log(server, id)
    const next = await servers.start()
    for (const each of [server, next]) {
      await forgetAnswers(server, id)
      expect((await send(each, id, events)).text).toBe(first.text)
    }
    expect(await log(server, id)).toEqual(written)
  })

  test('counts on a second attempt what followed by way of steps without a tool, and nothing that came later', async () => {
    const { server, id } = await stage(ROUTED)
    const first = await send(server, id, [done()])
    expect(first.body['commands_generated']).toBe(2)
    await send(server, id, [done('a')], { 'idempotency-key': 'k2' })
    const worker = createScriptedWorker(server, 'w1')
    await worker.drain()
    await forgetAnswers(server, id)
    expect((await send(server, id, [done()])).text).toBe(first.text)
  })

  test('does not do on a second attempt what it did not do on the first (2)', async () => {
    const { server, id } = await stage(chain(PATH, 3))
    // Nothing of s2 is open when its end is reported; the report after it makes it begin.
    const events = [done('s2'), done('start')]
    const first = await send(server, id, events)
    expect(first.body).toMatchObject({ event_ids: [0, expect.anything()], commands_generated: 1 })
    const written = await log(server, id)
    await forgetAnswers(server, id)
    expect((await send(await servers.start(), id, events)).text).toBe(first.text)
    expect(await log(server, id)).toEqual(written)
  })

  test('that is refused writes nothing and may be sent again (4)', async () => {
    const { server, id } = await stage()
    const [command] = await createScriptedWorker(server, 'w0').lease()
    const events = [note(), { ...done(), payload: { command_id: command?.commandId } }]
    const before = await log(server, id)
    for (let again = 0; again < 2; again += 1)
      expect(await send(server, id, events)).toMatchObject({ status: 409, body: { code: 'lease_lost' } })
    expect(await log(server, id)).toEqual(before)
    await server.post('/api/commands/release', {
      worker_id: 'w0',
      leases: [{ execution_id: id, event_id: command?.eventId, lease_token: command?.leaseToken }],
    })
    const accepted = await send(server, id, events)
    expect(accepted.status).toBe(200)
    expect((await send(server, id, events)).text).toBe(accepted.text)
    expect((await log(server, id)).filter(({ eventType }) => eventType === 'note')).toHaveLength(1)
  })

  test('leaves nothing behind when it is empty, broken or of no execution', async () => {
    const { server, id } = await stage()
    expect((await send(server, id, [])).status).toBe(200)
    expect((await send(server, id, [note(), { step: 5 }])).status).toBe(422)
    expect(await send(server, '77', [note()])).toMatchObject({
      status: 404,
      body: { error: 'Execution not found: 77' },
    })
    expect(await keysOf(server)).toEqual([])
  })

  test.each(['', 'two words', 'k1, k1', 'ä', 'tab\there', 'x'.repeat(256)])(
    'needs one that is a key (%j)',
    async (key) => {
      const { server, id } = await stage()
      for (const name of ['Idempotency-Key', 'X-Idempotency-Key'])
        expect(await send(server, id, [note()], { [name]: key })).toMatchObject({
          status: 422,
          body: { error: `${name}: must be 1 to 255 visible ASCII characters` },
        })
      expect((await log(server, id)).some(({ eventType }) => eventType === 'note')).toBe(false)
    },
  )

  test('is remembered for a day', async () => {
    const { server, id } = await stage()
    await send(server, id, [note()], { 'idempotency-key': '"quoted"' })
    await send(server, id, [note()], { 'idempotency-key': 'old' })
    await server.core.shards
      .of(id)
      .query(`update noetl.event_batch set seen_at = now() - interval '25 hours' where key = 'old'`)
    expect(await createExpiryKeeper(server.core).runOnce()).toBe(1)
    expect(await keysOf(server)).toMatchObject([{ key: '"quoted"' }])
  })

  test('may be as large as any', async () => {
    const { server, id } = await stage()
    const events = Array.from({ length: 3000 }, (_, n) => note({ payload: { n, text: 'x'.repeat(400) } }))
    const first = await send(server, id, events)
    expect(first.status).toBe(200)
    await forgetAnswers(server, id)
    expect((await send(server, id, events)).text).toBe(first.text)
    expect((await log(server, id)).filter(({ eventType }) => eventType === 'note')).toHaveLength(3000)
  })
})
