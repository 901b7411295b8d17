/** What tools start is gone when the process that started it is, whatever killed that one. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeAll, afterAll, describe, expect, test, vi } from 'vitest'

import type { JsonObject } from '../../../contract/json.ts'
import { processStart } from '../../../lib/process-identity.ts'

const PROGRAM = fileURLToPath(new URL('testing/tool-program.ts', import.meta.url))
const PATIENCE_MS = 20_000
// Whole processes are started, on machines that are busy with others.
vi.setConfig({ testTimeout: 2 * PATIENCE_MS })

interface ToolProgram {
  readonly process: ChildProcess
  call(kind: string, config: JsonObject): void
  /** The process ids in the next line that a tool's process prints. */
  pids(): Promise<number[]>
  readonly ended: Promise<unknown>
}

const started: number[] = []
const programs: ToolProgram[] = []

const startProgram = (...args: readonly string[]): ToolProgram => {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const program: ToolProgram = {
    process: child,
    call: (kind, config) => void child.stdin.write(`${JSON.stringify({ kind, config })}\n`),
    async pids() {
      const { value } = await lines.next()
      const pids = String(value).split(' ').map(Number)
      expect(
        pids.every((pid) => Number.isInteger(pid) && pid > 1),
        `process ids in: ${value}`,
      ).toBe(true)
      started.push(...pids)
      return pids
    },
    ended: new Promise((resolve) => child.once('exit', resolve)),
  }
  programs.push(program)
  return program
}

const alive = (pids: readonly number[]): number[] => pids.filter((pid) => processStart(pid) !== null)
const untilGone = (pids: readonly number[]): Promise<void> =>
  expect.poll(() => alive(pids), { timeout: PATIENCE_MS, interval: 20 }).toEqual([])

/** The shells that stand beside a program. */
const keepersOf = ({ process: { pid } }: ToolProgram): number[] =>
  spawnSync('ps', ['-ww', '-o', 'pid=,args=', '--ppid', String(pid)], { encoding: 'utf8' })
    .stdout.split(/\n(?=\s*\d+ \/)/)
    .filter((line) => line.includes('noetl-keeper'))
    .map((line) => Number.parseInt(line, 10))

const killed = async (program: ToolProgram, pids: readonly number[]): Promise<void> => {
  expect(alive(pids)).toEqual(pids)
  program.process.kill('SIGKILL')
  await program.ended
  await untilGone(pids)
}

afterEach(() => {
  for (const { process: child } of programs.splice(0)) child.kill('SIGKILL')
  for (const pid of alive(started.splice(0))) process.kill(pid, 'SIGKILL')
})

/** Prints the ids of a shell and of a child of its, both of which stay. */
const STAYING = `trap '' TERM HUP INT; sleep 600 & echo $$ $!; wait; sleep 600`
const STAYING_PYTHON = `
import os, subprocess
child = subprocess.Popen(["sleep", "600"])
print(os.getpid(), os.getppid(), child.pid, flush=True)
child.wait()
`

describe('a worker that is killed takes along', () => {
  test.each<[string, string, JsonObject]>([
    ['a command and its children', 'shell', { command: STAYING }],
    ['a command that came by pipe', 'shell', { command: `: ${'x'.repeat(120_000)}\n${STAYING}` }],
    ['a script', 'script', { type: 'bash', content: STAYING }],
    ['a Python call, its interpreter and its children', 'python', { code: STAYING_PYTHON }],
    ['a Python script', 'script', { content: STAYING_PYTHON }],
    [
      'an MCP server that ignores the end of its input',
      'mcp',
      { command: ['sh', '-c', `sleep 600 & echo $$ $! >&2; wait`], method: 'health' },
    ],
  ])('%s', async (_name, kind, config) => {
    const program = startProgram()
    program.call(kind, config)
    await killed(program, await program.pids())
  })

  test('several at once', async () => {
    const program = startProgram()
    const pids: number[] = []
    for (const kind of ['shell', 'python', 'shell']) {
      program.call(kind, kind === 'python' ? { code: STAYING_PYTHON } : { command: STAYING })
      pids.push(...(await program.pids()))
    }
    await killed(program, pids)
  })

  test('a Python call whose interpreter cannot end it (keeper rule 2)', async () => {
    const program = startProgram()
    program.call('python', { code: STAYING_PYTHON })
    const pids = await program.pids()
    process.kill(pids[1] as number, 'SIGSTOP')
    await killed(program, pids)
  })

  test('a Python call that prints without end', async () => {
    const program = startProgram()
    program.call('python', {
      code: `${STAYING_PYTHON.replace('child.wait()', '')}\nwhile True: print("x" * 999)`,
    })
    await killed(program, await program.pids())
  })

  test('what it started in the moment in which it died, but nothing that it let go (keeper rules 1, 3)', async () => {
    const program = startProgram()
    program.call('start-and-die', {})
    const [first, second] = await program.pids()
    await program.ended
    await untilGone([second as number])
    expect(alive([first as number])).toEqual([first])
  })
})

