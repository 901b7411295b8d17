/** Two logs beside each other. Numbers are those of the header of diff.ts. */
import { describe, expect, it } from 'vitest'
import type { EventRecord } from '../contract/event.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { anEvent } from '../contract/testing/event.ts'
import { diffLogs } from './diff.ts'
import { createLogReader } from './diff-summary.ts'
import { jsonChanges } from './json-changes.ts'

interface Facts {
  readonly id?: string
  readonly workload?: JsonObject
  readonly version?: number
  readonly runs?: readonly Run[]
  readonly end?: 'completed' | 'failed'
  readonly result?: Json
}

interface Run {
  readonly step: string
  readonly input?: JsonObject
  readonly data?: Json
  readonly next?: readonly string[]
  readonly error?: string
  readonly skipped?: string
  readonly kept?: Json
  readonly ms?: number
}

const logOf = ({ id = '100', workload = {}, version = 1, runs = [], end = 'completed', result }: Facts) => {
  const reader = createLogReader(id)
  let position = 0
  let at = Date.UTC(2026, 0, 1)
  const add = (eventType: string, nodeName: string, more: Partial<EventRecord> = {}): void =>
    reader.add(
      anEvent({
        executionId: id,
        position: (position += 1),
        eventId: String(position),
        createdAt: new Date(at).toISOString(),
        eventType,
        nodeName,
        meta: { emitted_by: 'orchestrator' },
        ...more,
      }),
    )
  add('playbook_started', 'p', { context: { path: 'p', catalog_id: '7', workload }, meta: { version } })
  for (const run of runs) {
    if (run.skipped !== undefined) {
      add('step.skipped', run.step, { result: { status: 'SKIPPED', context: { reason: run.skipped } } })
      continue
    }
    if (run.kept !== undefined) {
      add('step.kept', run.step, { result: { status: 'COMPLETED', context: { data: run.kept } } })
      continue
    }
    add('step.enter', run.step)
    add('command.issued', run.step, { context: { tool_config: { kind: 'noop' }, args: run.input ?? {} } })
    at += run.ms ?? 10
    add(run.error === undefined ? 'command.completed' : 'command.failed', run.step, {
      meta: {},
      result: { status: 'x', context: { result: { context: { data: run.data ?? null } } } },
      error: run.error ?? null,
    })
    const status = run.error === undefined ? 'COMPLETED' : 'FAILED'
    add('step.exit', run.step, {
      result: { status, context: { next: [...(run.next ?? [])] } },
      error: run.error ?? null,
    })
  }
  add(`playbook.${end}`, 'playbook', { result: { status: 'x', context: { data: result ?? null } } })
  return reader.summary()
}

const diff = (a: Facts, b: Facts) => diffLogs(logOf(a), logOf({ id: '200', ...b }), Date.parse)

const chain: readonly Run[] = [
  { step: 'start', data: { n: 1 }, next: ['b'] },
  { step: 'b', data: 2 },
]

