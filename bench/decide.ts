/**
 * The pure engine on the clock: microseconds to decide one command.completed in a typical playbook, and the cost
 * per item of parallel loops, which must not depend on their length.
 *
 *     node --expose-gc bench/decide.ts
 */
import type { EventRecord } from '../src/contract/event.ts'
import type { Json, JsonObject } from '../src/contract/json.ts'
import { decide } from '../src/engine/decide.ts'
import type { Graph } from '../src/engine/graph.ts'
import type { Input } from '../src/engine/input.ts'
import { createSession } from '../src/engine/session.ts'
import { encodeState } from '../src/engine/snapshot.ts'
import { createState } from '../src/engine/state.ts'
import { createTestClock } from '../src/engine/testing/environment.ts'
import { report, started } from '../src/engine/testing/inputs.ts'
import { aPlaybook } from '../src/engine/testing/playbook.ts'

const STEPS = 20
const EXECUTIONS = 1500
const WARM_UP = 300

/** A chain with input, a guarded router, variables and a few branches, as real playbooks have them. */
const typicalStep = (index: number): string => `
  - step: s${index}
    tool:
      kind: http
      method: POST
      url: '{{ workload.base_url }}/items/{{ ctx.page | default(1) }}'
      headers: {Accept: application/json, X-Run: '{{ execution_id }}'}
      params: {limit: '{{ workload.limit }}', after: '{{ ${index === 0 ? 'start' : `s${index - 1}`}.cursor }}'}
      input: {previous: '{{ ${index === 0 ? 'start' : `s${index - 1}`}.rows | length }}', step: s${index}}
    set: {ctx.page: '{{ (ctx.page | default(0) | int) + 1 }}', ctx.last_cursor: '{{ output.cursor }}'}
    next:
      arcs:
        - {step: s${index + 1}, when: '{{ output.rows | length > 0 and output.status_code == 200 }}', set: {ctx.seen: '{{ output.rows[0].id }}'}}
        - {step: failed, when: "{{ event.name == 'call.error' }}"}`

const typical = (): Graph =>
  aPlaybook(
    `  - {step: start, tool: {kind: noop}, next: s0}
${Array.from({ length: STEPS - 2 }, (_, index) => typicalStep(index)).join('')}
  - {step: s${STEPS - 2}, tool: {kind: noop, input: {total: '{{ ctx.page }}'}}}
  - {step: failed, tool: {kind: noop}}`,
    'workload: {base_url: "https://example.test", limit: 50}',
  )

const answer = {
  status_code: 200,
  cursor: 'abc',
  rows: Array.from({ length: 20 }, (_, id) => ({ id, name: `row ${id}`, tags: ['a', 'b'] })),
}

const clock = createTestClock()

/** An execution whose commands wait in a queue; only what the engine itself keeps is kept. */
const createRun = (graph: Graph) => {
  const state = createState('1')
  const waiting: EventRecord[] = []
  const tell = (input: Input): void => {
    const session = createSession(graph, state, clock.turn())
    const reply = decide(session, input)
    if (!reply.ok) throw new Error(reply.problem.message)
    waiting.push(...session.issued)
  }
  return {
    state,
    start: (payload: JsonObject = {}): void => tell(started(payload)(state)),
    /** Prepares the report of the oldest command; the answer tells it. */
    nextReport: (data: Json): (() => void) => {
      const issued = waiting.shift()
      if (!issued) throw new Error('nothing to do')
      const { command_id: commandId } = issued.meta
      const input = report('command.completed', {
        step: issued.nodeName ?? '',
        commandId: typeof commandId === 'string' ? commandId : null,
        context: { result: { status: 'success', context: { data } } },
      })
      return () => tell(input)
    },
  }
}

const median = (times: number[]): number =>
  times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN

const benchChain = (): void => {
  const graph = typical()
  const times: number[] = []
  for (let round = 0; round < EXECUTIONS; round += 1) {
    const { state, start, nextReport } = createRun(graph)
    start()
    while (state.status === 'RUNNING') {
      const tell = nextReport(answer)
      const startedAt = performance.now()
      tell()
      if (round >= WARM_UP) times.push((performance.now() - startedAt) * 1000)
    }
    if (state.stepRuns !== STEPS) throw new Error(`ran ${state.stepRuns} of ${STEPS} steps: ${state.error}`)
  }
  const middle = median(times)
  const late = times[Math.floor(times.length * 0.99)] ?? Number.NaN
  console.log(
    `decide command.completed, ${STEPS} steps: median ${middle.toFixed(1)} µs, 99 % within ${late.toFixed(1)} µs`,
  )
}

const heapMegabytes = (): number => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 2 ** 20
}

const LOOP = `
  - step: start
    loop: {in: '{{ range(workload.count) | list }}', iterator: item, spec: {mode: parallel}}
    tool: {kind: http, url: 'https://example.test/{{ item }}', input: {item: '{{ item }}', page: '{{ _index }}'}}
    next: end
  - {step: end, tool: {kind: noop}}`

const runLoop = (graph: Graph, items: number) => {
  const { state, start, nextReport } = createRun(graph)
  const startedAt = performance.now()
  start({ count: items })
  for (let done = 0; state.running.has('start'); done += 1) nextReport({ ok: true, index: done })()
  return { state, perItem: ((performance.now() - startedAt) * 1000) / items }
}

/** Short loops are repeated, so that every length runs the same warm code. */
const benchLoop = (graph: Graph, items: number): void => {
  const perItem = median(
    Array.from({ length: Math.ceil(50_000 / items) }, () => runLoop(graph, items).perItem),
  )
  const before = heapMegabytes()
  const { state } = runLoop(graph, items)
  const heap = Math.max(0, heapMegabytes() - before).toFixed(1)
  const snapshot = (encodeState(state).length / 2 ** 20).toFixed(1)
  console.log(
    `parallel loop of ${String(items).padStart(6)}: ${perItem.toFixed(1)} µs per item, heap +${heap} MB when done, snapshot ${snapshot} MB`,
  )
}

benchChain()
const graph = aPlaybook(LOOP)
runLoop(graph, 50_000)
for (const items of [1000, 10_000, 100_000]) benchLoop(graph, items)