test('a program that left the session of its command stays (rule 2)', async () => {
  const program = startProgram()
  program.call('shell', { command: `setsid sh -c 'echo $$; exec sleep 600 >/dev/null 2>&1' & sleep 600` })
  const [escaped] = await program.pids()
  program.call('shell', { command: STAYING })
  const pids = await program.pids()
  await killed(program, pids)
  expect(alive([escaped as number])).toEqual([escaped])
})

describe('a container', () => {
  let directory: string
  let runtime: string
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'noetl-worker-death-'))
    runtime = join(directory, 'runtime')
    const place = join(directory, 'container')
    const script = `#!/bin/sh
case "$*" in
  run*brief*) echo $$ ;;
  run*) setsid sleep 600 & echo $! >${place}; echo $$ $!; wait ;;
  rm*) kill -s KILL "$(cat ${place})" ;;
esac
`
    writeFileSync(runtime, script)
    chmodSync(runtime, 0o755)
  })
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  test('is removed when the worker is killed (keeper rule 6)', async () => {
    const program = startProgram(runtime)
    program.call('container', { image: 'alpine:3', command: ['sleep', '600'] })
    await killed(program, await program.pids())
  })

  test('that ended leaves nobody behind who would remove it (keeper rule 6)', async () => {
    const program = startProgram(runtime)
    program.call('shell', { command: STAYING })
    await program.pids()
    program.call('container', { image: 'brief' })
    await program.pids()
    await expect.poll(() => keepersOf(program).length, { timeout: PATIENCE_MS }).toBe(1)
  })
})

describe('the keeper', () => {
  test('is replaced when it is killed, and the new one knows what the old one knew (keeper rule 5)', async () => {
    const program = startProgram()
    program.call('shell', { command: STAYING })
    const pids = await program.pids()
    const [keeper, ...others] = keepersOf(program)
    expect(others).toEqual([])
    process.kill(keeper as number, 'SIGKILL')
    const replaced = (): boolean =>
      keepersOf(program).some((pid) => pid !== keeper && processStart(pid) !== null)
    await expect.poll(replaced, { timeout: PATIENCE_MS }).toBe(true)
    await killed(program, pids)
  })

  test('ends with a program that ends by itself, which it does not hold up (keeper rule 4)', async () => {
    const program = startProgram()
    program.call('shell', { command: 'echo $$' })
    await program.pids()
    const keepers = keepersOf(program)
    program.process.stdin?.end()
    await program.ended
    await untilGone(keepers)
  })

  test('ends with a program that is killed (keeper rule 4)', async () => {
    const program = startProgram()
    program.call('shell', { command: STAYING })
    const pids = await program.pids()
    const keepers = keepersOf(program)
    expect(keepers).toHaveLength(1)
    await killed(program, [...pids, ...keepers])
  })

  test('is nothing that a command can see', async () => {
    const list = 'echo $(ls /proc/self/fd)'
    const plain = spawnSync('sh', ['-c', list], { encoding: 'utf8' }).stdout.trim()
    const program = startProgram()
    program.call('shell', { shell: 'sh', command: `[ "$(${list})" = '${plain}' ] && echo $$` })
    await program.pids()
    // Of its session there are the command itself and what it just started.
    program.call('shell', { command: 'ps -o pid= -g $$ | wc -l | grep -qx 4 && echo $$' })
    await program.pids()
  })
})

test('no tool starts a process in another way', () => {
  const starters = globSync('src/worker/**/*.ts')
    .filter((path) => !/\.test\.ts$|\/testing\//.test(path))
    .filter((path) =>
      /import \{[^}]*\b(?:spawn|exec|fork)\w*\b[^}]*\} from 'node:child_process'/.test(
        readFileSync(path, 'utf8'),
      ),
    )
  expect(starters.sort()).toEqual([
    'src/worker/tools/process/keeper.ts',
    'src/worker/tools/process/tool-process.ts',
  ])
})
