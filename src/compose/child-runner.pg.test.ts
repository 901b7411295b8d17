import { expect, test } from 'vitest'
import type { LeasedCommand } from '../contract/command.ts'
import { createFamily, familyPlaybook } from '../../test/support/family.ts'
import { eventTypes } from '../../test/support/history.ts'
import type { TestServer } from '../../test/support/server.ts'
import { useServers } from '../../test/support/servers.ts'
import { silentLog } from '../worker/log.ts'
import { startChildRunner } from './child-runner.ts'

const servers = useServers()
const OPTIONS = { log: silentLog, workerPrefix: 'local-' }

/** Resolves when an execution ends. */
const ended = ({ core }: TestServer, id: () => string): Promise<string> =>
  new Promise((resolve) => {
    core.onCommit((state) => {
      if (state.executionId === id() && state.status !== 'RUNNING') resolve(state.status ?? '')
    })
  })

/** A server whose children start and whose timers go off by themselves. */
const aServer = async () => {
  const server = await servers.start()
  const family = createFamily(server)
  await server.register(
    familyPlaybook('tests/leaf', "\n  - {step: start, tool: {kind: python, code: x, input: {n: '{{ n }}'}}}"),
  )
  await server.register(
    familyPlaybook(
      'tests/top',
      `
  - {step: start, loop: {in: '{{ range(40) | list }}', iterator: n, spec: {mode: parallel}}, tool: {kind: playbook, path: tests/leaf, return_result: true, input: {n: '{{ n }}'}}}`,
    ),
  )
  const stopRunner = startChildRunner(server.core, server.leases, OPTIONS)
  family.timers.start()
  return {
    server,
    family,
    stop: async () => {
      await stopRunner()
      await family.timers.stop()
    },
  }
}

const double = ({ context }: LeasedCommand): number => Number(context.args['n']) * 2

test('children are started, run and waited for without a worker of their own', async () => {
  const { server, family, stop } = await aServer()
  let id = ''
  const over = ended(server, () => id)
  id = await server.execute('tests/top')
  const { signal } = new AbortController()
  for (let done = 0; done < 40;) {
    const commands = await server.leases.lease({
      workerId: 'w1',
      pool: 'shared',
      max: 50,
      waitMs: 5000,
      signal,
    })
    for (const command of commands) await family.worker.complete(command, { doubled: double(command) })
    done += commands.length
  }
  expect(await over).toBe('COMPLETED')
  await stop()
  const { results } = (await family.data(id)) as { results: readonly { doubled: number }[] }
  expect(results.map(({ doubled }) => doubled)).toEqual(Array.from({ length: 40 }, (_, n) => n * 2))
  expect(await family.count()).toBe(41)
  expect(await family.problems()).toEqual([])
})

test('a child that cannot be started fails its step', async () => {
  const { server, family, stop } = await aServer()
  await server.register(
    familyPlaybook('tests/lost', '\n  - {step: start, tool: {kind: playbook, path: tests/nowhere}}'),
  )
  let id = ''
  const over = ended(server, () => id)
  id = await server.execute('tests/lost')
  expect(await over).toBe('FAILED')
  await stop()
  expect((await family.row(id)).error).toContain('tests/nowhere')
})

test('what a stopped runner leaves is done by the next one', async () => {
  const { server, family, stop } = await aServer()
  await stop()
  const id = await server.execute('tests/top')
  expect(await family.children(id)).toEqual([])
  expect(await family.problems()).toEqual([])
  const next = await servers.start()
  const stopRunner = startChildRunner(next.core, next.leases, OPTIONS)
  await expect.poll(() => family.children(id)).toHaveLength(40)
  await stopRunner()
  // Whatever was under way when the runner stopped has been reported or handed back.
  await family.loseLeases()
  await createFamily(next).settle()
  expect(await family.row(id)).toMatchObject({ status: 'COMPLETED' })
  expect(await family.count()).toBe(41)
  expect(
    (await eventTypes(next.core.shards.of(id), id)).filter((type) => type === 'playbook.completed'),
  ).toHaveLength(1)
  expect(await family.problems()).toEqual([])
})

test('an outage while a child is being started costs time and no child', async () => {
  const server = await servers.start()
  const family = createFamily(server)
  await server.register(familyPlaybook('tests/leaf', '\n  - {step: start, tool: {kind: python, code: x}}'))
  await server.register(
    familyPlaybook(
      'tests/top',
      '\n  - {step: start, tool: {kind: playbook, path: tests/leaf, return_result: true}}',
    ),
  )
  let refusals = 2
  const { core } = server
  const flaky: typeof core = {
    ...core,
    startAs: (...given) =>
      refusals-- > 0
        ? Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }))
        : core.startAs(...given),
  }
  const id = await server.execute('tests/top')
  const stop = startChildRunner(flaky, server.leases, OPTIONS)
  await expect.poll(() => family.children(id)).toHaveLength(1)
  await stop()
  await family.settle(() => 7)
  expect((await family.row(id)).status).toBe('COMPLETED')
  expect(await family.problems()).toEqual([])
})
