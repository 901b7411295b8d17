/**
 * Records executions into test/histories, one file each: the playbook, every turn with its events, and the state
 * at the end. Files that exist stay as they are, since they stand for logs that were written by an earlier
 * version; name one on the command line to record it anew.
 *
 *     node scripts/record-histories.ts [name ...]
 */
import { existsSync, writeFileSync } from 'node:fs'
import type { EventRecord } from '../src/contract/event.ts'
import { encodeState } from '../src/engine/snapshot.ts'
import type { History, HistoryTurn } from '../src/engine/testing/history.ts'
import { recordHistory } from '../src/engine/testing/history.ts'
import type { Happening } from '../src/engine/testing/inputs.ts'
import {
  called,
  cancelled,
  childEnded,
  claimed,
  completed,
  expired,
  failed,
  handedBack,
  parked,
  reported,
  reportedOf,
  started,
  timedOut,
} from '../src/engine/testing/inputs.ts'
import { HEADER } from '../src/engine/testing/playbook.ts'
import { fold } from '../src/engine/testing/simulation.ts'

interface Scenario {
  readonly title: string
  readonly playbook: string
  readonly happenings: readonly Happening[]
}

const NOOP = 'tool: {kind: noop}'

const scenarios: Readonly<Record<string, Scenario>> = {
  'chain-with-variables': {
    title: 'Three steps hand values on through set, arc set and exports',
    playbook: `
workload: {base: 10, run: 'r-{{ execution_id }}'}
workflow:
  - {step: start, tool: {kind: noop, input: {base: '{{ base }}'}}, set: {ctx.n: '{{ output.n + base }}', ctx.deep.a: 1}, next: middle}
  - {step: middle, ${NOOP}, next: {arcs: [{step: end, when: '{{ ctx.n > 11 }}', set: {ctx.deep.b: '{{ output.m }}', reason: big}}, {step: small}]}}
  - {step: small, ${NOOP}}
  - {step: end, tool: {kind: noop, input: {all: '{{ ctx.deep }}', run: '{{ run }}'}}}
`,
    happenings: [
      started({ base: 11 }),
      claimed('start', 'w1', '1'),
      completed('start', { n: 1 }, { workerId: 'w1', leaseToken: '1' }),
      completed('middle', { m: [1, 2], _context_updates: { 'ctx.exported': true } }),
      completed('end', { answer: 42 }),
    ],
  },
  'split-and-join': {
    title: 'A split, a nested join that waits, a branch that is never taken',
    playbook: `
workflow:
  - {step: start, ${NOOP}, next: {spec: {mode: inclusive}, arcs: [{step: a}, {step: b}, {step: never, when: '{{ false }}'}]}}
  - {step: a, ${NOOP}, next: {arcs: [{step: a1, when: '{{ output.left }}'}, {step: a2}]}}
  - {step: a1, ${NOOP}, next: join}
  - {step: a2, ${NOOP}, next: join}
  - {step: b, when: '{{ not a }}', ${NOOP}, next: join}
  - {step: never, ${NOOP}, next: join}
  - {step: join, ${NOOP}, next: end}
  - {step: end}
`,
    happenings: [
      started(),
      completed('start'),
      completed('b', 'b'),
      completed('a', { left: false }),
      completed('a2'),
      completed('join', 'j'),
    ],
  },
  'parallel-loop': {
    title: 'A windowed loop whose iterations end out of order, one of them failed, then a sequential one',
    playbook: `
workflow:
  - {step: start, loop: {in: [a, b, c, d], iterator: item, spec: {mode: parallel, max_in_flight: 2, on_error: continue}}, tool: {kind: noop, input: {x: '{{ item }}{{ _index }}'}}, set: {ctx.failed: '{{ output.stats.failed }}'}, next: second}
  - {step: second, loop: {in: '{{ start.results }}', iterator: row}, ${NOOP}, next: none}
  - {step: none, loop: {in: '{{ [] }}', iterator: row}, ${NOOP}}
`,
    happenings: [
      started(),
      completed('start#1', 'B'),
      failed('start#0', 'no A', 'partial'),
      completed('start#3', 'D'),
      completed('start#2', 'C'),
      ...[0, 1, 2, 3].map((index) => completed(`second#${index}`, { index })),
    ],
  },
  'cycle-with-fan-out': {
    title: 'Two rounds of a body with a join and a step that hangs off it',
    playbook: `
workflow:
  - {step: start, set: {ctx.n: 0}, next: head}
  - {step: head, ${NOOP}, set: {ctx.n: '{{ ctx.n + 1 }}'}, next: [a, b, log]}
  - {step: a, ${NOOP}, next: join}
  - {step: b, ${NOOP}, next: join}
  - {step: log, ${NOOP}}
  - {step: join, ${NOOP}, next: {arcs: [{step: head, when: '{{ ctx.n < 2 }}'}, {step: exit}]}}
  - {step: exit, ${NOOP}}
`,
    happenings: [
      started(),
      ...['head', 'b', 'a', 'join', 'head', 'a', 'log', 'b', 'log', 'join', 'exit'].map((name, index) =>
        completed(name, { index }),
      ),
    ],
  },
  'failure-handled': {
    title: 'A failure that an arc takes care of',
    playbook: `
workflow:
  - {step: start, ${NOOP}, set: {ctx.never: 1}, next: {arcs: [{step: fine}, {step: rescue, when: "{{ output.error.code == 'TEST' }}", set: {ctx.why: '{{ error.message }}'}}]}}
  - {step: fine, ${NOOP}}
  - {step: rescue, ${NOOP}, spec: {on_error: continue}, next: end}
  - {step: end, ${NOOP}}
`,
    happenings: [
      started(),
      failed('start', 'broken', { rows: 3 }),
      failed('rescue', 'too'),
      completed('end', 'saved'),
    ],
  },
  'failure-blocks-join': {
    title:
      'A failure that nothing handles: the other branch finishes, the join does not start, the final step does',
    playbook: `
executor: {spec: {final_step: report}}
workflow:
  - {step: start, ${NOOP}, next: [a, b]}
  - {step: a, ${NOOP}, next: join}
  - {step: b, ${NOOP}, next: b2}
  - {step: b2, ${NOOP}, next: join}
  - {step: join, ${NOOP}}
  - {step: report, ${NOOP}}
`,
    happenings: [
      started(),
      completed('start'),
      failed('a', 'no'),
      completed('b'),
      completed('b2', 2),
      completed('report', 'told'),
    ],
  },
  'leases-lost': {
    title:
      'A command that is handed back, lost three times, and given up; stale and repeated reports between',
    playbook: `
workflow:
  - {step: start, ${NOOP}, next: {arcs: [{step: rescue, when: "{{ error.kind == 'worker_lost' }}"}]}}
  - {step: rescue, ${NOOP}}
`,
    happenings: [
      started(),
      claimed('start', 'w1', '1'),
      handedBack('start', '1'),
      claimed('start', 'w1', '2'),
      expired('start'),
      completed('start', 'late', { workerId: 'w1', leaseToken: '2' }),
      claimed('start', 'w2', '3'),
      claimed('start', 'w1', '4'),
      expired('start', '3'),
      claimed('start', 'w3', '5'),
      expired('start', '5'),
      completed('rescue', 1, { workerId: 'w4' }),
    ],
  },
  'foreign-worker': {
    title: 'A worker of another generation: results in call.done, aliases, events that are only history',
    playbook: `
workflow:
  - {step: start, ${NOOP}, next: second}
  - {step: second, ${NOOP}, next: {arcs: [{step: third, when: '{{ error }}'}]}}
  - {step: third, ${NOOP}}
`,
    happenings: [
      started(),
      reportedOf('start', 'command.claimed', { workerId: 'rs-1' }),
      reportedOf('start', 'command.started', { workerId: 'rs-1' }),
      reported('step_started', { step: 'start' }),
      reportedOf('start', 'call.done', {
        workerId: 'rs-1',
        context: { call_index: 0, result: { status: 'success', context: { data: { n: 1 } } } },
      }),
      reported('step.exit', { step: 'start', context: { next: ['third'] } }),
      reportedOf('start', 'command.completed', { workerId: 'rs-1', context: { status: 'success' } }),
      reportedOf('second', 'call.error', {
        context: { error: { kind: 'sql', code: '42P01', message: 'no table' } },
      }),
      reportedOf('second', 'action_failed', { context: { error: 'short' } }),
      reportedOf('third', 'step_completed', { context: { data: 3 } }),
      reported('command.completed', { step: 'third', context: { data: 'after the end' } }),
    ],
  },
  cancelled: {
    title: 'An execution that is cancelled while a step runs',
    playbook: `
workflow:
  - {step: start, ${NOOP}, next: [a, b]}
  - {step: a, ${NOOP}}
  - {step: b, ${NOOP}}
`,
    happenings: [
      started(),
      completed('start'),
      completed('a'),
      cancelled('not needed any more'),
      cancelled(),
    ],
  },
  'cursor-loop': {
    title:
      'A cursor loop over three frames: rows out of order, one failed, one parked, a claim that is lost once',
    playbook: `
workload: {table: jobs}
workflow:
  - {step: start, loop: {cursor: {kind: postgres, auth: pg, claim: 'take {{ __frame_max_rows }} of {{ table }}'}, iterator: job, spec: {mode: cursor, on_error: continue, frame: {max_rows: 3, row_concurrency: 2}}}, tool: {kind: noop, input: {id: '{{ job.id }}'}}, set: {ctx.rows: '{{ output.rows }}'}, next: {arcs: [{step: again, when: "{{ event.name == 'loop.done' and output.stats.failed == 1 }}"}]}}
  - {step: again, loop: {cursor: {claim: take}, iterator: row, spec: {mode: cursor}}, ${NOOP}, next: {arcs: [{step: rescue, when: '{{ error }}'}]}}
  - {step: rescue, ${NOOP}}
`,
    happenings: [
      started(),
      claimed('start', 'w1', '1'),
      expired('start', '1'),
      completed('start', { rows: [{ id: 1 }, { id: 2 }, { id: 3 }] }, { workerId: 'w2' }),
      failed('start#1', 'bad row'),
      parked('start#0', 1000),
      completed('start#2'),
      called('start#0', 'late'),
      completed('start', [{ id: 4 }]),
      completed('start#0', { _context_updates: { 'ctx.seen': 4 } }),
      completed('start', { rows: [] }),
      completed('again', { rows: [{ id: 5 }, { id: 6 }] }),
      failed('again#0', 'stops here'),
      completed('rescue', 'done'),
    ],
  },
  'sub-playbook': {
    title:
      'Children: one that completes, one that fails and is handled, one that does not answer in time, one nobody waits for',
    playbook: `
workflow:
  - {step: start, tool: {kind: playbook, path: tests/child, return_step: report, input: {x: 1}}, set: {ctx.score: '{{ output.score }}', ctx.child: '{{ output._execution_id }}'}, next: second}
  - {step: second, tool: {kind: playbook, path: tests/child, return_result: true}, next: {arcs: [{step: third, when: "{{ error.code == 'CHILD_FAILED' }}"}]}}
  - {step: third, tool: {kind: playbook, path: tests/child, return_result: true, timeout: 5}, spec: {on_error: continue}, next: fourth}
  - {step: fourth, tool: {kind: playbook, path: tests/child}}
`,
    happenings: [
      started({}, { parentExecutionId: '400', parentCommandId: '400:up:1', depth: 2 }),
      claimed('start', 'server', '1'),
      parked('start', 300_000, { workerId: 'server', leaseToken: '1' }),
      claimed('start', 'other', '2'),
      childEnded('start', { data: { score: 7, status: 'its own' } }),
      parked('second', 180_000),
      childEnded('second', { status: 'FAILED', error: "Step 'x' failed: no", childId: '901' }),
      parked('third', 5000),
      timedOut('third', 5000),
      completed('fourth', { status: 'started', execution_id: '902', path: 'tests/child', async: true }),
    ],
  },
  'evaluation-fails': {
    title: 'A template that fails while the next command is built',
    playbook: `
workflow:
  - {step: start, ${NOOP}, next: [a, b]}
  - {step: a, ${NOOP}}
  - {step: b, tool: {kind: noop, input: {x: '{{ 1 / start.zero }}'}}}
`,
    happenings: [started(), completed('start', { zero: 0 })],
  },
}

/** One event per line, so that a difference shows where it is. */
const toText = (history: History): string => {
  const line = (value: unknown): string => JSON.stringify(value)
  const turn = ({ input, ticks, reply, events }: HistoryTurn): string =>
    `    {"input": ${line(input)},\n     "ticks": ${line(ticks)}, "reply": ${line(reply)},\n     "events": [${lines(events)}]}`
  const lines = (events: readonly EventRecord[]): string =>
    events.length === 0 ? '' : `\n       ${events.map(line).join(',\n       ')}`
  const state = encodeState(fold(history.turns.flatMap(({ events }) => events)))
  return `{
  "title": ${line(history.title)},
  "playbook": ${line(history.playbook)},
  "turns": [
${history.turns.map(turn).join(',\n')}
  ],
  "state": ${state}
}
`
}

const wanted = new Set(process.argv.slice(2))
for (const [name, { title, playbook, happenings }] of Object.entries(scenarios)) {
  const file = new URL(`../test/histories/${name}.json`, import.meta.url)
  if (existsSync(file) && !wanted.has(name)) continue
  writeFileSync(file, toText(recordHistory(title, `${HEADER}${playbook.trimStart()}`, happenings)))
  console.log(`recorded ${name}`)
}
