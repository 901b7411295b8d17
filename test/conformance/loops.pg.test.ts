/** Loops over collections and over what a cursor hands out. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/store/database.ts'
import { openDatabase } from '../../src/store/database.ts'
import { EVENT } from '../../src/contract/event.ts'
import type { PlaybookRun } from '../support/playbook-run.ts'
import { useProduct } from '../support/playbook-run.ts'

const product = useProduct()
const { post, run, start, seen, ended, look } = product

let database: Database
beforeAll(() => {
  database = openDatabase({ url: product.databaseUrl(), maxConnections: 2, onError: () => undefined })
})
afterAll(() => database.end())

const directory = mkdtempSync(join(tmpdir(), 'noetl-loops-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** The most commands of a step that were outstanding at the same time. */
const mostOutstanding = ({ events }: PlaybookRun, step: string): number => {
  let open = 0
  let most = 0
  for (const { eventType, nodeName } of events) {
    if (nodeName !== step) continue
    if (eventType === EVENT.commandIssued) most = Math.max(most, (open += 1))
    if (eventType === EVENT.commandCompleted || eventType === EVENT.commandFailed) open -= 1
  }
  return most
}

const issued = ({ commands }: PlaybookRun, step: string): number =>
  commands.filter((event) => event.nodeName === step).length

const loopOver = (collection: string, spec = '{}', result = '"{{ item }}"'): string =>
  `loop: { in: ${collection}, iterator: item, spec: ${spec} }, tool: { kind: noop, result: ${result} }`

test('case 67: a sequential loop runs one iteration at a time and names it in every documented way', async () => {
  const found = await run(`
    - step: start
      loop: { in: [1, 2, 3], iterator: item }
      tool:
        kind: python
        input: { bare: "{{ item }}", dotted: "{{ iter.item }}", at: "{{ _index }}", iter_at: "{{ iter._index }}", of: "{{ _total }}" }
        code: "result = [item, bare, dotted, at, iter_at, of]"`)
  expect(found.status).toBe('COMPLETED')
  expect(mostOutstanding(found, 'start')).toBe(1)
  expect(found.data('start')).toMatchObject({
    results: [
      [1, 1, 1, 0, 0, 3],
      [2, 2, 2, 1, 1, 3],
      [3, 3, 3, 2, 2, 3],
    ],
  })
})

test('case 68: the results of a loop are in index order, with statistics', async () => {
  const { data } = await run(
    `
    - step: start
      loop: { in: [3, 2, 1], iterator: item, spec: { mode: parallel } }
      tool: { kind: python, code: "import time; time.sleep(item / 20); result = item * 10" }
      next: read
    - step: read
      tool:
        kind: noop
        result: ["{{ L.results }}", "{{ L.data[0] }}", "{{ L.stats.total }}", "{{ L | length }}", "{{ L[2] }}"]`
      .replaceAll('step: L', 'step: start')
      .replaceAll('{{ L', '{{ start'),
  )
  expect(data('read')).toEqual([[30, 20, 10], 30, 3, 3, 10])
  expect(data('start')).toMatchObject({ stats: { total: 3, success: 3, failed: 0 } })
})

test.each(['2', '"{{ limit }}"'])(
  'case 69: a parallel loop with max_in_flight %s never has more than two outstanding',
  async (limit) => {
    const found = await run({
      top: 'workload: { limit: 2 }',
      steps: `
      - step: start
        loop: { in: [1, 2, 3, 4, 5], iterator: item, spec: { mode: parallel, max_in_flight: ${limit} } }
        tool: { kind: python, code: "import time; time.sleep(0.02); result = item" }`,
    })
    expect(found.status).toBe('COMPLETED')
    expect(mostOutstanding(found, 'start')).toBe(2)
    expect(issued(found, 'start')).toBe(5)
  },
)

test('case 70: mappings, texts, numbers and JSON texts are collections; null fails with step and expression', async () => {
  const steps = ['{{ object }}', '{{ text }}', '{{ number }}', '{{ json }}'].map(
    (collection, index) =>
      `      - { step: l${index}, ${loopOver(`"${collection}"`)}${index < 3 ? `, next: l${index + 1}` : ''} }`,
  )
  const top = String.raw`workload: { object: { z: 1, a: 2 }, text: "a,b\nc", number: 4, json: "[5, 6]", nothing: null }`
  const { data } = await run({
    top,
    steps: ['      - { step: start, tool: { kind: noop }, next: l0 }', ...steps].join('\n'),
  })
  const results = (step: string): unknown => (data(step) as unknown as { results: unknown }).results
  expect(results('l0')).toEqual([
    { key: 'z', value: 1 },
    { key: 'a', value: 2 },
  ])
  expect([results('l1'), results('l2'), results('l3')]).toEqual([
    ['a', 'b', 'c'],
    [0, 1, 2, 3],
    [5, 6],
  ])
  const { status, error } = await run({
    top,
    steps: `
      - { step: start, tool: { kind: noop }, next: bad }
      - { step: bad, ${loopOver('"{{ nothing }}"')} }`,
  })
  expect(status).toBe('FAILED')
  expect(error).toMatch(/'bad'.*\{\{ nothing \}\}/)
})

