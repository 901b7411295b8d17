import { describe, expect, test } from 'vitest'
import type { LeasedCommand } from '../contract/command.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import type { Family } from '../../test/support/family.ts'
import { createFamily, familyPlaybook } from '../../test/support/family.ts'
import { eventTypes, readLog } from '../../test/support/history.ts'
import { useServers } from '../../test/support/servers.ts'

const WORK = 'tool: {kind: python, code: x}'

const CHILD = `
  - {step: start, tool: {kind: python, code: x, input: {x: '{{ x }}'}}, next: report}
  - {step: report, ${WORK}, next: {arcs: [{step: never, when: '{{ false }}'}]}}
  - {step: never, ${WORK}}`

const parent = (config: string, after = ''): string => `
  - {step: start, tool: {kind: playbook, path: tests/child, input: {x: 41}, ${config}}${after === '' ? '' : ', next: b'}}
${after}`

const WAITING = parent(
  'return_result: true',
  "  - {step: b, tool: {kind: python, code: x, input: {score: '{{ start.score }}', who: '{{ start._execution_id }}'}}}",
)

const answer = ({ step, context }: LeasedCommand): Json =>
  step === 'report' ? { score: 7 } : { got: context.args['x'] ?? null }

const one = <Item>(items: readonly Item[]): Item => {
  expect(items).toHaveLength(1)
  return items[0] as Item
}

/** A parent that has started and is about to start its child. */
const begin = async (family: Family, steps = WAITING, child = CHILD): Promise<{ readonly id: string }> => {
  await family.server.register(familyPlaybook('tests/child', child, { x: 1 }))
  await family.server.register(familyPlaybook('tests/parent', steps))
  return { id: await family.server.execute('tests/parent') }
}

describe.each([1, 2])('sub-playbooks on %i shards', (shards) => {
  const servers = useServers(shards)
  const aFamily = async (): Promise<Family> => createFamily(await servers.start())

  test('give their result to the step that waits for them', async () => {
    const family = await aFamily()
    const { id } = await begin(family)
    const command = one(await family.leaseStarts())
    const started = await family.start(command)
    expect(started).toEqual({ waitMs: 180_000 })
    expect(await family.report(command, started)).toBe('ok')
    expect(await family.problems()).toEqual([])
    const child = one(await family.children(id))
    // The id of the child is that of the command which starts it (rule 1).
    expect(child).toBe(command.eventId)
    const seen: JsonObject[] = []
    await family.settle((work) => {
      seen.push(work.context.args)
      return answer(work)
    })
    expect(seen).toEqual([{ x: 41 }, {}, { score: 7, who: child }])
    expect(await family.row(id)).toMatchObject({ status: 'COMPLETED' })
    expect(await family.row(child)).toMatchObject({ status: 'COMPLETED', parent_execution_id: id })
    expect(await family.problems()).toEqual([])
  })

  test('are started once although the command was leased twice', async () => {
    const family = await aFamily()
    const { id } = await begin(family)
    const lost = one(await family.leaseStarts())
    await family.start(lost)
    // The server dies before it reports; another one takes the command over.
    await family.loseLeases()
    const other = createFamily(await servers.start())
    const again = one(await other.leaseStarts())
    expect(again).toMatchObject({ eventId: lost.eventId, attempt: 2 })
    expect(await other.report(again, await other.start(again))).toBe('ok')
    expect(await family.report(lost, { waitMs: 1000 })).toBe('lost')
    expect(await other.problems()).toEqual([])
    await other.settle(answer)
    expect(await other.count()).toBe(2)
    expect(await other.row(id)).toMatchObject({ status: 'COMPLETED' })
    expect(await other.problems()).toEqual([])
  })

  test('are started by the next holder when the first one dies before', async () => {
    const family = await aFamily()
    const { id } = await begin(family)
    one(await family.leaseStarts())
    await family.loseLeases()
    await family.settle(answer)
    expect(await family.count()).toBe(2)
    expect(await family.row(id)).toMatchObject({ status: 'COMPLETED' })
  })

  test('that end before their command is parked are not waited for', async () => {
    const family = await aFamily()
    const { id } = await begin(family)
    const command = one(await family.leaseStarts())
    const started = await family.start(command)
    await family.settle(answer)
    expect(await family.row(command.eventId)).toMatchObject({ status: 'COMPLETED' })
    // The report comes late: the command has ended, nothing waits for it.
    expect(await family.report(command, started)).toBe('ok')
    await family.settle(answer)
    expect(await family.row(id)).toMatchObject({ status: 'COMPLETED' })
    expect(await family.problems()).toEqual([])
  })

  test('that ended before a second holder starts them again are not started again', async () => {
    const family = await aFamily()
    const { id } = await begin(family)
    await family.start(one(await family.leaseStarts()))
    await family.worker.drain({ score: 1 })
    await family.loseLeases()
    const other = createFamily(await servers.start())
    await other.settle(answer)
    expect(await other.count()).toBe(2)
    expect(await other.row(id)).toMatchObject({ status: 'COMPLETED' })
    expect(await other.problems()).toEqual([])
  })
})

