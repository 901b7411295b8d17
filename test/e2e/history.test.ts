/** The history of executions from the command line: retried, rerun, compared, carried elsewhere, examined. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createGate, noetl, startNoetl, startServer, temporaryDirectory } from './noetl-process.ts'

const files = temporaryDirectory()
const fixed = join(files, 'fixed')
const playbook = join(files, 'fails.yaml')
writeFileSync(
  playbook,
  `apiVersion: noetl.io/v2
kind: Playbook
metadata: { name: history, path: test/history }
workload: { name: Ada }
workflow:
  - step: start
    tool: { kind: noop, result: { hello: "{{ workload.name }}" } }
    next: check
  - step: check
    tool: { kind: shell, cmd: "test -f ${fixed} && echo fine" }
    next: end
  - step: end
    tool: { kind: noop, result: "{{ start.hello }}" }
`,
)

test('a failed execution is explained, retried, rerun, compared, carried to another server and found healthy', async () => {
  const [here, there] = [await startServer(temporaryDirectory()), await startServer(temporaryDirectory())]
  const on = (server: typeof here, ...args: string[]) => noetl([...args, '--server', server.url])
  const failed = await on(here, 'run', playbook, '--json')
  const { execution_id: id } = JSON.parse(failed.stdout) as { execution_id: string }
  expect(failed.exitCode).toBe(1)
  expect((await on(here, 'explain', id, 'end')).stdout).toContain('end does not run: a step before it failed')
  expect((await on(here, 'state', id)).stdout).toContain('check  failed')

  writeFileSync(fixed, '')
  const rerun = await on(here, 'rerun', id, '--from', 'failed', '--set', 'name=Grace', '--wait', '--json')
  expect(rerun).toMatchObject({ exitCode: 0 })
  const { execution_id: other } = JSON.parse(rerun.stdout) as { execution_id: string }
  expect(await on(here, 'retry', id, '--wait')).toMatchObject({ exitCode: 0 })

  const listed = await on(here, 'list', '--path', 'test/history', '--status', 'completed', '--json')
  expect(JSON.parse(listed.stdout)).toMatchObject([{ execution_id: other }, { execution_id: id }])
  const again = await on(here, 'run', playbook, '--json')
  const { execution_id: newVersion } = JSON.parse(again.stdout) as { execution_id: string }
  const same = await on(here, 'diff', id, newVersion)
  expect(same).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('the same definition') })
  expect(same.stdout).not.toContain('first difference  test/history version')

  const diff = await on(here, 'diff', id, other)
  expect(diff).toMatchObject({ exitCode: 1 })
  expect(diff.stdout).toContain('first difference  workload.name is "Ada" and "Grace"')

  const file = join(files, 'execution.ndjson')
  expect(await on(here, 'export', other, '-o', file)).toMatchObject({ exitCode: 0 })
  expect((await on(there, 'import', file)).stdout).toContain(`imported execution ${other}`)
  expect((await on(there, 'export', other)).stdout).toBe(readFileSync(file, 'utf8'))

  for (const server of [here, there])
    expect(await on(server, 'doctor')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('everything stored is what the logs say'),
    })
})

test('Ctrl-C leaves a rerun that is waited for; it is listed, cancelled once, and refused then', async () => {
  const server = await startServer(temporaryDirectory(), ['--no-examples'])
  const at = ['--server', server.url]
  expect(await noetl(['list', ...at])).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining('There are no executions yet'),
  })
  const gate = createGate()
  const file = join(files, 'gate.yaml')
  writeFileSync(file, gate.playbook)
  const run = startNoetl(['run', file, '--json', ...at])
  await gate.untilBegun(1)
  run.kill('SIGINT')
  const { execution_id: origin } = JSON.parse((await run.finished).stdout) as { execution_id: string }

  const waiting = startNoetl(['rerun', origin, '--wait', ...at])
  await gate.untilBegun(2)
  waiting.kill('SIGINT')
  const left = await waiting.finished
  const [, id = ''] = /execution (\d+), a rerun of/.exec(left.stdout) ?? []
  expect(left).toMatchObject({
    exitCode: 130,
    stderr: expect.stringContaining(`Execution ${id} goes on.`),
  })
  expect((await noetl(['list', '--status', 'running', ...at])).stdout).toContain(`\n${id}  test/gate`)
  expect(await noetl(['cancel', id, ...at])).toMatchObject({
    exitCode: 0,
    stdout: `cancelled execution ${id}\n`,
  })
  expect(await noetl(['cancel', id, ...at])).toMatchObject({
    exitCode: 1,
    stderr: `error: Execution ${id} is CANCELLED already; there is nothing to cancel\n`,
  })
})
