import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { LeasedCommand } from '../../contract/command.ts'
import type { EventRecord } from '../../contract/event.ts'
import type { Json, JsonObject } from '../../contract/json.ts'
import type { LargeData } from '../../contract/large-data.ts'
import { historyProblems, readLog } from '../../../test/support/history.ts'
import { aNote } from '../../../test/support/inputs.ts'
import { createScriptedWorker } from '../../../test/support/scripted-worker.ts'
import type { TestServer } from '../../../test/support/server.ts'
import { useServers } from '../../../test/support/servers.ts'
import { createLocalControlPlane } from '../local-control-plane.ts'

const servers = useServers()
const PATH = 'tests/large'
const WORK = 'tool: {kind: python, code: x}'

/** About 2 MB, with something to hide. */
const BIG: JsonObject = {
  count: 20_000,
  facts: { first: 'a', password: 'hunter2' },
  rows: Array.from({ length: 20_000 }, (_, id) => ({ id, text: `row ${id} `.padEnd(80, '.') })),
}
const TEXT = JSON.stringify(BIG)
const LENGTH = Buffer.byteLength(TEXT)
const SHA256 = createHash('sha256').update(TEXT).digest('hex')

const largeOf = (text: string): LargeData => ({ json: Buffer.from(text) })

const begin = async (steps: string): Promise<{ server: TestServer; id: string }> => {
  const server = await servers.start()
  await server.register(
    `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: { name: large, path: ${PATH} }\nworkflow:\n${steps}`,
  )
  return { server, id: await server.execute(PATH) }
}

const leaseOne = async (server: TestServer): Promise<LeasedCommand> => {
  const [command, ...more] = await createScriptedWorker(server, 'w1').lease(5)
  expect(more).toEqual([])
  return command as LeasedCommand
}

const report = (server: TestServer, command: LeasedCommand, large: LargeData): Promise<'ok' | 'lost'> => {
  const { executionId, eventId, commandId, step, leaseToken, attempt } = command
  const facts = { executionId, eventId, commandId, step, leaseToken, attempt, workerId: 'w1', durationMs: 1 }
  return createLocalControlPlane(server.core, server.leases).report({ ...facts, outcome: 'ok', large })
}

const logOf = (server: TestServer, id: string): Promise<readonly EventRecord[]> =>
  readLog(server.core.shards.of(id), id)

interface Reported {
  readonly context: JsonObject & { readonly data: JsonObject }
  readonly reference: JsonObject
}

const completionOf = async (server: TestServer, id: string): Promise<Reported> => {
  const found = (await logOf(server, id)).find(({ eventType }) => eventType === 'command.completed')
  return found?.result?.context?.['result'] as unknown as Reported
}

const rowCount = async (server: TestServer, id: string): Promise<number> => {
  const { rows } = await server.core.shards
    .of(id)
    .query('select 1 from noetl.result where execution_id = $1', [id])
  return rows.length
}

const READ = `
  - {step: start, tool: {kind: python, code: x, output_select: [facts.first, 'rows[19999].id', rows]}, next: b}
  - {step: b, tool: {kind: python, code: x, input: {it: '{{ start.first }}', id: '{{ start.id }}'}}, next: c}
  - {step: c, tool: {kind: python, code: x, input: {n: '{{ start.rows | length }}', last: '{{ start.rows[-1].text }}'}}}`

