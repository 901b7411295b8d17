import { expect, test } from 'vitest'
import { single } from '../../test/support/playbooks.ts'
import { createScriptedWorker } from '../../test/support/scripted-worker.ts'
import { useServers } from '../../test/support/servers.ts'
import { startNarrator } from './narrator.ts'

const servers = useServers()

test('the log tells of executions and failed commands, with their ids', async () => {
  const server = await servers.start()
  const lines: [string, object, string][] = []
  const write = (level: string) => (facts: object, message: string) =>
    void lines.push([level, facts, message])
  const log = { info: write('info'), warn: write('warn'), error: write('error') }
  const stop = startNarrator({ ...server.core, log })
  await server.register(single('tests/one'))
  const worker = createScriptedWorker(server, 'w')
  const first = await server.execute('tests/one')
  const [command] = await worker.lease()
  if (command) await worker.fail(command, 'no such file')
  const second = await server.execute('tests/one')
  await worker.drain()
  stop()
  expect(lines).toEqual([
    ['info', { execution_id: first, path: 'tests/one' }, 'execution started'],
    [
      'info',
      {
        execution_id: first,
        command_id: command?.commandId,
        step: 'start',
        worker_id: 'w',
        reason: 'no such file',
      },
      'command failed',
    ],
    [
      'info',
      {
        execution_id: first,
        path: 'tests/one',
        status: 'FAILED',
        reason: expect.stringContaining('no such file'),
      },
      'execution ended',
    ],
    ['info', { execution_id: second, path: 'tests/one' }, 'execution started'],
    ['info', { execution_id: second, path: 'tests/one', status: 'COMPLETED' }, 'execution ended'],
  ])
})
