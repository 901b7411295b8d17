/* oxlint-disable unicorn/no-thenable -- `then` is a word of rules; nothing here is awaited */
/** The schema against the parser on damaged documents: whatever the parser lets pass, the schema must let pass. */
import { expect, it } from 'vitest'
import { isObject } from '../../contract/json.ts'
import type { Json } from '../../contract/json.ts'
import { parsePlaybook } from '../parse.ts'
import type { Random } from '../random.suite.ts'
import { createRandom } from '../random.suite.ts'
import { ACCEPTED } from './documents.suite.ts'
import { createJudgement, dataOf } from './judge.suite.ts'

/** Keys of the language, so that damage hits where meaning changes. */
const KEYS =
  'kind name input args with set vars spec policy rules when then else do attempts backoff delay to eval retry target expr set_vars set_ctx set_iter retry_on max_attempts tool tasks output output_select select step next arcs mode loop in iterator cursor claim frame max_rows row_concurrency max_in_flight on_error timeout next_mode admit allow desc description executor requires entry_step final_step profile keychain auth residency workbook workload metadata path case ctx.a iter.a step.a workload.a a.b start'.split(
    ' ',
  )

const VALUES: readonly Json[] = [
  null,
  true,
  false,
  0,
  1,
  2.5,
  -1,
  '',
  ' ',
  'x',
  '5',
  ' 1e2 ',
  '30s',
  'a',
  'b',
  'start',
  'null',
  '{{ x }}',
  'ctx',
  'noop',
  'http',
  'workbook',
  'container',
  'task_sequence',
  'cursor',
  'parallel',
  'inclusive',
  'jump',
  'previous',
  'fail',
  [],
  {},
  [null],
  ['b'],
  [{}],
  [{ step: 'b' }],
  [{ then: { do: 'fail' } }],
  [{ kind: 'noop' }],
  { kind: 'noop' },
  { a: { kind: 'noop' } },
  { a: 1 },
  { 'ctx.a': 1 },
  { kind: 'workbook', name: 'w' },
  { claim: 'x' },
  { policy: { rules: [{ else: null }] } },
]

const pick = <T>(list: readonly T[], random: Random): T => list[random(list.length)] as T

type Container = Json[] | Record<string, Json>

/** Every mapping and list of the document. */
const containers = (value: Json): readonly Container[] => {
  if (Array.isArray(value)) return [value as Json[], ...value.flatMap(containers)]
  if (isObject(value)) return [value, ...Object.values(value).flatMap(containers)]
  return []
}

const entryOf = (container: Container, random: Random): string | null => {
  const keys = Object.keys(container)
  return keys.length === 0 ? null : pick(keys, random)
}

const put = (container: Container, key: string, value: Json): void => {
  const copy = structuredClone(value)
  if (Array.isArray(container)) container[Math.min(Number(key) || 0, container.length)] = copy
  else container[key] = copy
}

const remove = (container: Container, key: string): void => {
  if (Array.isArray(container)) container.splice(Number(key), 1)
  else delete container[key]
}

const damage = (document: Json, random: Random): void => {
  const all = containers(document)
  const container = pick(all, random)
  const key = entryOf(container, random)
  const elsewhere = pick(all, random)
  const found = entryOf(elsewhere, random)
  const material = found === null ? null : ((elsewhere as Record<string, Json>)[found] ?? null)
  switch (random(5)) {
    case 0:
      return put(container, key ?? 'a', pick(VALUES, random))
    case 1:
      return put(container, pick(KEYS, random), pick(VALUES, random))
    case 2:
      return key === null ? undefined : remove(container, key)
    case 3:
      return put(container, key ?? 'a', material)
    default:
      return put(container, pick(KEYS, random), material)
  }
}

const ROUNDS = 3_000

it('accepts every damaged document that the parser accepts', () => {
  const judge = createJudgement()
  const random = createRandom(20_260_131)
  const samples = ACCEPTED.flatMap(({ text }) => dataOf(text) ?? [])
  let accepted = 0
  let refused = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const document = structuredClone(pick(samples, random))
    for (let count = 1 + random(3); count > 0; count -= 1) damage(document, random)
    const text = JSON.stringify(document)
    const complaint = judge(dataOf(text) ?? null)
    if (!parsePlaybook(text).ok) {
      refused += complaint === null ? 0 : 1
      continue
    }
    accepted += 1
    if (complaint !== null) expect.unreachable(`${complaint}\n${text}`)
  }
  // Both verdicts must be met often, or the agreement would mean nothing.
  expect(accepted).toBeGreaterThan(ROUNDS / 5)
  // Most damage is structural, so the schema should see most of what the parser sees.
  expect(refused).toBeGreaterThan(0.9 * (ROUNDS - accepted))
}, 120_000)
