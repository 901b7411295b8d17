/**
 * Virtual environments, one per set of packages.
 *
 * 1. An environment is made once and kept in the data directory under a name made of its packages and its Python; a file in it
 *    says that it is complete. Whatever is not complete is thrown away.
 * 2. Who needs one that is being made waits for it, in this process and, by a lock file, in others; a lock of a process that is
 *    gone does not count.
 * 3. Making one is not tied to the call that asked first: a call that is aborted leaves, the others get it.
 * 4. Packages that cannot be fetched are worth another try; packages that do not exist are not.
 */
import { createHash } from 'node:crypto'
import { access, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { ToolFailure } from '../../tool-failure.ts'
import { runProcess } from '../shell/run-process.ts'

export interface Environments {
  /** The interpreter that has these packages. Rejects with a ToolFailure, or with the reason of the abort. */
  interpreterFor(python: string, packages: readonly string[], signal: AbortSignal): Promise<string>
  close(): void
}

export interface EnvironmentsOptions {
  /** Where environments are kept. */
  readonly directory: string
  readonly env: Readonly<Record<string, string | undefined>>
}

const COMPLETE = 'noetl-complete.json'
const LOOK_MS = 100
const KEPT_WORDS = 20_000

const INSTALL = ['install', '--disable-pip-version-check', '--no-input', '--quiet'] as const
const NO_USABLE_PIP = /No module named pip|no such option: --python/

/** What pip says when the network is the trouble. */
const NETWORK =
  /NewConnectionError|ConnectTimeout|ReadTimeout|Temporary failure in name resolution|Name or service not known|Network is unreachable|Connection refused|ProxyError|SSLError|Max retries exceeded/i

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

const failureOf = (step: string, said: string): ToolFailure => {
  const isNetwork = NETWORK.test(said)
  const reason = said
    .trim()
    .split('\n')
    .findLast((line) => /error|no module|no such option/i.test(line))
  return new ToolFailure({
    kind: isNetwork ? 'connection' : 'config',
    code: isNetwork ? 'PACKAGES_UNAVAILABLE' : 'PACKAGES_NOT_INSTALLED',
    message: `${step} failed: ${(reason ?? said.trim().slice(-500)).trim()}`,
    retryable: isNetwork,
  })
}

/** True while the process that wrote the lock is there. */
const isHeld = async (lock: string): Promise<boolean> => {
  const pid = Number(await readFile(lock, 'utf8').catch(() => ''))
  // Between its creation and its first byte a lock has no owner yet.
  if (!Number.isInteger(pid) || pid <= 0) return exists(lock)
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

const takeLock = async (lock: string): Promise<boolean> => {
  try {
    const file = await open(lock, 'wx')
    await file.writeFile(String(process.pid))
    await file.close()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

export const createEnvironments = ({ directory, env }: EnvironmentsOptions): Environments => {
  const making = new Map<string, Promise<string>>()
  const closing = new AbortController()

  const run = async (step: string, program: string, args: readonly string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await runProcess({
      program,
      args,
      cwd: directory,
      env,
      stdin: null,
      script: null,
      maxOutputBytes: KEPT_WORDS,
      signal: closing.signal,
      onOutput: () => undefined,
    })
    closing.signal.throwIfAborted()
    if (exitCode !== 0) throw failureOf(step, `${stdout}\n${stderr}`)
    return stdout
  }

  /**
   * What the Python itself has stays visible: it was put there for playbooks. Its own pip installs into the environment, which
   * saves a copy of pip; a Python without one, or with an old one, gets the copy.
   */
  const install = async (place: string, python: string, packages: readonly string[]): Promise<void> => {
    const venv = ['-m', 'venv', '--system-site-packages']
    const what = `Installing ${packages.join(', ')}`
    const own = join(place, 'bin', 'python')
    await run('Making a Python environment', python, [...venv, '--without-pip', place])
    try {
      await run(what, python, ['-m', 'pip', '--python', own, ...INSTALL, ...packages])
    } catch (error) {
      if (!(error instanceof ToolFailure) || !NO_USABLE_PIP.test(error.message)) throw error
      await run('Making a Python environment with pip', python, [...venv, '--clear', place])
      await run(what, own, ['-m', 'pip', ...INSTALL, ...packages])
    }
  }

  const build = async (place: string, python: string, packages: readonly string[]): Promise<void> => {
    await rm(place, { recursive: true, force: true })
    try {
      await install(place, python, packages)
      await writeFile(join(place, COMPLETE), JSON.stringify({ packages }))
    } catch (error) {
      await rm(place, { recursive: true, force: true })
      throw error
    }
  }

  const make = async (place: string, python: string, packages: readonly string[]): Promise<string> => {
    const interpreter = join(place, 'bin', 'python')
    const lock = `${place}.lock`
    await mkdir(directory, { recursive: true })
    for (;;) {
      if (await exists(join(place, COMPLETE))) return interpreter
      if (await takeLock(lock)) break
      if (await isHeld(lock)) await sleep(LOOK_MS, undefined, { signal: closing.signal })
      else await rm(lock, { force: true })
    }
    try {
      if (!(await exists(join(place, COMPLETE)))) await build(place, python, packages)
      return interpreter
    } finally {
      await rm(lock, { force: true })
    }
  }

  /** The Python with its version: another one may hide behind the same name tomorrow. */
  const identityOf = async (python: string): Promise<string> => {
    await mkdir(directory, { recursive: true })
    return run('Asking Python for its version', python, [
      '-c',
      'import sys; print(sys.executable, sys.version)',
    ])
  }

  const start = async (python: string, packages: readonly string[]): Promise<string> => {
    const identity = await identityOf(python)
    const digest = createHash('sha256').update(JSON.stringify([identity, packages]))
    return make(join(directory, digest.digest('hex').slice(0, 24)), python, packages)
  }

  return {
    interpreterFor(python, packages, signal) {
      const key = JSON.stringify([python, packages])
      const known = making.get(key) ?? start(python, packages)
      making.set(key, known)
      // What worked is remembered; what failed is tried anew.
      known.catch(() => making.get(key) === known && making.delete(key))
      return new Promise((resolve, reject) => {
        const leave = (): void => reject(signal.reason)
        if (signal.aborted) leave()
        signal.addEventListener('abort', leave, { once: true })
        known.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
      })
    },
    close: () => closing.abort(new Error('the worker stops')),
  }
}
