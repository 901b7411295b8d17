/** The worker in the same process: commands are issued already leased to it, one commit per step. */
import { afterEach, expect, test } from 'vitest'
import { eventTypes, expireLeases, historyProblems, stuckExecutions } from '../../test/support/history.ts'
import { chain, fanOut, loopOver } from '../../test/support/playbooks.ts'
import type { TestServer } from '../../test/support/server.ts'
import { useServers } from '../../test/support/servers.ts'
import { systemClock } from '../worker/clock.ts'
import { silentLog } from '../worker/log.ts'
import { noopTool } from '../worker/tools/noop.ts'
import { createPythonTool } from '../worker/tools/python.ts'
import { createToolRegistry } from '../worker/tools/registry.ts'
import { createWorker } from '../worker/worker.ts'
import { createLocalControlPlane } from './local-control-plane.ts'
import { createLocalSlots } from './local-slots.ts'

const servers = useServers()
const cleanups: (() => Promise<unknown>)[] = []
// Hooks run last to first: workers stop before their servers.
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean()
})

const attachWorker = ({ core, leases }: TestServer, slots = 4): void => {
  const tools = createToolRegistry([noopTool, createPythonTool({ env: process.env, maxInterpreters: 2 })])
  const workerId = `local-${core.nextId()}`
  const controlPlane = createLocalControlPlane(core, leases)
  const worker = createWorker({
    controlPlane,
    tools,
    workerId,
    pool: 'shared',
    slots,
    log: silentLog,
    clock: systemClock,
  })
  core.attachWorker(
    createLocalSlots({
      workerId,
      pool: 'shared',
      freeSlots: worker.freeSlots,
      isInstant: (kind) => tools.find(kind)?.instant ?? false,
      canRun: (kind) => tools.find(kind) !== undefined,
      accept: worker.accept,
    }),
  )
  worker.start()
  cleanups.push(async () => {
    core.attachWorker(null)
    await worker.stop({ graceMs: 1000 })
    await tools.close()
  })
}

/** Waits for the commit that ends the execution. */
const ended = async (
  { core, get }: TestServer,
  start: () => Promise<string>,
): Promise<{ id: string; commits: number }> => {
  const commits = new Map<string, number>()
  const finished = new Set<string>()
  let wake: () => void = () => undefined
  const forget = core.onCommit((state) => {
    commits.set(state.executionId, (commits.get(state.executionId) ?? 0) + 1)
    if (state.status !== 'RUNNING') finished.add(state.executionId)
    wake()
  })
  const id = await start()
  const { status } = (await get(`/api/executions/${id}/status`)).body
  // What was over before anybody listened is heard of no more.
  if (status !== 'RUNNING' && !commits.has(id)) finished.add(id)
  while (!finished.has(id)) {
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  }
  forget()
  return { id, commits: commits.get(id) ?? 0 }
}

test('a step costs one commit', async () => {
  const server = await servers.start()
  attachWorker(server)
  await server.register(chain('tests/local', 20))
  const { id, commits } = await ended(server, () => server.execute('tests/local'))
  expect(commits).toBe(21)
  expect((await server.get(`/api/executions/${id}`)).body['status']).toBe('COMPLETED')
  expect(await historyProblems(server.core.shards.of(id), id)).toEqual([])
})

test('executions side by side and loops wider than the worker all end', async () => {
  const server = await servers.start()
  attachWorker(server)
  await Promise.all([
    server.register(fanOut('tests/fan', 6)),
    server.register(loopOver('tests/loop', 200)),
    server.register(chain('tests/chain', 5)),
  ])
  const paths = Array.from(
    { length: 30 },
    (_, index) => ['tests/fan', 'tests/loop', 'tests/chain'][index % 3] ?? '',
  )
  const done = await Promise.all(paths.map((path) => ended(server, () => server.execute(path))))
  for (const { id } of done) {
    expect((await server.get(`/api/executions/${id}`)).body['status']).toBe('COMPLETED')
    expect(await historyProblems(server.core.shards.of(id), id)).toEqual([])
  }
  expect(await stuckExecutions(server.databases)).toEqual([])
})

