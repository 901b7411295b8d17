/**
 * The scoreboard. Starts the whole product on a fresh embedded PostgreSQL (durable settings), starts executions
 * over HTTP from another process, and writes the same rows with a bare client beside it, so that numbers of
 * different machines can be compared as ratios.
 */
import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSettings } from '../src/compose/settings.ts'
import type { Stack } from '../src/compose/stack.ts'
import { startStack } from '../src/compose/stack.ts'
import { silentLog } from '../src/worker/log.ts'
import { measureFloor } from './floor.ts'
import { chainPlaybook, loopPlaybook } from './playbooks.ts'

const CHAIN_STEPS = 200
const SHORT_EXECUTIONS = 1500
const SHORT_STEPS = 3
const IN_FLIGHT = 64
const LOOP_ITEMS = 1000
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3)

const register = async (url: string, content: string): Promise<void> => {
  const answer = await fetch(`${url}/api/catalog/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ content }),
  })
  if (!answer.ok) throw new Error(await answer.text())
}

/** Runs jobs in the load generator and answers their seconds. */
const createLoad = (stack: Stack) => {
  const child = fork(new URL('load-generator.ts', import.meta.url), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  let ended: string[] = []
  stack.core.onCommit((state) => {
    if (state.status === 'RUNNING') return
    if (ended.length === 0) {
      setImmediate(() => {
        child.send({ ended })
        ended = []
      })
    }
    ended.push(state.executionId)
  })
  return {
    run: (path: string, count: number, inFlight: number, payload: object = {}): Promise<number> =>
      new Promise((resolve, reject) => {
        child.once('message', (message: { seconds?: number; error?: string }) =>
          message.seconds === undefined ? reject(new Error(message.error)) : resolve(message.seconds),
        )
        child.send({ job: { url: stack.url, path, count, inFlight, payload } })
      }),
    stop: () => child.kill(),
  }
}

const best = async (rounds: number, measure: () => Promise<number>): Promise<number> => {
  let fastest = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round += 1) fastest = Math.min(fastest, await measure())
  return fastest
}

const measure = async (stack: Stack) => {
  const load = createLoad(stack)
  try {
    await register(stack.url, chainPlaybook('chain', CHAIN_STEPS))
    await register(stack.url, chainPlaybook('short', SHORT_STEPS))
    await register(stack.url, loopPlaybook('loop'))
    await load.run('bench/chain', 1, 1)
    await load.run('bench/short', 200, IN_FLIGHT)
    await load.run('bench/loop', 1, 1)
    const chain = await best(ROUNDS, () => load.run('bench/chain', 1, 1))
    const short = await best(ROUNDS, () => load.run('bench/short', SHORT_EXECUTIONS, IN_FLIGHT))
    const loop = await best(ROUNDS, () => load.run('bench/loop', 1, 1, { items: LOOP_ITEMS }))
    const floor = await measureFloor(stack.databaseUrl, 50_000)
    return { chain, short, loop, floor }
  } finally {
    load.stop()
  }
}

const EVENTS_PER_SHORT = 2 + 5 * SHORT_STEPS

const report = ({ chain, short, loop, floor }: Awaited<ReturnType<typeof measure>>): void => {
  const events = (SHORT_EXECUTIONS * EVENTS_PER_SHORT) / short
  const result = {
    chain_ms_per_step: round((chain * 1000) / CHAIN_STEPS, 2),
    short_steps_per_second: round((SHORT_EXECUTIONS * SHORT_STEPS) / short, 0),
    short_events_per_second: round(events, 0),
    loop_items_per_second: round(LOOP_ITEMS / loop, 0),
    floor_events_per_second: round(floor.perSecond, 0),
    share_of_floor: round(events / floor.perSecond, 2),
  }
  if (process.argv.includes('--json')) return console.log(JSON.stringify(result))
  console.log(`
chain of ${CHAIN_STEPS} no-op steps                         ${result.chain_ms_per_step} ms per step
${SHORT_EXECUTIONS} executions of ${SHORT_STEPS} steps, ${IN_FLIGHT} in flight       ${result.short_steps_per_second} steps/s (${result.short_events_per_second} events/s)
one parallel loop of ${LOOP_ITEMS} no-op items            ${result.loop_items_per_second} items/s
floor: the same rows by a bare client          ${result.floor_events_per_second} events/s
share of the floor                             ${result.share_of_floor}`)
}

const round = (value: number, digits: number): number => Number(value.toFixed(digits))

const dataDir = mkdtempSync(join(tmpdir(), 'noetl-bench-'))
const stack = await startStack({
  ...readSettings({ port: '0', dataDir }, {}, () => []),
  version: 'bench',
  log: { ...silentLog, error: (fields, message) => console.error(message, fields) },
  toolEnv: process.env,
})
try {
  report(await measure(stack))
} finally {
  await stack.stop()
  rmSync(dataDir, { recursive: true, force: true })
}
