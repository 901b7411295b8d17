/** A real NATS server with JetStream for a test: on a port of its own, with its data in a directory that is thrown away. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fastDirectory } from './fast-directory.ts'
import { ownPort } from './own-port.ts'

export interface NatsServer {
  readonly url: string
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>
  /** Starts it again at the same address, with its data or without. */
  restart(options?: { empty?: boolean }): Promise<void>
  /** Ends it and removes its data. */
  stop(): Promise<void>
}

/** `args` are further ones, such as `--user a --pass b`. */
export const startNatsServer = async (args: readonly string[] = []): Promise<NatsServer> => {
  const port = await ownPort()
  const directory = mkdtempSync(join(fastDirectory(), 'noetl-nats-'))
  let child = await launch(port, directory, args)
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  return {
    url: `nats://127.0.0.1:${port}`,
    kill,
    restart: async ({ empty = false } = {}) => {
      await kill()
      if (empty) rmSync(directory, { recursive: true, force: true })
      child = await launch(port, directory, args)
    },
    stop: async () => {
      await kill()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Resolves when it takes connections. */
const launch = async (port: number, directory: string, args: readonly string[]): Promise<ChildProcess> => {
  const fixed = ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', directory]
  const child = spawn('nats-server', [...fixed, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    // Debian puts it where not everybody looks.
    env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` },
  })
  // A run that ends in the middle leaves nothing behind.
  const end = (): void => void child.kill('SIGKILL')
  process.once('exit', end)
  child.once('exit', () => process.off('exit', end))
  const said: string[] = []
  const lines = createInterface({ input: child.stderr })
  let failed: () => void = () => undefined
  await new Promise<void>((resolve, reject) => {
    failed = () => reject(new Error(`nats-server did not start:\n${said.join('\n')}`))
    child.once('error', reject)
    child.once('exit', failed)
    lines.on('line', (line) => {
      said.push(line)
      if (line.includes('Server is ready')) resolve()
    })
  })
  child.off('exit', failed)
  lines.on('line', () => undefined)
  return child
}
