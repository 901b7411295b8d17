import { expect, test } from 'vitest'
import { useServers } from '../../test/support/servers.ts'
import { createLocalSlots } from './local-slots.ts'

const servers = useServers()

const playbook = (path: string, requires: string): string => `apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: x, path: ${path}}
executor: {requires: ${requires}}
workflow:
  - {step: start, tool: {kind: python, code: x}}
`

const lease = async (server: Awaited<ReturnType<typeof servers.start>>, capabilities?: readonly string[]) => {
  const { body } = await server.post('/api/commands/lease', {
    worker_id: 'w',
    max: 10,
    ...(capabilities ? { capabilities } : {}),
  })
  return (body['commands'] as { node_name: string; execution_id: string }[]).map(
    ({ execution_id }) => execution_id,
  )
}

test('work goes to workers that can do it, in the order it came, and waits for them', async () => {
  const server = await servers.start()
  await server.register(playbook('tests/gpu', '{features: [gpu, "a \\"b\\\\c"]}'))
  await server.register(playbook('tests/plain', '{features: [result_storage]}'))
  await server.register(playbook('tests/tool', '{tools: [duckdb]}'))
  const gpu = await server.execute('tests/gpu')
  const plain = await server.execute('tests/plain')
  const tool = await server.execute('tests/tool')
  expect(await lease(server)).toEqual([plain])
  expect(await lease(server, ['gpu', 'tool:python'])).toEqual([])
  expect(await lease(server, ['tool:duckdb'])).toEqual([tool])
  expect(await lease(server, ['gpu', 'a "b\\c', 'more'])).toEqual([gpu])
})

test('a worker beside the server is given only what it can do', async () => {
  const server = await servers.start()
  const accepted: string[] = []
  const worker = {
    workerId: 'beside',
    pool: 'shared',
    capabilities: new Set(['gpu']),
    freeSlots: () => 10,
    isInstant: () => false,
    canRun: () => true,
    accept: (commands: readonly { executionId: string }[]) =>
      accepted.push(...commands.map(({ executionId }) => executionId)),
  }
  server.core.attachWorker(createLocalSlots(worker))
  await server.register(playbook('tests/gpu', '{features: [gpu]}'))
  await server.register(playbook('tests/tpu', '{features: [tpu]}'))
  const gpu = await server.execute('tests/gpu')
  const tpu = await server.execute('tests/tpu')
  expect(accepted).toEqual([gpu])
  server.core.attachWorker(null)
  expect(await lease(server, ['tpu'])).toEqual([tpu])
})
