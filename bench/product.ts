/** The whole product on a fresh embedded PostgreSQL with durable settings, and a load generator in a process of its own. */
import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSettings } from '../src/compose/settings.ts'
import type { Stack } from '../src/compose/stack.ts'
import { startStack } from '../src/compose/stack.ts'
import { silentLog } from '../src/worker/log.ts'

export interface Product {
  readonly stack: Stack
  register(content: string): Promise<void>
  /** Starts executions over HTTP, so many in flight, and answers the seconds until all have ended. */
  run(path: string, count: number, inFlight: number, payload?: object): Promise<number>
  stop(): Promise<void>
}

export const startProduct = async (): Promise<Product> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'noetl-bench-'))
  const stack = await startStack({
    ...readSettings({ port: '0', dataDir }, {}, () => []),
    version: 'bench',
    log: { ...silentLog, error: (fields, message) => console.error(message, fields) },
    toolEnv: process.env,
  })
  const child = fork(new URL('load-generator.ts', import.meta.url), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  tellEnds(stack, (ended) => child.send({ ended }))
  return {
    stack,
    register: async (content) => {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(`${stack.url}/api/catalog/register`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ content }),
      })
      if (!answer.ok) throw new Error(await answer.text())
    },
    run: (path, count, inFlight, payload = {}) =>
      new Promise((resolve, reject) => {
        child.once('message', (message: { seconds?: number; error?: string }) =>
          message.seconds === undefined ? reject(new Error(message.error)) : resolve(message.seconds),
        )
        child.send({ job: { url: stack.url, path, count, inFlight, payload } })
      }),
    stop: async () => {
      child.kill()
      await stack.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** Tells which executions have ended, so that no polling disturbs the measurement. */
const tellEnds = (stack: Stack, tell: (ended: readonly string[]) => void): void => {
  let ended: string[] = []
  stack.core.onCommit((state) => {
    if (state.status === 'RUNNING') return
    if (ended.length === 0) {
      setImmediate(() => {
        tell(ended)
        ended = []
      })
    }
    ended.push(state.executionId)
  })
}
