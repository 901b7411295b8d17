/** What runs in a soak: one playbook for each way in which executions move, with what must come of it. */

export interface SoakPlaybook {
  readonly path: string
  readonly content: string
  /** How it ends when nobody cancels it; null when it depends on what went wrong. */
  readonly ends: 'COMPLETED' | 'FAILED' | null
  /** Effects that a completed execution has had, as step and number of iterations. */
  readonly effects: Readonly<Record<string, number>>
  /** How often it is chosen. */
  readonly weight: number
}

const effectTool = (step: string, path = '/effect', more = ''): string =>
  `{ kind: http, method: POST, timeout: 40, url: '{{ effects }}${path}', json: { executionId: '{{ execution_id }}', step: ${step}${more} } }`

const document = (name: string, workflow: string): string => `apiVersion: noetl.io/v2
kind: Playbook
metadata: { name: ${name}, path: soak/${name} }
workload: { effects: '', key: '' }
workflow:
${workflow}`

const playbook = (
  name: string,
  workflow: string,
  { ends = 'COMPLETED', effects = {}, weight = 2 }: Partial<Omit<SoakPlaybook, 'path' | 'content'>> = {},
): SoakPlaybook => ({ path: `soak/${name}`, content: document(name, workflow), ends, effects, weight })

const chain = playbook(
  'chain',
  ['start', 'second', 'third', 'fourth']
    .map((step, index, steps) => {
      const next = steps[index + 1]
      return `  - step: ${step}
    tool: ${effectTool(step)}
    set: { ctx.count: '{{ (count | default(0)) + 1 }}' }${next ? `\n    next: ${next}` : ''}`
    })
    .join('\n'),
  { effects: { start: 1, second: 1, third: 1, fourth: 1 }, weight: 4 },
)

const branches = playbook(
  'branches',
  `  - step: start
    tool: ${effectTool('start')}
    next:
      spec: { mode: inclusive }
      arcs:
        - { step: left, when: '{{ true }}' }
        - { step: right, when: '{{ start.status_code == 200 }}' }
        - { step: never, when: '{{ false }}' }
  - step: left
    tool: ${effectTool('left')}
    next:
      arcs:
        - { step: never, when: '{{ left.status_code != 200 }}' }
        - { step: join }
  - { step: right, tool: ${effectTool('right')}, next: join }
  - { step: never, tool: { kind: noop }, next: join }
  - { step: join, tool: ${effectTool('join')} }`,
  { effects: { start: 1, left: 1, right: 1, join: 1 }, weight: 4 },
)

const parallel = playbook(
  'parallel',
  `  - step: start
    loop: { in: [0, 1, 2, 3, 4, 5, 6, 7], iterator: item, spec: { mode: parallel, max_in_flight: 3 } }
    tool: ${effectTool('start', '/effect', `, index: '{{ item }}'`)}
    next: after
  - { step: after, tool: ${effectTool('after')} }`,
  { effects: { start: 8, after: 1 }, weight: 3 },
)

const sequential = playbook(
  'sequential',
  `  - step: start
    loop: { in: [a, b, c], iterator: item }
    tool: ${effectTool('start', '/effect', `, index: '{{ _index }}'`)}`,
  { effects: { start: 3 } },
)

/** Claims what is never there for others: rows that a lost worker claimed are gone, and the database may be away. */
const cursor = playbook(
  'cursor',
  `  - step: start
    loop:
      iterator: row
      cursor:
        kind: postgres
        auth: soak_db
        claim: "update soak_job set taken = true where id in (select id from soak_job where key = '{{ key }}' and not taken limit 4 for update skip locked) returning id"
      spec: { mode: cursor, frame: { max_rows: 4, row_concurrency: 2 } }
    tool: ${effectTool('start', '/effect', `, index: '{{ row.id }}'`)}`,
  { ends: null },
)

const handled = playbook(
  'handled',
  `  - step: start
    tool: ${effectTool('start', '/broken')}
    next:
      arcs:
        - { step: mend, when: "{{ output.status == 'error' }}" }
        - { step: never }
  - { step: mend, tool: ${effectTool('mend')} }
  - { step: never, tool: { kind: noop } }`,
  { effects: { start: 1, mend: 1 } },
)

/** Fails until the world is healed, then is opened again. */
const broken = playbook(
  'broken',
  `  - { step: start, tool: ${effectTool('start')}, next: [breaks, other] }
  - { step: breaks, tool: ${effectTool('breaks', '/broken')}, next: last }
  - { step: other, tool: ${effectTool('other')}, next: last }
  - { step: last, tool: ${effectTool('last')} }`,
  { ends: 'FAILED' },
)

