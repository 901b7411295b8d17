/**
 * Time travel on the clock: the state at random places of executions with 100,000 events, over HTTP, by position, by
 * event and by time. One execution is a cycle, whose state stays small; one is a wide loop, whose state grows.
 *
 *     node bench/as-of.ts [events]
 */
import { startProduct } from './product.ts'

const EVENTS = Number(process.argv[2] ?? 100_000)
const POINTS = 200
/** Events of one run of a step, and of one iteration. */
const PER_STEP = 6
const PER_ITEM = 3

const header = (path: string): string =>
  `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: as-of, path: ${path}}\nworkload: {rounds: 10, items: 10}\nworkflow:\n`

const CYCLE = `${header('bench/cycle')}  - {step: start, next: a}
  - {step: a, tool: {kind: noop, input: {page: '{{ ctx.page | default(0) }}'}}, set: {ctx.page: '{{ (ctx.page | default(0)) + 1 }}'}, next: b}
  - {step: b, tool: {kind: noop}, next: c}
  - {step: c, tool: {kind: noop}, next: {arcs: [{step: a, when: '{{ ctx.page < workload.rounds }}'}]}}
`
const LOOP = `${header('bench/wide')}  - step: start
    loop: {in: '{{ range(workload.items) | list }}', iterator: item, spec: {mode: parallel}}
    tool: {kind: noop, input: {item: '{{ item }}', note: 'a few words about the item'}}
`

interface Answer {
  readonly position: number
  readonly event_id: string
  readonly at: string
  readonly last_position: number
}

const product = await startProduct()

const ask = async (id: string, query: string): Promise<Answer> => {
  const response = await fetch(`${product.stack.url}/api/executions/${id}/state?${query}`)
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
  return (await response.json()) as Answer
}

const newest = async (path: string): Promise<string> => {
  const response = await fetch(`${product.stack.url}/api/executions?path=${path}&limit=1`)
  // The id is an integer with all its digits, which a number cannot hold.
  return /"execution_id":\s*"?(\d+)/.exec(await response.text())?.[1] ?? ''
}

const quantiles = (times: readonly number[]): string => {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? Number.NaN).toFixed(1)
  return `median ${at(0.5)} ms, 95 % within ${at(0.95)} ms, slowest ${at(0.999)} ms`
}

const measure = async (name: string, id: string): Promise<void> => {
  const { last_position: last } = await ask(id, '')
  const floor: number[] = []
  for (let point = 0; point < POINTS; point += 1) {
    const began = performance.now()
    await fetch(`${product.stack.url}/api/executions/${id}/status`).then((response) => response.text())
    floor.push(performance.now() - began)
  }
  console.log(`${name}: reading its status, for comparison: ${quantiles(floor)}`)
  for (const kind of ['position', 'event_id', 'time'] as const) {
    const times: number[] = []
    let worked = 0
    for (let point = 0; point < POINTS; point += 1) {
      const position = 1 + Math.floor(Math.random() * last)
      const place = kind === 'position' ? null : await ask(id, `as_of_position=${position}`)
      const query =
        place === null
          ? `as_of_position=${position}`
          : kind === 'time'
            ? `as_of_time=${place.at}`
            : `as_of_event_id=${place.event_id}`
      const [began, before] = [performance.now(), process.cpuUsage()]
      await ask(id, query)
      times.push(performance.now() - began)
      const { user, system } = process.cpuUsage(before)
      worked += (user + system) / 1000
    }
    // On a busy machine the work says more than the time.
    const work = `${(worked / POINTS).toFixed(1)} ms of work each, asking included`
    console.log(`${name}, ${last} events, by ${kind.padEnd(8)}: ${quantiles(times)}; ${work}`)
  }
}

try {
  await product.register(CYCLE)
  await product.register(LOOP)
  await product.run('bench/cycle', 1, 1, { rounds: Math.floor(EVENTS / (3 * PER_STEP)) })
  await measure('cycle', await newest('bench/cycle'))
  await product.run('bench/wide', 1, 1, { items: Math.floor(EVENTS / PER_ITEM) })
  await measure('wide loop', await newest('bench/wide'))
} finally {
  await product.stop()
}