const servers = useServers()
const aFamily = async (): Promise<Family> => createFamily(await servers.start())

describe('what a parent gets', () => {
  const got = async (config: string): Promise<Json> => {
    const family = await aFamily()
    const { id } = await begin(family, parent(config))
    await family.settle(answer)
    return family.data(id)
  }

  test('without waiting is which execution was started, at once', async () => {
    const family = await aFamily()
    const { id } = await begin(family, parent(''))
    const command = one(await family.leaseStarts())
    await family.report(command, await family.start(command))
    expect(await family.row(id)).toMatchObject({ status: 'COMPLETED' })
    expect(await family.data(id)).toEqual({
      status: 'started',
      execution_id: command.eventId,
      path: 'tests/child',
      async: true,
    })
    expect(await family.row(command.eventId)).toMatchObject({ status: 'RUNNING', parent_execution_id: id })
    await family.settle(answer)
    // Nobody is told of its end.
    expect(await eventTypes(family.server.core.shards.of(id), id)).toHaveLength(7)
    expect(await family.problems()).toEqual([])
  })

  test('is the data of the step it names', async () => {
    expect(await got('return_step: start')).toMatchObject({ got: 41, data: { got: 41 }, path: 'tests/child' })
    expect(await got('return_result: true, result_step: start')).toMatchObject({ got: 41 })
  })

  test('is the final result otherwise, and when the step never ran', async () => {
    expect(await got('return_result: "true"')).toMatchObject({ score: 7, _status: 'COMPLETED' })
    expect(await got('return_step: never')).toMatchObject({ score: 7 })
  })

  test('of a child with a large result is a reference to it', async () => {
    const family = await aFamily()
    const { id } = await begin(
      family,
      parent(
        'return_result: true',
        "  - {step: b, tool: {kind: python, code: x, input: {n: '{{ start.rows | length }}', who: '{{ start._status }}'}}}",
      ),
    )
    const rows = Array.from({ length: 20_000 }, (_, index) => index)
    let last: JsonObject = {}
    await family.settle((command) => {
      last = command.context.args
      return command.step === 'report' ? { rows } : null
    })
    expect(last).toEqual({ n: 20_000, who: 'COMPLETED' })
    const log = JSON.stringify(await readLog(family.server.core.shards.of(id), id))
    expect(log.length).toBeLessThan(40_000)
  })

  test('in a loop is the whole data of every child', async () => {
    const family = await aFamily()
    const { id } = await begin(
      family,
      `
  - step: start
    loop: {in: [3, 20000], iterator: size, spec: {mode: parallel}}
    tool: {kind: playbook, path: tests/child, return_result: true, input: {x: '{{ size }}'}}
    next: b
  - {step: b, tool: {kind: python, code: x, input: {sizes: "{{ start.results | map(attribute='rows') | map('length') | list }}"}}}`,
      `
  - {step: start, tool: {kind: python, code: x, input: {x: '{{ x }}'}}}`,
    )
    let last: JsonObject = {}
    await family.settle(({ context, executionId }) => {
      if (executionId === id) last = context.args
      return { rows: Array.from({ length: Number(context.args['x'] ?? 0) }, (_, index) => index) }
    })
    expect(last).toEqual({ sizes: [3, 20_000] })
    expect(await family.count()).toBe(3)
    expect(await family.problems()).toEqual([])
  })
})