test('case 71: an empty list issues nothing, and the successor runs in the same turn; also on the entry step', async () => {
  const after = `
    - { step: after, tool: { kind: noop, result: "{{ empty.stats.total }}" } }`
  const next = `, next: { arcs: [ { step: after, when: "{{ event.name == 'loop.done' }}" } ] }`
  const middle = await run(`
    - { step: start, tool: { kind: noop }, next: empty }
    - { step: empty, ${loopOver('[]')}${next} }${after}`)
  expect(middle.runs).toEqual(['start', 'empty', 'after'])
  expect(issued(middle, 'empty')).toBe(0)
  expect(middle.data('after')).toBe(0)
  const at = (step: string, type: string): string | undefined =>
    middle.events.find((event) => event.nodeName === step && event.eventType === type)?.createdAt
  expect(at('after', EVENT.commandIssued)).toBe(at('empty', EVENT.stepEnter))
  const entry = await run(`
    - { step: start, ${loopOver('"{{ [] }}"')}${next} }
    - { step: after, tool: { kind: noop, result: "{{ start | length }}" } }`)
  expect(entry.runs).toEqual(['start', 'after'])
  expect(entry.data('after')).toBe(0)
})

test('case 72: a literal list may hold templates', async () => {
  const { data } = await run(`- { step: start, ${loopOver('[1, "{{ 1 + 1 }}", { three: "{{ 1 + 2 }}" }]')} }`)
  expect(data('start')).toMatchObject({ results: [1, 2, { three: 3 }] })
})

test('case 73: the set of a loop step and its arcs run once, after the last iteration', async () => {
  const found = await run(`
    - step: start
      loop: { in: [1, 2, 3], iterator: item, spec: { mode: parallel } }
      tool: { kind: noop, result: "{{ item }}" }
      set: { ctx.sum: "{{ output.results | sum }}", ctx.times: "{{ ctx.times | int + 1 }}" }
      next: after
    - { step: after, tool: { kind: noop, result: ["{{ sum }}", "{{ times }}"] } }`)
  expect(found.data('after')).toEqual([6, 1])
  expect(found.runs).toEqual(['start', 'after'])
  expect(
    found.events.filter((event) => event.eventType === EVENT.stepExit && event.nodeName === 'start'),
  ).toHaveLength(1)
})

test('case 74: a failed iteration of a sequential loop is the last one, and the execution fails', async () => {
  const found = await run(`
    - step: start
      loop: { in: [1, 2, 3, 4, 5], iterator: item }
      tool: { kind: python, code: "if item == 2: raise ValueError('second')\\nresult = item" }
      next: after
    - { step: after, tool: { kind: noop } }`)
  expect(found.status).toBe('FAILED')
  expect(found.error).toContain('second')
  expect(issued(found, 'start')).toBe(2)
  expect(found.runs).toEqual(['start'])
})

test('case 74: a parallel loop lets outstanding iterations finish before it fails', async () => {
  // The others go on until it is in the log that the second has failed.
  const sign = join(directory, 'second-failed')
  const id = await start(`
    - step: start
      loop: { in: [1, 2, 3, 4, 5], iterator: item, spec: { mode: parallel, max_in_flight: 3 } }
      tool:
        kind: shell
        command: "if [ {{ item }} -eq 2 ]; then exit 7; fi; until [ -e ${sign} ]; do sleep 0.02; done"`)
  await seen(id, ({ eventType }) => eventType === EVENT.commandFailed)
  writeFileSync(sign, '')
  const found = await ended(id)
  expect(found.status).toBe('FAILED')
  expect(issued(found, 'start')).toBe(3)
  const endings = found.events.filter(
    (event) => event.eventType === EVENT.commandCompleted || event.eventType === EVENT.commandFailed,
  )
  expect(endings.map((event) => event.eventType)).toEqual([
    EVENT.commandFailed,
    EVENT.commandCompleted,
    EVENT.commandCompleted,
  ])
})

test('case 75: a loop entered again iterates again, over a fresh collection with fresh results', async () => {
  const found = await run({
    top: 'workload: { round: 0 }',
    steps: `
      - { step: start, tool: { kind: noop }, set: { ctx.round: "{{ ctx.round + 1 }}" }, next: each }
      - step: each
        loop: { in: "{{ range(ctx.round) | list }}", iterator: item }
        tool: { kind: noop, result: "{{ ctx.round * 10 + item }}" }
        next: { arcs: [ { step: start, when: "{{ ctx.round < 2 }}" }, { step: after } ] }
      - { step: after, tool: { kind: noop, result: "{{ each.results }}" } }`,
  })
  expect(found.runs).toEqual(['start', 'each', 'start', 'each', 'after'])
  expect(issued(found, 'each')).toBe(3)
  expect(found.data('after')).toEqual([20, 21])
})