const flaky = playbook(
  'flaky',
  `  - step: start
    tool:
      kind: http
      method: POST
      url: '{{ effects }}/flaky'
      json: { executionId: '{{ execution_id }}', step: start }
      spec:
        policy:
          rules:
            - when: "{{ output.status == 'error' and output.error.retryable }}"
              then: { do: retry, attempts: 8, backoff: fixed, delay: 0.2 }
            - else: { then: { do: continue } }
    next: after
  - { step: after, tool: ${effectTool('after')} }`,
  { effects: { after: 1 } },
)

const child = (path: string, more = ''): string =>
  `{ kind: playbook, path: soak/${path}, return_result: true, timeout: 90${more}, input: { effects: '{{ effects }}', key: '' } }`

const parent = playbook(
  'parent',
  `  - { step: start, tool: ${child('chain')}, next: [fan, deep] }
  - step: fan
    loop: { in: 3, iterator: item, spec: { mode: parallel } }
    tool: ${child('sequential')}
    next: last
  - { step: deep, tool: ${child('middle')}, next: last }
  - { step: last, tool: ${effectTool('last')} }`,
  { effects: { last: 1 }, weight: 3 },
)

const middle = playbook(
  'middle',
  `  - { step: start, tool: ${child('branches')}, next: again }
  - step: again
    tool:
      - name: called
        ${child('sequential')
          .slice(2, -2)
          .replaceAll(', input', '\n        input')
          .replaceAll(/, (?=path|return|timeout)/g, '\n        ')}
      - { name: seen, kind: noop, result: done }`,
  { weight: 1 },
)

/** The parent does not wait as long as its child takes. */
const impatient = playbook(
  'impatient',
  `  - step: start
    tool: { kind: playbook, path: soak/slow, return_result: true, timeout: 2, input: { effects: '{{ effects }}', key: '' } }
    next:
      arcs:
        - { step: late, when: "{{ output.status == 'error' }}" }
        - { step: intime }
  - { step: late, tool: ${effectTool('late')} }
  - { step: intime, tool: { kind: noop } }`,
)

const slow = playbook(
  'slow',
  `  - { step: start, tool: ${effectTool('start', '/slow')}, next: [a, b] }
  - { step: a, tool: ${effectTool('a', '/slow')} }
  - { step: b, tool: ${child('chain')} }`,
  { weight: 1, effects: { start: 1, a: 1 } },
)

const timed = playbook(
  'timed',
  `  - step: start
    spec: { timeout: 1s }
    tool: ${effectTool('start', '/slow')}
    next:
      arcs:
        - { step: late, when: "{{ output.status == 'error' }}" }
  - { step: late, tool: ${effectTool('late')} }`,
  { effects: { start: 1, late: 1 } },
)

const large = playbook(
  'large',
  `  - { step: start, tool: ${effectTool('start', '/large')}, next: count }
  - { step: count, tool: { kind: expression, input: { rows: '{{ start.data | length }}' }, expr: rows }, next: last }
  - { step: last, tool: ${effectTool('last')} }`,
  { effects: { start: 1, last: 1 } },
)

/** Long enough for snapshots to be taken on the way. */
const wide = playbook(
  'wide',
  `  - step: start
    loop: { in: ${JSON.stringify(Array.from({ length: 200 }, (_, index) => index))}, iterator: item, spec: { mode: parallel, max_in_flight: 40 } }
    tool: { kind: noop, result: '{{ item }}' }
    next: last
  - { step: last, tool: ${effectTool('last')} }`,
  { effects: { last: 1 }, weight: 1 },
)

const cycle = playbook(
  'cycle',
  `  - step: start
    tool: { kind: noop, result: '{{ (turn | default(0)) + 1 }}' }
    set: { ctx.turn: '{{ start }}' }
    next:
      arcs:
        - { step: last, when: '{{ turn >= 60 }}' }
        - { step: start }
  - { step: last, tool: ${effectTool('last')} }`,
  { effects: { last: 1 } },
)

const program = playbook(
  'program',
  `  - step: start
    tool:
      kind: python
      input: { name: '{{ execution_id }}' }
      code: |
        import time
        time.sleep(0.3)
        result = {"name": name}
    next: last
  - { step: last, tool: ${effectTool('last')} }`,
  { effects: { last: 1 } },
)

export const SOAK_PLAYBOOKS: readonly SoakPlaybook[] = [
  chain,
  branches,
  parallel,
  sequential,
  cursor,
  handled,
  broken,
  flaky,
  middle,
  parent,
  slow,
  impatient,
  timed,
  large,
  wide,
  cycle,
  program,
]
