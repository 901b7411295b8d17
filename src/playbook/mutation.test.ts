import { describe, expect, it } from 'vitest'
import { formatDiagnostic } from './diagnostics.ts'
import { parsePlaybook } from './parse.ts'
import type { Diagnostic } from './problem.ts'
import type { Random } from './random.suite.ts'
import { createRandom } from './random.suite.ts'
import { valid } from './snippets.suite.ts'

const SEED_PLAYBOOK = `apiVersion: noetl.io/v2
kind: Playbook
metadata: { name: shop, path: demo/shop, labels: { phase: 2 } }
executor: { profile: auto, spec: { entry_step: start, final_step: report } }
keychain:
  - { name: api, kind: secrets, provider: gcp, map: { token: "p/{{ env_name }}" } }
workload: &defaults
  env_name: test
  items: [1, 2, { a: null }]
workbook:
  - name: score
    tool: { kind: python, input: { n: 0 }, code: "result = n * 2" }
workflow:
  - step: start
    desc: entry
    when: "{{ env_name != '' }}"
    spec:
      timeout: 30s
      policy: { admit: { rules: [ { when: true, then: { allow: true } }, { else: { then: { allow: false } } } ] } }
    input: { k: "{{ workload.items }}" }
    tool: { kind: workbook, name: score, input: { n: 7 } }
    set: { ctx.total: "{{ output.doubled }}", plain: 1 }
    next:
      spec: { mode: inclusive }
      arcs:
        - { step: fetch, when: "{{ total > 3 }}", set: { ctx.page: 1 } }
        - step: drain
  - step: fetch
    loop: { in: "{{ items }}", iterator: item, spec: { mode: parallel, max_in_flight: 2 } }
    tool:
      - name: get
        kind: http
        url: >-
          http://example.test/{{ iter.item }}
          ?page={{ ctx.page }}
        spec:
          policy:
            rules:
              - when: "{{ output.status == 'error' }}"
                then: { do: retry, attempts: 5, backoff: exponential, delay: 2 }
              - else: { then: { do: continue, set: { iter.n: "{{ output.data.n }}" } } }
      - again: { kind: noop, spec: { policy: { rules: [ { when: false, then: { do: jump, to: get } } ] } } }
    next: [report]
  - step: drain
    loop:
      cursor:
        auth: pg
        claim: |
          UPDATE q SET s = 1 WHERE id IN (SELECT id FROM q LIMIT {{ __frame_max_rows }})
          RETURNING id
      iterator: row
      spec: { mode: cursor, frame: { max_rows: 5 } }
    tool: { <<: { kind: shell }, command: "echo {{ iter.row.id }}", retry: { max_attempts: 2 } }
    next: [{ step: report, args: { why: done } }]
  - step: report
`

const PIECES = [
  '{{',
  '}}',
  '{%',
  ': ',
  '- ',
  '\n',
  '"',
  "'",
  '[',
  ']',
  '{',
  '}',
  '&a ',
  '*a',
  '<<: ',
  '|',
  '#',
  '\t',
  ' ',
  '0',
  'null',
  '!!str ',
  '\u0000',
  '😀',
  '__proto__: 1',
  'case: 1\n',
  '? ',
]

const MUTATIONS: readonly ((text: string, random: Random) => string)[] = [
  (text, random) => {
    const at = random(text.length)
    return text.slice(0, at) + text.slice(at + 1 + random(8))
  },
  (text, random) => {
    const at = random(text.length)
    return text.slice(0, at) + (PIECES[random(PIECES.length)] ?? '') + text.slice(at)
  },
  (text, random) => {
    const lines = text.split('\n')
    const [line = ''] = lines.splice(random(lines.length), 1)
    lines.splice(random(lines.length), 0, line)
    return lines.join('\n')
  },
  (text, random) => {
    const lines = text.split('\n')
    lines.splice(random(lines.length), 1)
    return lines.join('\n')
  },
  (text, random) => {
    const lines = text.split('\n')
    const at = random(lines.length)
    lines[at] = (lines[at] ?? '').replace(
      /: .*/,
      `: ${['', '5', 'true', '[]', '{}', '[{}]', 'x', '""'][random(8)] ?? ''}`,
    )
    return lines.join('\n')
  },
  (text, random) => {
    const words = text.match(/\w+/g) ?? []
    const from = words[random(words.length)] ?? 'a'
    return text.replace(from, words[random(words.length)] ?? 'b')
  },
]

/** What is wrong with the parser's answer to a text; null when nothing is. */
const misbehaviour = (text: string): string | null => {
  const result = parsePlaybook(text)
  const found = result.ok ? result.warnings : result.problems
  const hasErrors = found.some((each) => each.severity === 'error')
  if (result.ok === hasErrors) return 'ok and errors contradict each other'
  const lines = text.split('\n')
  const isInside = (each: Diagnostic): boolean =>
    each.line >= 1 &&
    each.line <= lines.length &&
    each.column >= 1 &&
    each.column <= (lines[each.line - 1]?.length ?? 0) + 1
  const outside = found.find((each) => !isInside(each))
  if (outside !== undefined) return `no such place: ${formatDiagnostic(outside)}`
  const careless = found.find((each) => /undefined|\[object/.test(each.message))
  return careless === undefined ? null : `careless words: ${formatDiagnostic(careless)}`
}

describe('random damage', () => {
  it('starts from a valid playbook', () => {
    expect(valid(SEED_PLAYBOOK).steps).toHaveLength(4)
  })

  // Several short tests: one long one would come near its time limit on a busy machine.
  const seeds = Array.from({ length: 12 }, (_, index) => 20_260_101 + index)
  it.each(seeds)(
    'never makes the parser throw, and every problem has a place in the text: seed %i',
    (seed) => {
      const random = createRandom(seed)
      for (let round = 0; round < 50; round += 1) {
        let text = SEED_PLAYBOOK
        for (let count = 1 + random(4); count > 0; count -= 1) {
          text = MUTATIONS[random(MUTATIONS.length)]?.(text, random) ?? text
        }
        const complaint = misbehaviour(text)
        if (complaint !== null) expect.unreachable(`${complaint}\n${text}`)
      }
    },
  )

  it('is deterministic', () => {
    expect(parsePlaybook(SEED_PLAYBOOK)).toEqual(parsePlaybook(SEED_PLAYBOOK))
  })
})
