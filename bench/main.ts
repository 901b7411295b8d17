/**
 * The scoreboard: latency of a chain, throughput of short executions, items of one loop, and the floor beside them, so
 * that numbers of different machines can be compared as ratios. `--json` prints one line for programs.
 */
import { measureFloor } from './floor.ts'
import { chainPlaybook, loopPlaybook } from './playbooks.ts'
import type { Product } from './product.ts'
import { startProduct } from './product.ts'

const CHAIN_STEPS = 200
const SHORT_EXECUTIONS = 1500
const SHORT_STEPS = 3
const IN_FLIGHT = 64
const LOOP_ITEMS = 1000
const FLOOR_EVENTS = 50_000
const EVENTS_PER_SHORT = 2 + 5 * SHORT_STEPS
/** Until then the compiler of JavaScript still finds things to do. */
const WARM_UP_EXECUTIONS = 3000
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 7)

const best = async (measure: () => Promise<number>): Promise<number> => {
  let fastest = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round += 1) fastest = Math.min(fastest, await measure())
  return fastest
}

const measure = async ({ stack, register, run }: Product) => {
  await register(chainPlaybook('chain', CHAIN_STEPS))
  await register(chainPlaybook('short', SHORT_STEPS))
  await register(loopPlaybook('loop'))
  await run('bench/chain', 1, 1)
  await run('bench/short', WARM_UP_EXECUTIONS, IN_FLIGHT)
  await run('bench/loop', 1, 1)
  const chain = await best(() => run('bench/chain', 1, 1))
  const short = await best(() => run('bench/short', SHORT_EXECUTIONS, IN_FLIGHT))
  const loop = await best(() => run('bench/loop', 1, 1, { items: LOOP_ITEMS }))
  const floor = await measureFloor(stack.databaseUrl, FLOOR_EVENTS)
  const events = (SHORT_EXECUTIONS * EVENTS_PER_SHORT) / short
  return {
    chain_ms_per_step: round((chain * 1000) / CHAIN_STEPS, 2),
    short_steps_per_second: round((SHORT_EXECUTIONS * SHORT_STEPS) / short, 0),
    short_events_per_second: round(events, 0),
    loop_items_per_second: round(LOOP_ITEMS / loop, 0),
    floor_events_per_second: round(floor.perSecond, 0),
    share_of_floor: round(events / floor.perSecond, 2),
  }
}

const round = (value: number, digits: number): number => Number(value.toFixed(digits))

const report = (result: Awaited<ReturnType<typeof measure>>): void => {
  if (process.argv.includes('--json')) return console.log(JSON.stringify(result))
  console.log(`
chain of ${CHAIN_STEPS} no-op steps                       ${result.chain_ms_per_step} ms per step
${SHORT_EXECUTIONS} executions of ${SHORT_STEPS} steps, ${IN_FLIGHT} in flight     ${result.short_steps_per_second} steps/s (${result.short_events_per_second} events/s)
one parallel loop of ${LOOP_ITEMS} no-op items          ${result.loop_items_per_second} items/s
floor: the same rows by a bare client        ${result.floor_events_per_second} events/s
share of the floor                           ${result.share_of_floor}`)
}

const product = await startProduct()
try {
  report(await measure(product))
} finally {
  await product.stop()
}
