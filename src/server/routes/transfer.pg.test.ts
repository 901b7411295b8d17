/** Executions as files, between servers that share nothing. Numbers are those of the header of import.ts. */
import { describe, expect, test } from 'vitest'
import { createFamily, familyPlaybook } from '../../../test/support/family.ts'
import {
  foldedText,
  historyProblems,
  storedDifferences,
  stuckExecutions,
} from '../../../test/support/history.ts'
import { createScriptedWorker } from '../../../test/support/scripted-worker.ts'
import type { Response, TestServer } from '../../../test/support/server.ts'
import { textOf } from '../../../test/support/server.ts'
import { useServers } from '../../../test/support/servers.ts'

const here = useServers()
const there = useServers()

const NOOP = 'tool: {kind: noop}'
const PATH = 'tests/travel'
const PLAYBOOK = familyPlaybook(
  PATH,
  `
  - {step: start, ${NOOP}, next: b}
  - {step: b, tool: {kind: noop, input: {size: '{{ start.long | length }}', n: '{{ workload.n }}'}}, next: c}
  - {step: c, ${NOOP}}`,
  { n: 1 },
)

/** Stops before the last step; the first one has a result that is stored apart. */
const begin = async (server: TestServer, payload = {}): Promise<string> => {
  await server.register(PLAYBOOK)
  const id = await server.execute(PATH, payload)
  const worker = createScriptedWorker(server, 'w1')
  const [first] = await worker.lease()
  if (first) await worker.complete(first, { long: 'x'.repeat(150_000), 'ünï\u0000code': '\ud800' })
  return id
}

const exported = async (server: TestServer, id: string, query = ''): Promise<string> => {
  const { status, text, headers } = await server.get(`/api/executions/${id}/export${query}`)
  expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'application/x-ndjson' })
  return text
}

/** Differences of two files as something that can be read. */
const shape = (file: string): readonly string[] =>
  file.split('\n').map((line) => `${line.length} ${line.slice(0, 120)} … ${line.slice(-80)}`)

const imported = (server: TestServer, file: string, query = ''): Promise<Response> =>
  server.send('POST', `/api/executions/import${query}`, file, { 'content-type': 'application/x-ndjson' })

describe('an exported execution', () => {
  test('is the same on another server: shown, replayed, explained, and exported again', async () => {
    const [one, two] = [await here.start(), await there.start()]
    const id = await begin(one)
    await createScriptedWorker(one, 'w1').drain()
    const file = await exported(one, id, '?include_secrets=true')
    expect(await imported(two, file)).toMatchObject({
      status: 200,
      body: { status: 'imported', execution_id: id, executions: [id], resumed_as: null, results: 1 },
    })
    expect(shape(await exported(two, id, '?include_secrets=true'))).toEqual(shape(file))
    for (const path of ['status', 'state', 'state?as_of_position=5', 'explain?step=b', 'result']) {
      const [mine, other] = [
        await one.get(`/api/executions/${id}/${path}`),
        await two.get(`/api/executions/${id}/${path}`),
      ]
      expect({ path, status: other.status, body: other.body }).toEqual({ path, status: 200, body: mine.body })
    }
    expect(await foldedText(two.core.shards.of(id), id)).toBe(await foldedText(one.core.shards.of(id), id))
    expect(await storedDifferences(two.core)).toEqual([])
    // Its playbook is nobody's newest version.
    expect(await two.post('/api/execute', { path: PATH })).toMatchObject({ status: 404 })
  })

  test('has no secrets, unless an admin asks for them', async () => {
    const [one, two] = [await here.start(), await there.start()]
    const id = await begin(one, { password: 'hunter2' })
    const file = await exported(one, id)
    expect(file).not.toContain('hunter2')
    expect(file.trimEnd().split('\n').at(-1)).toContain('"hidden":1')
    expect(await exported(one, id, '?include_secrets=true')).toContain('hunter2')
    expect(await imported(two, file)).toMatchObject({ status: 200 })
    expect(shape(await exported(two, id))).toEqual(shape(file))
    expect(await imported(two, file, '?resume=true')).toMatchObject({
      status: 422,
      body: { error: expect.stringContaining('exported without secrets and 1 of its lines miss values') },
    })
    // Nor is it run with what stands in the place of a secret.
    expect(await two.post(`/api/executions/${id}/rerun`, {})).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('would begin with workload.password;') },
    })
    const rerun = await two.post(`/api/executions/${id}/rerun`, { workload: { password: 'another' } })
    expect(rerun).toMatchObject({ status: 200 })
  })

  test('runs no further where it was imported (4)', async () => {
    const [one, two] = [await here.start(), await there.start()]
    const id = await begin(one)
    await imported(two, await exported(one, id))
    const refusal = {
      status: 409,
      body: { error: `Execution ${id} was imported and is only shown here; rerun it instead` },
    }
    expect(await two.post(`/api/executions/${id}/cancel`, {})).toMatchObject(refusal)
    expect(await two.post(`/api/executions/${id}/retry`, {})).toMatchObject(refusal)
    expect(await createScriptedWorker(two, 'w2').lease()).toEqual([])
    expect(await stuckExecutions(two.databases)).toEqual([])
  })

  test('goes on as an execution of its own when it is resumed (4)', async () => {
    const [one, two] = [await here.start(), await there.start()]
    const id = await begin(one)
    const { body } = await imported(two, await exported(one, id, '?include_secrets=true'), '?resume=true')
    const own = textOf(body['resumed_as'])
    expect(own).not.toBe(id)
    const worker = createScriptedWorker(two, 'w2')
    const [command] = await worker.lease()
    expect(command).toMatchObject({ executionId: own, step: 'b', context: { args: { size: 150_000, n: 1 } } })
    if (command) await worker.complete(command)
    await worker.drain()
    expect((await two.get(`/api/executions/${own}/state`)).body).toMatchObject({
      status: 'COMPLETED',
      origin: { execution_id: id },
    })
    expect(await historyProblems(two.core.shards.of(own), own)).toEqual([])
  })

  test('that completed cannot be resumed, and nothing of it is imported', async () => {
    const [one, two] = [await here.start(), await there.start()]
    const id = await begin(one)
    await createScriptedWorker(one, 'w1').drain()
    const file = await exported(one, id)
    expect(await imported(two, file, '?resume=true')).toMatchObject({ status: 409 })
    expect(await two.get(`/api/executions/${id}`)).toMatchObject({ status: 404 })
  })

  test('takes its children along when asked to', async () => {
    const [one, two] = [await here.start(), await there.start()]
    const family = createFamily(one)
    await one.register(familyPlaybook('tests/child', `\n  - {step: start, ${NOOP}}`))
    await one.register(
      familyPlaybook(
        'tests/parent',
        `\n  - {step: start, tool: {kind: playbook, path: tests/child, return_result: true}}`,
      ),
    )
    const id = await one.execute('tests/parent')
    await family.settle()
    const [child = ''] = await family.children(id)
    expect(await exported(one, id)).not.toContain(`"execution","execution_id":"${child}"`)
    const file = await exported(one, id, '?with_children=true')
    expect((await imported(two, file)).body).toMatchObject({ executions: [id, child] })
    expect(shape(await exported(two, id, '?with_children=true'))).toEqual(shape(file))
    expect(await storedDifferences(two.core)).toEqual([])
  })
})

