import { describe, expect, test } from 'vitest'
import type { LeasedCommand } from '../contract/command.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import { historyProblems } from '../../test/support/history.ts'
import { aNote } from '../../test/support/inputs.ts'
import type { ScriptedWorker } from '../../test/support/scripted-worker.ts'
import { createScriptedWorker } from '../../test/support/scripted-worker.ts'
import type { TestServer } from '../../test/support/server.ts'
import { useServers } from '../../test/support/servers.ts'

const servers = useServers()

const playbook = (path: string, steps: string): string =>
  `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: { name: ${path}, path: ${path} }\nworkflow:${steps}`

/** Two large results, which the last step looks at. */
const LARGE = playbook(
  'tests/large',
  `
  - {step: start, tool: {kind: noop}, next: second}
  - {step: second, tool: {kind: noop}, next: last}
  - {step: last, tool: {kind: noop, input: {
      first: '{{ start.number }}', second: '{{ second.number }}', length: '{{ (start.text + second.text) | length }}'}}}`,
)

const LOOP = playbook(
  'tests/loop',
  `
  - {step: start, loop: {in: '{{ range(400) | list }}', iterator: i, spec: {mode: parallel}}, tool: {kind: noop}, next: last}
  - {step: last, tool: {kind: noop, input: {sum: '{{ start.results | map(attribute="number") | sum }}'}}}`,
)

const TEXT = 'x'.repeat(15_000)

/** Watches what is in memory at every commit. */
const watch = ({ core }: TestServer): { most: () => number } => {
  let most = 0
  core.onCommit(() => {
    most = Math.max(most, core.cachedBytes())
  })
  return { most: () => most }
}

const argsOf = ({ context }: LeasedCommand): Json | undefined =>
  isObject(context) ? context['args'] : undefined

/** Answers everything that waits with large data, until only last steps are left; answers these. */
const driveToLast = async (
  worker: ScriptedWorker,
  dataOf: (command: LeasedCommand) => JsonObject,
): Promise<readonly LeasedCommand[]> => {
  const last: LeasedCommand[] = []
  for (;;) {
    const commands = await worker.lease(8)
    if (commands.length === 0) return last
    last.push(...commands.filter(({ step }) => step === 'last'))
    await Promise.all(
      commands
        .filter(({ step }) => step !== 'last')
        .map((command) => worker.complete(command, dataOf(command))),
    )
  }
}