describe('data that a tool gives as bytes', () => {
  test('has the marker that it would have as an object', async () => {
    const { server, id } = await begin(READ)
    const command = await leaseOne(server)
    const other = await server.execute(PATH)
    await createScriptedWorker(server, 'w1').complete(await leaseOne(server), BIG)
    expect(await report(server, command, largeOf(TEXT))).toBe('ok')
    const [bytes, object] = [await completionOf(server, id), await completionOf(server, other)]
    const { _ref: bytesRef, ...bytesMarker } = bytes.context.data
    const { _ref: objectRef, ...objectMarker } = object.context.data
    expect(bytesMarker).toEqual(objectMarker)
    expect(bytesMarker).toMatchObject({
      count: 20_000,
      first: 'a',
      id: 19_999,
      rows: [{ id: 0 }],
      _size_bytes: LENGTH,
      _store: 'disk',
    })
    expect(bytesMarker['_preview']).not.toContain('hunter2')
    expect(bytes.reference).toEqual({ ...object.reference, ref: bytesRef })
    expect(bytes.reference).toMatchObject({ ref: bytesRef, meta: { bytes: LENGTH, sha256: SHA256 } })
    expect(objectRef).toMatch(/^noetl:/)
  })

  test('is read by later steps, from its marker and whole, also by a server that never saw it', async () => {
    const { server, id } = await begin(READ)
    await report(server, await leaseOne(server), largeOf(TEXT))
    const b = await leaseOne(server)
    expect(b.context.args).toEqual({ it: 'a', id: 19_999 })
    const other = await servers.start()
    await createScriptedWorker(other, 'w1').complete(b, null)
    const c = await leaseOne(other)
    expect(c.context.args).toEqual({ n: 20_000, last: 'row 19999 '.padEnd(80, '.') })
    expect(await rowCount(server, id)).toBe(1)
    expect(await historyProblems(server.core.shards.of(id), id)).toEqual([])
  })

  test('is at hand for the server that stored it', async () => {
    const { server, id } = await begin(`
  - {step: start, ${WORK}, next: b}
  - {step: b, tool: {kind: python, code: x, input: {n: '{{ start.rows | length }}'}}}`)
    const command = await leaseOne(server)
    const step = report(server, command, largeOf(TEXT))
    expect(await step).toBe('ok')
    expect((await leaseOne(server)).context.args).toEqual({ n: 20_000 })
    expect(await rowCount(server, id)).toBe(1)
  })

  test('is stored once though its report is sent twice', async () => {
    const { server, id } = await begin(READ)
    const [command, large] = [await leaseOne(server), largeOf(TEXT)]
    expect(await Promise.all([1, 2].map(() => report(server, command, large)))).toContain('ok')
    await report(server, command, large)
    expect((await completionOf(server, id)).reference['ref']).toMatch(/^noetl:/)
    expect(await rowCount(server, id)).toBe(1)
  })

  test('exports what it holds for the execution, whole', async () => {
    const { server } = await begin(`
  - {step: start, ${WORK}, next: b}
  - {step: b, tool: {kind: python, code: x, input: {list: '{{ ctx.list }}'}}}`)
    const data = { ...BIG, _context_updates: { 'ctx.list': [1, 2, 3] } }
    await report(server, await leaseOne(server), largeOf(JSON.stringify(data)))
    expect((await leaseOne(server)).context.args).toEqual({ list: [1, 2, 3] })
  })

  test('of an iteration is in the log, and nowhere else', async () => {
    const { server, id } = await begin(`
  - {step: start, loop: {in: [1], iterator: item}, ${WORK}, next: b}
  - {step: b, tool: {kind: python, code: x, input: {n: '{{ start.results[0].rows | length }}'}}}`)
    await report(server, await leaseOne(server), largeOf(TEXT))
    expect((await leaseOne(server)).context.args).toEqual({ n: 20_000 })
    expect(await rowCount(server, id)).toBe(0)
  })

  test('that is no JSON is refused, and so is that of an execution nobody knows', async () => {
    const { server } = await begin(READ)
    const command = await leaseOne(server)
    const broken = largeOf(`${TEXT.slice(0, -1)},`)
    await expect(report(server, command, broken)).rejects.toMatchObject({ code: 'internal' })
    expect(await report(server, { ...command, executionId: '77' }, largeOf(TEXT))).toBe('lost')
  })
})