const python = (path: string, code: string, rest = ''): string =>
  `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: { name: ${path}, path: ${path} }\nworkload: { n: 20 }\nworkflow:\n` +
  `  - step: start\n    tool:\n      kind: python\n      input: { n: "{{ n }}" }\n      code: |\n        ${code}\n${rest}`

test('python runs, its result flows on, its failure ends the execution', async () => {
  const server = await servers.start()
  attachWorker(server)
  const next =
    '    next: { arcs: [{ step: end }] }\n  - step: end\n    tool: { kind: noop, result: "{{ start.answer * 2 }}" }\n'
  await server.register(python('tests/python', 'result = {"answer": n + 1, "password": "s3" + "cret"}', next))
  await server.register(python('tests/broken', 'raise ValueError("bad luck")'))
  const good = await ended(server, () => server.execute('tests/python'))
  const { body, text } = await server.get(`/api/executions/${good.id}`)
  expect((body['events'] as { result: unknown }[]).at(-1)?.result).toEqual({
    status: 'COMPLETED',
    context: { data: 42 },
  })
  expect(text).not.toContain('s3cret')
  const bad = await ended(server, () => server.execute('tests/broken'))
  expect((await server.get(`/api/executions/${bad.id}`)).body).toMatchObject({
    status: 'FAILED',
    error: expect.stringContaining('bad luck') as string,
  })
})

test('a worker beside one server takes over what a lost one held', async () => {
  const [dead, alive] = [await servers.start(), await servers.start()]
  await dead.register(chain('tests/taken', 3))
  // A worker that takes commands and is never heard of again.
  dead.core.attachWorker(
    createLocalSlots({
      workerId: 'local-dead',
      pool: 'shared',
      freeSlots: () => 9,
      isInstant: () => true,
      canRun: () => true,
      accept: () => undefined,
    }),
  )
  const id = await dead.execute('tests/taken')
  expect(await eventTypes(dead.core.shards.of(id), id)).toContain('command.claimed')
  attachWorker(alive)
  await expireLeases(alive.databases)
  expect(await alive.reaper.runOnce()).toBe(1)
  const { id: same } = await ended(alive, () => Promise.resolve(id))
  expect((await alive.get(`/api/executions/${same}`)).body['status']).toBe('COMPLETED')
  expect(await historyProblems(alive.core.shards.of(id), id)).toEqual([])
})

test('a worker that is detached while its commands are being written still gets them', async () => {
  const server = await servers.start()
  await server.register(chain('tests/detached', 1))
  const got: string[] = []
  server.core.attachWorker({
    workerId: 'local-leaving',
    reserve: () => {
      queueMicrotask(() => server.core.attachWorker(null))
      return true
    },
    giveBack: () => undefined,
    deliver: (commands) => void got.push(...commands.map((command) => command.eventId)),
  })
  const id = await server.execute('tests/detached')
  const { rows } = await server.core.shards.of(id).query('select event_id, worker_id from noetl.command')
  expect(rows).toEqual([{ event_id: got[0], worker_id: 'local-leaving' }])
})

test('a command whose holder was named in the turn that issued it is not taken as well', async () => {
  const server = await servers.start()
  await server.register(chain('tests/named', 2))
  const id = await server.execute('tests/named')
  const got: string[] = []
  let reserved = 0
  server.core.attachWorker({
    workerId: 'local-1',
    reserve: () => ((reserved += 1), true),
    giveBack: (kinds) => void (reserved -= kinds.length),
    deliver: (commands) => void got.push(...commands.map((command) => command.eventId)),
  })
  await server.post('/api/events/batch', {
    execution_id: id,
    worker_id: 'w1',
    events: [
      { step: 'start', event_type: 'command.completed', payload: { result: 1 } },
      { step: 's2', event_type: 'command.claimed' },
    ],
  })
  expect({ got, reserved }).toEqual({ got: [], reserved: 0 })
  expect(await historyProblems(server.core.shards.of(id), id)).toEqual([])
})
