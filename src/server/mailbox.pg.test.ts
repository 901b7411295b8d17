import { describe, expect, test } from 'vitest'
import { historyProblems, readLog, stuckExecutions } from '../../test/support/history.ts'
import { aNote } from '../../test/support/inputs.ts'
import { chain, fanOut, loopOver, single } from '../../test/support/playbooks.ts'
import { createScriptedWorker } from '../../test/support/scripted-worker.ts'
import type { TestServer } from '../../test/support/server.ts'
import { useServers } from '../../test/support/servers.ts'

const servers = useServers()

const soundness = async ({ core, databases }: TestServer, id: string): Promise<readonly string[]> => [
  ...(await historyProblems(core.shards.of(id), id)),
  ...(await stuckExecutions(databases)),
]

/** Counts the commits of one execution from now on. */
const countCommits = ({ core }: TestServer, id: string): (() => number) => {
  let commits = 0
  core.onCommit((state) => {
    if (state.executionId === id) commits += 1
  })
  return () => commits
}

describe('a mailbox', () => {
  test('writes together what arrives together (rule 1)', async () => {
    const server = await servers.start()
    await server.register(loopOver('tests/wide', 300))
    const id = await server.execute('tests/wide')
    const worker = createScriptedWorker(server, 'w1')
    const commands = await worker.lease(300)
    expect(commands).toHaveLength(300)
    const commits = countCommits(server, id)
    expect(
      new Set(
        await Promise.all(
          commands.map((command) => worker.complete(command, command.meta['iteration_index'])),
        ),
      ),
    ).toEqual(new Set(['ok']))
    expect(commits()).toBeLessThan(30)
    expect(await worker.drain()).toBe(1)
    expect((await server.get(`/api/executions/${id}/status`)).body).toMatchObject({ status: 'COMPLETED' })
    expect(await soundness(server, id)).toEqual([])
  })

  test('answers an input after its events are on disk (rule 2)', async () => {
    const server = await servers.start()
    await server.register(single('tests/disk'))
    const id = await server.execute('tests/disk')
    for (let round = 0; round < 20; round += 1) {
      const { reply } = await server.core.tell(id, aNote())
      expect((await readLog(server.core.shards.of(id), id)).at(-1)?.eventId).toBe(reply.ok && reply.eventId)
    }
  })

  test('tells each sender how many commands its own input issued', async () => {
    const server = await servers.start()
    await server.register(fanOut('tests/own', 3))
    const id = await server.execute('tests/own')
    const worker = createScriptedWorker(server, 'w1')
    const [command] = await worker.lease()
    if (!command) throw new Error('nothing to lease')
    const completion = aNote({
      eventType: 'command.completed',
      commandId: command.commandId,
      leaseToken: command.leaseToken,
      workerId: 'w1',
      context: { result: { x: 1 } },
    })
    const answers = await Promise.all(
      [aNote(), completion, aNote()].map((input) => server.core.tell(id, input)),
    )
    expect(answers.map((answer) => answer.commandsGenerated)).toEqual([0, 3, 0])
  })

  test('an input that cannot be written fails alone (rule 6)', async () => {
    const server = await servers.start()
    await server.register(loopOver('tests/poison', 3))
    const id = await server.execute('tests/poison')
    const commands = await createScriptedWorker(server, 'w1').lease(3)
    const completions = commands.map(({ commandId, leaseToken }) =>
      aNote({
        eventType: 'command.completed',
        commandId,
        leaseToken,
        workerId: 'w1',
        context: { result: 1 },
      }),
    )
    const unwritable = aNote({ eventId: '99999999999999999999' })
    const told = await Promise.allSettled(
      [aNote(), unwritable, ...completions].map((input) => server.core.tell(id, input)),
    )
    expect(told.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'fulfilled',
    ])
    const ended = (await readLog(server.core.shards.of(id), id)).filter(
      ({ eventType }) => eventType === 'command.completed',
    )
    expect(ended).toHaveLength(3)
    expect(await soundness(server, id)).toEqual([])
  })

  test('a refusal stays one when what arrived with it has to be taken again (rule 6)', async () => {
    const server = await servers.start()
    await server.register(single('tests/again'))
    const id = await server.execute('tests/again')
    const before = (await readLog(server.core.shards.of(id), id)).length
    const stale = aNote({ eventType: 'command.completed', commandId: null, leaseToken: '99' })
    const told = await Promise.allSettled([
      server.core.tell(id, aNote()),
      server.core.demandAll(id, [aNote(), stale]),
      server.core.tell(id, aNote({ eventId: '99999999999999999999' })),
      server.core.tell(id, aNote()),
    ])
    expect(told.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
    expect(await readLog(server.core.shards.of(id), id)).toHaveLength(before + 2)
    expect(await soundness(server, id)).toEqual([])
  })

  test('accepts the inputs of a letter together or not at all', async () => {
    const server = await servers.start()
    await server.register(single('tests/letter'))
    const id = await server.execute('tests/letter')
    const [command] = await createScriptedWorker(server, 'w1').lease()
    const before = await readLog(server.core.shards.of(id), id)
    const stale = aNote({
      eventType: 'command.completed',
      commandId: command?.commandId ?? '',
      leaseToken: '99',
    })
    await expect(server.core.demandAll(id, [aNote(), stale, aNote()])).rejects.toMatchObject({
      code: 'lease_lost',
    })
    expect(await readLog(server.core.shards.of(id), id)).toEqual(before)
    expect(await soundness(server, id)).toEqual([])
  })

  test('lets no number of refused letters spoil the accepted ones beside them', async () => {
    const server = await servers.start()
    await server.register(single('tests/spoiled'))
    const id = await server.execute('tests/spoiled')
    const [command] = await createScriptedWorker(server, 'w1').lease()
    const stale = aNote({
      eventType: 'command.completed',
      commandId: command?.commandId ?? '',
      leaseToken: '99',
    })
    const letters = Array.from({ length: 120 }, (_, index) =>
      index % 2 === 0 ? [aNote(), { ...stale }] : [aNote(), aNote()],
    )
    const results = await Promise.allSettled(letters.map((letter) => server.core.demandAll(id, letter)))
    expect(results.map((result) => result.status)).toEqual(
      letters.map((_, index) => (index % 2 === 0 ? 'rejected' : 'fulfilled')),
    )
    expect(
      (await readLog(server.core.shards.of(id), id)).filter((event) => event.eventType === 'note'),
    ).toHaveLength(120)
    expect(await soundness(server, id)).toEqual([])
  })

  test('acknowledges an event id it has seen and writes it once, also within one letter', async () => {
    const server = await servers.start()
    await server.register(single('tests/repeat'))
    const id = await server.execute('tests/repeat')
    const note = aNote()
    const answers = await Promise.all([note, note, note].map((input) => server.core.tell(id, input)))
    expect(answers.map(({ reply }) => reply.ok && reply.duplicate)).toEqual([false, true, true])
    const { replies } = await server.core.demandAll(id, [note, aNote(), note])
    expect(replies.map((reply) => reply.ok && reply.duplicate)).toEqual([true, false, true])
    expect(await soundness(server, id)).toEqual([])
  })

  test('knows nothing of an execution that never started', async () => {
    const server = await servers.start()
    expect((await server.core.tell('12345', aNote())).reply).toEqual({
      ok: false,
      problem: { code: 'not_found', message: 'Execution not found: 12345' },
    })
    expect(server.core.cached()).toBe(0)
  })

  test('knows nothing of an execution whose start was refused', async () => {
    const server = await servers.start()
    const workload = 'workload: { bad: "{{ 1 / 0 }}" }\nworkflow:'
    const catalogId = await server.register(single('tests/refused').replace('workflow:', workload))
    const id = server.core.nextId()
    const { reply } = await server.core.startAs(id, await server.core.playbooks.byId(catalogId), {
      payload: {},
      parentExecutionId: null,
      pool: 'shared',
      trace: null,
    })
    expect(reply).toMatchObject({ ok: false, problem: { code: 'invalid' } })
    expect((await server.core.tell(id, { type: 'cancel', reason: null })).reply).toMatchObject({
      problem: { code: 'not_found' },
    })
    expect(await readLog(server.core.shards.of(id), id)).toEqual([])
    expect(server.core.cached()).toBe(0)
  })
})

describe('the cache of states', () => {
  test('forgets what was not used, and what is over', async () => {
    const server = await servers.start({ cachedExecutions: 3 })
    await server.register(chain('tests/cached', 4))
    const ids = await Promise.all(Array.from({ length: 12 }, () => server.execute('tests/cached')))
    expect(server.core.cached()).toBeLessThanOrEqual(3)
    expect(await createScriptedWorker(server, 'w1').drain()).toBe(48)
    expect(server.core.cached()).toBe(0)
    for (const id of ids) expect(await soundness(server, id)).toEqual([])
  })
})
