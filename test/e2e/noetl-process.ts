/** Real processes of the command, their output, and files through which a running playbook and a test talk. */
import { spawn } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import { fastDirectory } from '../support/fast-directory.ts'

export const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url))
const COMMAND = join(REPOSITORY, 'bin', 'noetl')

export interface Finished {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

export interface NoetlProcess {
  readonly pid: number
  readonly finished: Promise<Finished>
  stdout(): string
  /** The match, once the output has it; fails when the process ends before. */
  printed(pattern: RegExp): Promise<RegExpMatchArray>
  kill(signal: NodeJS.Signals): void
}

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

const running = new Set<NoetlProcess>()
const directories = new Set<string>()

afterAll(async () => {
  for (const each of running) each.kill('SIGKILL')
  await Promise.all([...running].map((each) => each.finished))
  for (const directory of directories)
    rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
})

export const temporaryDirectory = (): string => {
  const directory = mkdtempSync(join(fastDirectory(), 'noetl-e2e-'))
  directories.add(directory)
  return directory
}

/** What the developer has set for himself must not reach the tests. */
const cleanEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:NOETL_|FORCE_COLOR$|NO_COLOR$)/.test(name)),
  )

export const startNoetl = (
  args: readonly string[],
  { env = {}, cwd = REPOSITORY }: StartOptions = {},
): NoetlProcess => {
  const child = spawn(COMMAND, args, {
    cwd,
    env: { ...cleanEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  let ended = false
  const watchers = new Set<() => void>()
  const changed = (): void => {
    for (const look of watchers) look()
  }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    changed()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
    changed()
  })
  const finished = new Promise<Finished>((resolve) => {
    child.once('close', (code, signal) => {
      ended = true
      running.delete(self)
      changed()
      resolve({ exitCode: code ?? (signal === null ? -1 : -2), stdout, stderr })
    })
  })
  const self: NoetlProcess = {
    pid: child.pid ?? -1,
    finished,
    stdout: () => stdout,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(stdout + stderr)
          if (!match && !ended) return
          watchers.delete(look)
          if (match) resolve(match)
          else reject(new Error(`ended without printing ${String(pattern)}; it printed:\n${stdout}${stderr}`))
        }
        watchers.add(look)
        look()
      }),
    kill: (signal) => void child.kill(signal),
  }
  running.add(self)
  return self
}

export const noetl = (args: readonly string[], options?: StartOptions): Promise<Finished> =>
  startNoetl(args, options).finished

export interface Server extends NoetlProcess {
  readonly url: string
}

/** `noetl up` on a free port, once it is ready. */
export const startServer = async (
  dataDir: string,
  flags: readonly string[] = [],
  options: StartOptions = {},
): Promise<Server> => {
  const started = startNoetl(['up', '--port', '0', '--data-dir', dataDir, ...flags], options)
  const [, url = ''] = await started.printed(/^NoETL is ready at (http:\/\/\S+)$/m)
  return { ...started, url }
}

/** A place where a running step says that it runs and waits until it may go on. */
export interface Gate {
  /** The text of a playbook whose only step waits here. */
  readonly playbook: string
  /** How often the step was begun. */
  begun(): number
  /** Resolves when the step was begun this often. */
  untilBegun(times: number): Promise<void>
  open(): void
}

export const createGate = (): Gate => {
  const directory = join(temporaryDirectory(), 'gate')
  mkdirSync(directory)
  const begun = (): number => globSync('begun-*', { cwd: directory }).length
  return {
    playbook: gatePlaybook(directory),
    begun,
    untilBegun: (times) => until(() => begun() >= times),
    open: () => writeFileSync(join(directory, 'open'), ''),
  }
}

const gatePlaybook = (directory: string): string => `
apiVersion: noetl.io/v2
kind: Playbook
metadata: { name: gate, path: test/gate }
workflow:
  - step: start
    tool:
      kind: python
      input: { directory: ${JSON.stringify(directory)} }
      code: |
        import os, time, uuid
        open(os.path.join(directory, f"begun-{uuid.uuid4()}"), "w").close()
        while not os.path.exists(os.path.join(directory, "open")):
            time.sleep(0.01)
        result = "through"
`

/** Waits for a fact that only looking can tell. */
export const until = async (isTrue: () => boolean, limitMs = 120_000): Promise<void> => {
  const deadline = performance.now() + limitMs
  while (!isTrue()) {
    if (performance.now() > deadline) throw new Error(`not true after ${limitMs} ms: ${String(isTrue)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