describe('two executions', () => {
  it('that did the same are the same, however long each took (3)', () => {
    const found = diff({ runs: chain }, { runs: chain.map((run) => ({ ...run, ms: 500 })) })
    expect(found).toMatchObject({ same: true, first: null, onlyInA: [], onlyInB: [] })
    expect(found.steps.map(({ a, b }) => [a?.durationMs, b?.durationMs])).toEqual([
      [10, 500],
      [10, 500],
    ])
    expect([found.a.durationMs, found.b.durationMs]).toEqual([20, 1000])
  })

  it('differ first in their definition, then in their inputs (1)', () => {
    expect(diff({ workload: { x: 1 } }, { workload: { x: 2 }, version: 2 }).first).toMatchObject({
      aspect: 'definition',
      text: 'p version 1 and p version 2',
    })
    expect(
      diff({ workload: { x: 1, y: 1 }, runs: chain }, { workload: { x: 2, z: 1 }, runs: [] }),
    ).toMatchObject({
      first: { aspect: 'workload', text: 'workload.x is 1 and 2' },
      workload: [
        { path: 'x', kind: 'changed', a: 1, b: 2 },
        { path: 'y', kind: 'removed', a: 1 },
        { path: 'z', kind: 'added', b: 1 },
      ],
    })
  })

  it('of versions that say the same are told apart by what they did alone (1)', () => {
    const [a, b] = [logOf({ runs: chain }), logOf({ id: '200', version: 2, runs: chain })]
    expect(diffLogs(a, b, Date.parse, true)).toMatchObject({ same: true, sameDefinition: true, first: null })
    expect(diffLogs(a, b, Date.parse, false)).toMatchObject({ same: false, sameDefinition: false })
    expect(diffLogs(a, { ...b, path: 'q' }, Date.parse, true).first?.aspect).toBe('definition')
    expect(diffLogs(a, { ...b, version: 1 }, Date.parse, false).first?.text).toBe(
      'two definitions of p version 1',
    )
  })

  it.each<[string, readonly Run[], object]>([
    [
      'input',
      [{ step: 'start', input: { q: 'x' }, data: { n: 1 }, next: ['b'] }],
      { aspect: 'input', step: 'start', text: 'the input of start: args.q is only in the second' },
    ],
    [
      'result',
      [{ step: 'start', data: { n: 5 }, next: ['b'] }],
      { aspect: 'result', text: 'the result of start: n is 1 and 5' },
    ],
    [
      'routing',
      [{ step: 'start', data: { n: 1 }, next: ['c'] }],
      { aspect: 'routing', text: 'start leads to b and to c' },
    ],
    [
      'outcome',
      [{ step: 'start', data: { n: 1 }, next: ['b'], error: 'no' }],
      { aspect: 'outcome', text: 'start completed and failed (no)' },
    ],
    [
      'path',
      [chain[0] as Run, { step: 'b', skipped: 'dead_path' }],
      { aspect: 'outcome', step: 'b', text: 'b completed and skipped (dead_path)' },
    ],
    ['path', [chain[0] as Run], { aspect: 'path', step: 'b', text: 'b completed only in the first' }],
  ])('differ in the %s of a step (1)', (_name, runs, first) => {
    expect(diff({ runs: chain }, { runs })).toMatchObject({ same: false, first })
  })

  it('that only the second has is told, too (2)', () => {
    const found = diff({ runs: chain }, { runs: [...chain, { step: 'b', data: 2 }] })
    expect(found).toMatchObject({
      first: { aspect: 'path', text: 'b (run 2) completed only in the second' },
      onlyInB: ['b (run 2)'],
    })
  })

  it('may run branches in any order (2)', () => {
    const branches: readonly Run[] = [{ step: 'start', next: ['a', 'b'] }, { step: 'a' }, { step: 'b' }]
    const other: readonly Run[] = [{ step: 'start', next: ['b', 'a'] }, { step: 'b' }, { step: 'a' }]
    expect(diff({ runs: branches }, { runs: other }).same).toBe(true)
  })

  it('differ in how they end', () => {
    expect(diff({ runs: chain }, { runs: chain, end: 'failed' }).first).toMatchObject({
      aspect: 'end',
      text: 'COMPLETED and FAILED',
    })
    expect(diff({ runs: chain, result: 1 }, { runs: chain, result: 2 }).first).toMatchObject({
      aspect: 'result',
      text: 'result is 1 and 2',
    })
  })

  it('do not differ in what is their own: ids and places of results', () => {
    const marker = (id: string): Json => ({
      _ref: `noetl://execution/${id}/result/x/${id}9`,
      _store: 'kv',
      _size_bytes: 5,
    })
    const own = (id: string): readonly Run[] => [
      { step: 'start', input: { id, text: `run ${id}` }, data: marker(id) },
    ]
    expect(diff({ runs: own('100') }, { runs: own('200') }).same).toBe(true)
  })

  it('compare a kept result with the one it was kept from (3)', () => {
    const kept: readonly Run[] = [
      { step: 'start', kept: { n: 1 } },
      { step: 'b', data: 2 },
    ]
    expect(diff({ runs: chain }, { runs: kept }).same).toBe(true)
    expect(
      diff({ runs: chain }, { runs: [{ step: 'start', kept: { n: 9 } }, ...kept.slice(1)] }).first,
    ).toMatchObject({ aspect: 'result' })
  })
})

describe('changes of JSON', () => {
  it('name their place', () => {
    expect(jsonChanges({ rows: [{ a: 1 }, 2], same: {} }, { rows: [{ a: 2 }], same: {} })).toEqual([
      { path: 'rows[0].a', kind: 'changed', a: 1, b: 2 },
      { path: 'rows[1]', kind: 'removed', a: 2, b: null },
    ])
    expect(jsonChanges(undefined, 1)).toEqual([{ path: '', kind: 'added', a: null, b: 1 }])
    expect(jsonChanges([1], { a: 1 })).toMatchObject([{ path: '', kind: 'changed' }])
  })

  it('are bounded in number', () => {
    const long = Array.from({ length: 500 }, (_, index) => index)
    expect(jsonChanges(long, [], 20)).toHaveLength(20)
  })
})

describe('what an export left out', () => {
  it('is unknown and no difference, unless it is there on one side alone (4)', () => {
    const known = logOf({ workload: { password: 'x', plain: 1 } })
    const hidden = logOf({ workload: { password: '[REDACTED]', plain: 1 } })
    const missing = logOf({ workload: { plain: 1 } })
    expect(diffLogs(known, hidden, Date.parse).same).toBe(true)
    expect(diffLogs(missing, hidden, Date.parse).same).toBe(false)
  })
})
