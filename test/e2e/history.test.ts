/** The history of executions from the command line: retried, rerun, compared, carried elsewhere, examined. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { noetl, startServer, temporaryDirectory } from './noetl-process.ts'

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
