/**
 * The runtime is a small program that keeps the contract of `docker`: it takes the same arguments, runs the entry point on
 * this machine, and remembers what it was asked. Its `rm` ends what its `run` started.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

import type { JsonObject } from '../../contract/json.ts'
import { aCall } from '../test-support.ts'
import { ToolFailure } from '../tool-failure.ts'
import { createContainerTool } from './container.ts'
import { runArguments } from './container/run-arguments.ts'

const RUNTIME = `#!/usr/bin/env python3
import json, os, signal, subprocess, sys
home = os.path.dirname(os.path.abspath(__file__))
arguments = sys.argv[1:]
with open(os.path.join(home, "log"), "a") as log:
    log.write(json.dumps(arguments) + "\\n")
if arguments[0] == "version":
    sys.exit(0)
if arguments[0] == "rm":
    try:
        os.killpg(int(open(os.path.join(home, arguments[-1])).read()), signal.SIGKILL)
    except (OSError, ValueError):
        sys.exit(1)
    sys.exit(0)
flags = {"--rm", "--interactive"}
names, entry, at = {}, [], 1
while arguments[at].startswith("-"):
    if arguments[at] in flags:
        at += 1
        continue
    if arguments[at] == "--name":
        name = arguments[at + 1]
    if arguments[at] == "--env":
        names[arguments[at + 1]] = os.environ[arguments[at + 1]]
    if arguments[at] == "--entrypoint":
        entry = [arguments[at + 1]]
    at += 2
image, rest = arguments[at], arguments[at + 1:]
if image == "missing":
    print("docker: no such image: missing", file=sys.stderr)
    sys.exit(125)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(entry + rest, env={"PATH": os.environ["PATH"], **names}, start_new_session=True)
with open(os.path.join(home, name), "w") as file:
    file.write(str(child.pid))
sys.exit(child.wait() & 0xFF)
`

let directory: string
let runtime: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'noetl-container-'))
  runtime = join(directory, 'runtime')
  writeFileSync(runtime, RUNTIME)
  chmodSync(runtime, 0o755)
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const toolOf = (program: string | null = runtime, path = process.env['PATH']) =>
  createContainerTool({ runtime: program, env: { PATH: path } })
const run = (config: JsonObject, over: Parameters<typeof aCall>[1] = {}) =>
  toolOf().run(aCall({ image: 'alpine:3', ...config }, over))
const asked = (): readonly string[][] =>
  readFileSync(join(directory, 'log'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as string[])

test('runs the command and its arguments, and gives what they printed (rule 1)', async () => {
  expect(await run({ command: ['echo'], args: ['{"n":', 1, '}'] })).toMatchObject({
    outcome: 'ok',
    exitCode: 0,
    data: { status: 'succeeded', exit_code: 0, stdout: '{"n": 1 }\n', json: { n: 1 }, image: 'alpine:3' },
  })
})

test('a text as command is for the shell', async () => {
  expect(await run({ command: 'echo $((1 + 2)) >&2' })).toMatchObject({ data: { stderr: '3\n' } })
})

test('an exit code other than 0 is an error with its data (rule 2)', async () => {
  expect(await run({ command: 'echo bye; exit 3' })).toMatchObject({
    outcome: 'error',
    data: { status: 'failed', exit_code: 3, stdout: 'bye\n' },
    error: { kind: 'process', code: 'EXIT_3', retryable: false },
  })
})

test('a container that could not be started says why (rule 2)', async () => {
  expect((await run({ image: 'missing' })).error).toMatchObject({
    code: 'CONTAINER_NOT_STARTED',
    message: expect.stringContaining('no such image') as string,
  })
})

test('output is shown as it appears (rule 3)', async () => {
  const said: string[] = []
  await run(
    { command: 'echo out; echo err >&2' },
    { log: (stream, text) => void said.push(`${stream} ${text.trim()}`) },
  )
  expect(said.sort()).toEqual(['stderr err', 'stdout out'])
})

test('what it reads comes by stdin', async () => {
  expect(await run({ command: ['cat'], stdin: { a: 1 } })).toMatchObject({ data: { json: { a: 1 } } })
})

test.each<[string, JsonObject]>([
  [
    'a list',
    {
      env: [
        { name: 'MODE', value: 'fast' },
        { name: 'N', value: 2 },
      ],
    },
  ],
  ['a mapping', { env: { MODE: 'fast', N: 2 } }],
])('environment variables as %s reach the container, and their values no argument', async (_form, env) => {
  expect(await run({ command: 'echo "$MODE $N"', ...env })).toMatchObject({ data: { stdout: 'fast 2\n' } })
  const last = asked().findLast(([verb]) => verb === 'run') ?? []
  expect(last).toContain('MODE')
  expect(last.join(' ')).not.toContain('fast')
})

test('an abort removes the container and keeps what it printed (rule 4)', async () => {
  const controller = new AbortController()
  const reason = new ToolFailure({ kind: 'timeout', code: 'TIMEOUT', message: 'over', retryable: true })
  const result = await run(
    { command: "trap '' TERM; echo started; while true; do sleep 1; done" },
    {
      signal: controller.signal,
      log: (_stream, text) => text.includes('started') && controller.abort(reason),
    },
  )
  expect(result).toMatchObject({
    outcome: 'error',
    error: { code: 'TIMEOUT' },
    data: { stdout: 'started\n' },
  })
  expect(asked().filter(([verb]) => verb === 'rm').length).toBeGreaterThan(0)
})

test('without a runtime a call says what to install (rule 5)', async () => {
  const { error } = await toolOf(null, '/nowhere').run(aCall({ image: 'alpine:3' }))
  expect(error).toMatchObject({ code: 'TOOL_UNAVAILABLE', retryable: false })
  expect(error?.message).toContain('Install docker or podman')
  expect(error?.message).toContain('NOETL_CONTAINER_RUNTIME')
})

test('a runtime whose service does not answer is none (rule 5)', async () => {
  const { error } = await toolOf('false').run(aCall({ image: 'alpine:3' }))
  expect(error).toMatchObject({ code: 'TOOL_UNAVAILABLE' })
})

const argumentsOf = (config: JsonObject): string =>
  runArguments({ image: 'i', ...config }, { name: 'n', executionId: '1', step: 's' }).args.join(' ')

test.each<[JsonObject, string]>([
  [{ resources: { limits: { memory: '512Mi', cpu: '500m' } } }, '--memory 536870912 --cpus 0.5 '],
  [{ resources: { memory: '1G' } }, '--memory 1000000000 '],
  [{ volumes: ['./data:/data:ro'] }, '--volume ./data:/data:ro '],
  [{ volumes: [{ source: '/srv', target: '/in', read_only: true }] }, '--volume /srv:/in:ro '],
  [
    {
      volumes: [
        { name: 'a', host_path: { path: '/srv' } },
        { name: 'b', emptyDir: {} },
      ],
      volume_mounts: [
        { name: 'a', mount_path: '/in' },
        { name: 'b', mountPath: '/tmp/work' },
      ],
    },
    '--volume /srv:/in --tmpfs /tmp/work ',
  ],
  [{ image_pull_policy: 'IfNotPresent' }, '--pull missing '],
  [{ network: 'none', user: '1000', cwd: '/w' }, '--network none --user 1000 --workdir /w '],
])('%j becomes arguments of the runtime', (config, expected) => {
  expect(argumentsOf(config)).toContain(expected)
})

test.each<[JsonObject, string]>([
  [{ image: '' }, 'needs `image`'],
  [{ image: '--privileged' }, 'must be the name of an image'],
  [{ env: [{ name: 'A', value_from: { secret_name: 's', secret_key: 'k' } }] }, 'keychain'],
  [{ env: 'A=1' }, 'env must be'],
  [{ resources: { limits: { memory: 'lots' } } }, 'amount of memory'],
  [{ volumes: ['/data'] }, 'written host:container'],
  [{ volumes: [{ name: 'a' }], volume_mounts: [{ name: 'a', mount_path: '/x' }] }, 'host_path or empty_dir'],
])('refuses %j', async (config, message) => {
  const { error } = await run(config)
  expect(error).toMatchObject({ kind: 'config', retryable: false })
  expect(error?.message).toContain(message)
})