describe('the states in memory', () => {
  test('stay within their bytes while many large executions are driven, and their results are right (1)', async () => {
    const bound = 400_000
    const server = await servers.start({ cachedBytes: bound })
    await server.register(LARGE)
    const { most } = watch(server)
    const ids: string[] = []
    for (let index = 0; index < 40; index += 1) ids.push(await server.execute('tests/large'))
    const number = (id: string, step: string): number => ids.indexOf(id) * 10 + (step === 'start' ? 1 : 2)
    const worker = createScriptedWorker(server, 'w1')
    const last = await driveToLast(worker, ({ executionId, step }) => ({
      text: TEXT,
      number: number(executionId, step),
    }))
    expect(last).toHaveLength(40)
    for (const command of last) {
      expect(argsOf(command)).toMatchObject({
        first: number(command.executionId, 'start'),
        second: number(command.executionId, 'second'),
        length: 30_000,
      })
    }
    // All of them run, and those that fit are in memory.
    expect(server.core.cached()).toBeGreaterThan(5)
    expect(server.core.cached()).toBeLessThan(15)
    expect(most()).toBeLessThanOrEqual(bound)
    expect(most()).toBeGreaterThan(bound / 2)
    await Promise.all(last.map((command) => worker.complete(command)))
    for (const id of ids) {
      expect((await server.get(`/api/executions/${id}/status`)).body).toMatchObject({ status: 'COMPLETED' })
      expect(await historyProblems(server.core.shards.of(id), id)).toEqual([])
    }
    expect([server.core.cached(), server.core.cachedBytes()]).toEqual([0, 0])
  })

  test('those that were used last are there, those that were not are loaded when somebody asks (1, 2)', async () => {
    const server = await servers.start({ cachedBytes: 20_000 })
    await server.register(LARGE)
    const ids: string[] = []
    for (let index = 0; index < 6; index += 1) ids.push(await server.execute('tests/large'))
    expect(server.core.cached()).toBeLessThan(5)
    for (const id of ids) expect((await server.core.tell(id, aNote())).reply).toMatchObject({ ok: true })
    expect(server.core.cachedBytes()).toBeLessThanOrEqual(20_000)
  })

  test('one that is larger than all may be together goes on, and so do those beside it (2)', async () => {
    const bound = 40_000
    const server = await servers.start({ cachedBytes: bound })
    await server.register(LOOP)
    await server.register(LARGE)
    const { most } = watch(server)
    const loop = await server.execute('tests/loop')
    const small = await server.execute('tests/large')
    const worker = createScriptedWorker(server, 'w1')
    const last = await driveToLast(worker, (command) => {
      const index = command.meta['iteration_index']
      return { number: typeof index === 'number' ? index : 7, text: 'x'.repeat(300) }
    })
    expect(last.map(({ executionId }) => executionId).toSorted()).toEqual([loop, small].toSorted())
    expect(last.map(argsOf)).toContainEqual(expect.objectContaining({ sum: (400 * 399) / 2 }))
    expect(last.map(argsOf)).toContainEqual(expect.objectContaining({ first: 7, second: 7, length: 600 }))
    expect(server.core.cached()).toBe(2)
    expect(most()).toBeLessThanOrEqual(bound)
    await Promise.all(last.map((command) => worker.complete(command)))
    expect(server.core.cached()).toBe(0)
  })

  test('one that is at work stays, whatever there is room for (2)', async () => {
    const server = await servers.start({ cachedBytes: 1, cachedExecutions: 1 })
    await server.register(LARGE)
    const ids = await Promise.all(Array.from({ length: 20 }, () => server.execute('tests/large')))
    const notes = ids.flatMap((id) => Array.from({ length: 5 }, () => server.core.tell(id, aNote())))
    expect(server.core.cached()).toBe(20)
    for (const { reply } of await Promise.all(notes)) expect(reply).toMatchObject({ ok: true })
    expect(server.core.cached()).toBe(1)
    for (const id of ids) expect(await historyProblems(server.core.shards.of(id), id)).toEqual([])
  })

  test('an execution that another server started goes on with its playbook, whatever was to be started here', async () => {
    const [one, other] = [await servers.start(), await servers.start()]
    await one.register(LARGE)
    await one.register(LOOP)
    const id = one.core.nextId()
    const input = { payload: {}, parentExecutionId: null, pool: 'shared', trace: null }
    const start = async ({ core }: TestServer, path: string) =>
      (await core.startAs(id, await core.playbooks.byPath(path, null), input)).reply
    expect(await start(one, 'tests/large')).toMatchObject({ ok: true })
    const [command] = await createScriptedWorker(one, 'w1').lease()
    if (!command) throw new Error('nothing to lease')
    expect(await start(other, 'tests/loop')).toMatchObject({ ok: false })
    const worker = createScriptedWorker(other, 'w1')
    expect(await worker.complete(command, { number: 5, text: '' })).toBe('ok')
    const last = await driveToLast(worker, () => ({ number: 5, text: '' }))
    expect(last.map(argsOf)).toEqual([expect.objectContaining({ first: 5, second: 5, length: 0 })])
  })

  test('what is over is not remembered (3)', async () => {
    const server = await servers.start()
    await server.register(LARGE)
    const id = await server.execute('tests/large')
    expect([server.core.cached(), server.core.cachedBytes() > 0]).toEqual([1, true])
    await createScriptedWorker(server, 'w1').drain({ number: 1, text: '' })
    expect((await server.get(`/api/executions/${id}/status`)).body).toMatchObject({ status: 'COMPLETED' })
    expect([server.core.cached(), server.core.cachedBytes()]).toEqual([0, 0])
  })
})