test('case 76: a second completion of one iteration counts once', async () => {
  const id = await start(
    `- { step: start, loop: { in: [1, 2], iterator: item }, tool: { kind: python, code: "result = item" } }`,
    { pool: 'by-hand' },
  )
  const report = async (commandId: string, data: number): Promise<void> => {
    const { status } = await post('/api/events', {
      execution_id: id,
      step: 'start',
      event_type: 'command.completed',
      worker_id: 'hand',
      payload: { command_id: commandId, result: { status: 'success', context: { data } } },
    })
    expect(status).toBe(200)
  }
  const commandId = (index: number): string => found.commands[index]?.meta['command_id'] as string
  let found = await look(id)
  expect(found.commands).toHaveLength(1)
  await report(commandId(0), 10)
  await report(commandId(0), 11)
  found = await look(id)
  expect(found.commands).toHaveLength(2)
  expect(found.status).toBe('RUNNING')
  await report(commandId(1), 20)
  found = await ended(id)
  expect(found.data('start')).toEqual({ results: [10, 20], stats: { total: 2, success: 2, failed: 0 } })
})

test('case 77: a cursor loop claims frames until there are no more rows, new work included', async () => {
  await database.query(`
    create table work (id int primary key, state text not null default 'new');
    insert into work select generate_series(1, 5)`)
  const found = await run(
    {
      top: 'workload: { url: "" }',
      steps: `
        - step: start
          loop:
            cursor:
              kind: postgres
              auth: { connection_string: "{{ url }}" }
              claim: |
                with c as (select id from work where state = 'new' order by id limit {{ __frame_max_rows }} for update skip locked)
                update work set state = 'busy' from c where work.id = c.id returning work.id
            iterator: job
            spec: { mode: cursor, frame: { max_rows: 2, row_concurrency: 2 } }
          tool:
            kind: postgres
            auth: { connection_string: "{{ url }}" }
            query: "update work set state = 'done {{ _index }} of {{ _total }}' where id = {{ job.id }}"
          set: { ctx.frames: "{{ output.frames }}" }
          next: { arcs: [ { step: after, when: "{{ event.name == 'loop.done' }}" } ] }
        - { step: after, tool: { kind: noop, result: { frames_seen: "{{ frames }}", cursor: "{{ start.cursor }}", frames: "{{ start.frames }}" } } }`,
    },
    { payload: { url: product.databaseUrl() } },
  )
  expect(found.error).toBeNull()
  const phase = (name: string) =>
    found.commands.filter((event) => (event.meta['cursor'] as { phase?: string } | undefined)?.phase === name)
  expect(phase('claim')).toHaveLength(4)
  expect(phase('body')).toHaveLength(5)
  expect(phase('body').map((event) => (event.meta['cursor'] as { frame: number }).frame)).toEqual([
    0, 0, 1, 1, 2,
  ])
  expect(found.data('after')).toEqual({ frames_seen: 3, cursor: 'drained', frames: 3 })
  const { rows } = await database.query<{ state: string }>('select state from work order by id')
  expect(rows.map(({ state }) => state)).toEqual([
    'done 0 of 2',
    'done 1 of 2',
    'done 0 of 2',
    'done 1 of 2',
    'done 0 of 1',
  ])
})

test('case 77: a body that inserts new work has it drained too', async () => {
  await database.query(`
    create table more (id int primary key, state text not null default 'new');
    insert into more values (1)`)
  const found = await run(
    {
      top: 'workload: { url: "" }',
      steps: `
        - step: start
          loop:
            cursor:
              auth: { connection_string: "{{ url }}" }
              claim: "update more set state = 'busy' where id = (select id from more where state = 'new' limit {{ __frame_max_rows }}) returning id"
            iterator: job
            spec: { mode: cursor }
          tool:
            kind: postgres
            auth: { connection_string: "{{ url }}" }
            query: "insert into more select {{ job.id }} + 1 where {{ job.id }} < 3"`,
    },
    { payload: { url: product.databaseUrl() } },
  )
  expect(found.error).toBeNull()
  expect(found.data('start')).toMatchObject({ cursor: 'drained', frames: 3 })
})

test('case 78: an iteration may write a variable that is visible after the loop', async () => {
  const { data } = await run(`
    - step: start
      loop: { in: [1, 2, 3], iterator: item }
      tool:
        kind: noop
        result: "{{ item }}"
        spec: { policy: { rules: [ { else: { then: { do: continue, set: { ctx.total: "{{ ctx.total | int + output.data }}" } } } } ] } }
      next: after
    - { step: after, tool: { kind: noop, result: "{{ ctx.total }}" } }`)
  expect(data('after')).toBe(6)
})