describe('a child that cannot be started', () => {
  test.each([
    ['path: tests/nowhere', 'tests/nowhere'],
    ['catalog_id: 12345', '12345'],
    ["path: ''", "needs 'path' or 'catalog_id'"],
    ['path: tests/child, version: 99', '99'],
    [
      'path: tests/child, return_step: nowhere',
      "has no step 'nowhere' to return; it has: start, report, never",
    ],
  ])('because of {%s} fails the step', async (config, message) => {
    const family = await aFamily()
    const { id } = await begin(
      family,
      `\n  - {step: start, tool: {kind: playbook, return_result: true, ${config}}}`,
    )
    await family.settle()
    const { status, error } = await family.row(id)
    expect(status).toBe('FAILED')
    expect(error).toContain(message)
    expect(await family.count()).toBe(1)
    expect(await family.problems()).toEqual([])
  })

  test('because its start is refused fails the step and leaves nothing behind', async () => {
    const family = await aFamily()
    const loop = `\n  - {step: start, loop: {in: '{{ x }}', iterator: item}, ${WORK}}`
    const { id } = await begin(family, parent('return_result: true'), loop)
    await family.settle()
    expect((await family.row(id)).error).toContain('loop.in must resolve to a JSON array, got: number')
    expect(await family.count()).toBe(1)
  })
})

describe('a child that does not complete', () => {
  test('because it failed fails the step, which may handle it', async () => {
    const family = await aFamily()
    const { id } = await begin(
      family,
      `
  - {step: start, tool: {kind: playbook, path: tests/child, return_result: true}, next: {arcs: [{step: b, when: '{{ error }}', set: {ctx.why: '{{ error.message }}'}}]}}
  - {step: b, tool: {kind: python, code: x, input: {why: '{{ ctx.why }}'}}}`,
    )
    let why: Json = null
    await family.settle(({ step, context }) => {
      if (step === 'b') why = context.args['why'] ?? null
      return step === 'start' ? new Error('broken') : null
    })
    const child = one(await family.children(id))
    expect(why).toBe(`Playbook tests/child (execution ${child}) failed: Step 'start' failed: broken`)
    expect(await family.row(id)).toMatchObject({ status: 'COMPLETED' })
    expect(await family.problems()).toEqual([])
  })

  test('because it was cancelled fails the step', async () => {
    const family = await aFamily()
    const { id } = await begin(family)
    const command = one(await family.leaseStarts())
    await family.report(command, await family.start(command))
    await family.server.post(`/api/executions/${command.eventId}/cancel`, { reason: 'enough' })
    await family.settle(answer)
    expect((await family.row(id)).error).toBe(
      `Step 'start' failed: Playbook tests/child (execution ${command.eventId}) was cancelled: enough`,
    )
  })
})

test('a playbook that runs itself comes to the limit of nesting, and the failure goes all the way up', async () => {
  const family = await aFamily()
  await family.server.register(
    familyPlaybook(
      'tests/self',
      '\n  - {step: start, tool: {kind: playbook, path: tests/self, return_result: true}}',
    ),
  )
  const id = await family.server.execute('tests/self')
  await family.settle()
  // The one at the top and sixteen below it.
  expect(await family.count()).toBe(17)
  const { status, error } = await family.row(id)
  expect(status).toBe('FAILED')
  expect(error).toContain('nested 17 deep; 16 is the limit')
  expect(await family.problems()).toEqual([])
})