describe('importing again', () => {
  test('what is here changes nothing (2)', async () => {
    const [one, two] = [await here.start(), await there.start()]
    const id = await begin(one)
    const file = await exported(one, id)
    await imported(two, file)
    expect(await imported(two, file)).toMatchObject({ status: 200, body: { status: 'exists' } })
    // Also where it came from.
    expect(await imported(one, file)).toMatchObject({ status: 200, body: { status: 'exists' } })
  })

  test('another log under the same id is refused (2)', async () => {
    const [one, two] = [await here.start(), await there.start()]
    const id = await begin(one)
    const early = await exported(one, id)
    await createScriptedWorker(one, 'w1').drain()
    await imported(two, await exported(one, id))
    await two.core.shards
      .of(id)
      .query('update noetl.event set event_id = event_id + 1 where execution_id = $1 and position = 3', [id])
    expect(await imported(two, early)).toMatchObject({
      status: 409,
      body: { error: `Execution ${id} is here already, with another log` },
    })
  })

  test('a version that another text has here gets a number of its own', async () => {
    const [one, two] = [await here.start(), await there.start()]
    await two.register(familyPlaybook(PATH, `\n  - {step: start, ${NOOP}}`))
    const id = await begin(one)
    await imported(two, await exported(one, id))
    expect((await two.get(`/api/executions/${id}/state`)).body['steps']).toHaveLength(3)
    const own = await two.execute(PATH)
    expect((await two.get(`/api/executions/${own}/state`)).body['steps']).toHaveLength(1)
  })
})

describe('a damaged file (1)', () => {
  const cases: readonly [string, (lines: string[]) => string[], string][] = [
    ['is cut off', (lines) => lines.slice(0, -1), 'it stops after line'],
    [
      'is cut within a line',
      (lines) => [...lines.slice(0, 5), '{"type":"event","exec'],
      'line 6 is not JSON',
    ],
    ['lost a line', (lines) => lines.toSpliced(5, 1), 'goes from position'],
    [
      'was changed',
      (lines) => lines.map((line) => line.replace('"node_name":"b"', '"node_name":"x"')),
      'its digest is another one',
    ],
    ['has a line too many', (lines) => [...lines, lines[3] ?? ''], 'stands after the end'],
    [
      'is of a later version',
      (lines) =>
        lines.map((line) => line.replace('"noetl.execution","version":1', '"noetl.execution","version":9')),
      'it has version 9 of the format; this server reads version 1',
    ],
    ['is something else', () => ['{"hello": "world"}'], 'it does not begin with the header of an export'],
    ['is empty', () => [], 'it is empty'],
    [
      'has a line nobody knows',
      (lines) => lines.toSpliced(3, 0, '{"type":"surprise"}'),
      'line 4 is of no known type',
    ],
    [
      'has a broken event',
      (lines) => lines.map((line) => line.replace('"event_type":"step.enter"', '"event_type":7')),
      '(event): event_type',
    ],
  ]

  test('is refused and leaves nothing', async () => {
    const [one, two] = [await here.start(), await there.start()]
    const id = await begin(one)
    const lines = (await exported(one, id)).trimEnd().split('\n')
    for (const [name, damage, reason] of cases) {
      const file = damage(lines)
        .map((line) => `${line}\n`)
        .join('')
      const { status, body } = await imported(two, file)
      expect({ name, status, error: body['error'] }).toEqual({
        name,
        status: 422,
        error: expect.stringContaining(reason),
      })
    }
    expect(await two.get(`/api/executions/${id}`)).toMatchObject({ status: 404 })
    const { rows } = await two.core.shards.cluster.query('select 1 from noetl.catalog')
    expect(rows).toEqual([])
  })

  test('is not taken for JSON', async () => {
    const server = await there.start()
    expect(await server.post('/api/executions/import', {})).toMatchObject({ status: 415 })
  })
})