describe('large data over HTTP', () => {
  const put = (server: TestServer, id: string, body: unknown) =>
    server.send('PUT', `/api/result/${id}`, body, { 'content-type': 'application/json; charset=utf-8' })

  test('is stored, adopted by a report with what its step selects, and answered byte for byte', async () => {
    const { server, id } = await begin(READ)
    const { commandId, leaseToken, step } = await leaseOne(server)
    const stored = await put(server, id, { name: step, source_step: step, data: BIG, ttl: '1h' })
    expect(stored.body).toMatchObject({ bytes: LENGTH, sha256: SHA256, store: 'db', scope: 'execution' })
    const ref = stored.body['ref'] as string
    const context = {
      command_id: commandId,
      result: { status: 'success', context: { data: { _ref: ref } }, reference: { kind: 'result_ref', ref } },
    }
    const facts = { eventType: 'command.completed', step, commandId, leaseToken, workerId: 'w1', context }
    expect((await server.core.tell(id, aNote(facts))).reply.ok).toBe(true)
    const { context: kept } = await completionOf(server, id)
    expect(kept.data).toMatchObject({ first: 'a', id: 19_999, _ref: ref, _size_bytes: LENGTH })
    expect((await leaseOne(server)).context.args).toEqual({ it: 'a', id: 19_999 })
    const { text, headers } = await server.get(`/api/result/resolve?ref=${encodeURIComponent(ref)}`)
    expect(text).toBe(TEXT)
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
  })

  test.each<[string, (data: string) => string, number, RegExp]>([
    ['no JSON', (data) => `{"name":"x","data":${data},}`, 400, /^The body is not JSON/],
    ['no name', (data) => `{"data":${data}}`, 422, /name/],
    ['no data', (data) => `{"name":"x","date":${data}}`, 422, /data/],
    ['a list', (data) => `[${data},1]`, 422, /must be a JSON object/],
    [
      'too deep',
      (data) => `{"name":"x","data":[${data},${'['.repeat(600)}${']'.repeat(600)}]}`,
      422,
      /nested/,
    ],
  ])('is refused with %s', async (_case, bodyOf, status, message) => {
    const server = await servers.start()
    const answer = await put(server, '5', bodyOf(TEXT))
    expect(answer.status).toBe(status)
    expect(answer.body['error']).toMatch(message)
  })

  test('keeps the digits of ids, and of two members with one name the last', async () => {
    const server = await servers.start()
    const body = `{"name":"x","data":[1],"data":{"id":9223372036854775807,"rows":${TEXT}}}`
    const { body: stored } = await put(server, '5', body)
    const { text } = await server.get(
      `/api/result/resolve?ref=${encodeURIComponent(stored['ref'] as string)}`,
    )
    expect(text).toBe(`{"id":"9223372036854775807","rows":${TEXT}}`)
  })

  test('cannot be asked for by the names of its readings', async () => {
    const server = await servers.start()
    for (const type of ['application/x-noetl-large-json', 'application/x-noetl-result']) {
      const answer = await server.send(
        'PUT',
        '/api/result/5',
        { name: 'x', data: 1 },
        { 'content-type': type },
      )
      expect(answer.status).toBe(415)
    }
  })

  test('in other bodies is read like small data', async () => {
    const { server, id } = await begin(READ)
    const { commandId, leaseToken, step } = await leaseOne(server)
    const payload = { command_id: commandId, result: { status: 'success', context: { data: BIG } } }
    const event = {
      execution_id: id,
      step,
      event_type: 'command.completed',
      payload,
      lease_token: leaseToken,
    }
    const answer = await server.post('/api/events', { ...event, worker_id: 'w1' })
    expect(answer.status).toBe(200)
    expect((await completionOf(server, id)).context.data).toMatchObject({ first: 'a', _size_bytes: LENGTH })
    expect((await server.send('POST', '/api/events', `{"a":${TEXT}`)).body['error']).toMatch(/not JSON/)
  })

  test('is shown without secrets where the caller may not see them', async () => {
    const server = await servers.start()
    const shown = await server.core.largeResults.thread.redact(Buffer.from(TEXT))
    const expected = { ...BIG, facts: { first: 'a', password: '[REDACTED]' } } satisfies Json
    expect(shown.toString()).toBe(JSON.stringify(expected))
  })
})
