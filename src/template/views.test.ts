import { describe, expect, test } from 'vitest'
import type { Json } from '../contract/json.ts'
import { scopeOf, textOf, valueOf } from './evaluating.suite.ts'
import { VIEW, type View } from './scope.ts'
import { compileTemplate } from './template.ts'

const viewOf = (view: Omit<View, typeof VIEW>): View => ({ [VIEW]: true, ...view })

/** A step result: its members, with itself again as `data`. */
const step = (data: Readonly<Record<string, Json>>): View =>
  viewOf({
    plain: () => data,
    get: (key) => (Object.hasOwn(data, key) ? data[key] : key === 'data' ? step(data) : undefined),
  })

/** A finished loop: a mapping whose sequence is its results. */
const loop = (results: readonly Json[]): View =>
  viewOf({
    plain: () => ({ results, total: results.length }),
    get: (key) => (key === 'results' ? results : key === 'total' ? results.length : undefined),
    sequence: () => results,
  })

const data = {
  fetch: step({ n: 3, rows: [1, 2] }),
  each: loop([{ x: 1 }, { x: 2 }]),
  event: {
    name: viewOf({
      plain: () => 'call.done',
      equals: (other) => other === 'call.done' || other === 'step.done',
    }),
  },
  wrapped: viewOf({ plain: () => ({ a: 1 }) }),
  list: viewOf({ plain: () => [3, 1] }),
  number: viewOf({ plain: () => 4 }),
  text: viewOf({ plain: () => 'off' }),
}

describe('members', () => {
  test.each([
    ['fetch.n', 3],
    ['fetch["n"]', 3],
    ['fetch.data.data.rows[1]', 2],
    ['fetch.data', { n: 3, rows: [1, 2] }],
    ['fetch.nope.deeper', null],
    ['fetch.get("n")', 3],
    ['fetch.get("zz", 9)', 9],
    ['fetch | get("n")', 3],
    ['fetch.keys()', ['n', 'rows']],
    ['fetch | items | length', 2],
    ['wrapped.a', 1],
    ['"n" in fetch', true],
    ['"data" in fetch', true],
    ['"zz" in fetch', false],
    ['[fetch] | map(attribute="data.n")', [3]],
  ])('%s', (expression, expected) => {
    expect(valueOf(expression, data)).toEqual(expected)
  })
})

describe('sequences', () => {
  test.each([
    ['each[0].x', 1],
    ['each[-1].x', 2],
    ['each | length', 2],
    ['each[1:]', [{ x: 2 }]],
    ['each | map(attribute="x")', [1, 2]],
    ['each | first', { x: 1 }],
    ['each | list', [{ x: 1 }, { x: 2 }]],
    ['each | sum(attribute="x")', 3],
    ['each.results | length', 2],
    ['each.total', 2],
    ['{"x": 1} in each', true],
    ['"results" in each', true],
    ['each is sequence and each is mapping', true],
    ['list | sort', [1, 3]],
    ['list[0]', 3],
    ['list.count(3)', 1],
    ['list + [5]', [3, 1, 5]],
  ])('%s', (expression, expected) => {
    expect(valueOf(expression, data)).toEqual(expected)
  })
  test('iterates over the sequence', () => {
    expect(textOf('{% for one in each %}{{ one.x }}{% endfor %}', data)).toBe('12')
  })
})

describe('taken whole', () => {
  test.each([
    ['fetch', { n: 3, rows: [1, 2] }],
    ['each', { results: [{ x: 1 }, { x: 2 }], total: 2 }],
    ['[fetch, {"k": wrapped}]', [{ n: 3, rows: [1, 2] }, { k: { a: 1 } }]],
    ['fetch | tojson', '{"n":3,"rows":[1,2]}'],
    ['[wrapped] | tojson', '[{"a":1}]'],
    ['number + 1', 5],
    ['number > 3', true],
    ['-number', -4],
    ['text | upper', 'OFF'],
    ['text.upper()', 'OFF'],
    ['"x" ~ text', 'xoff'],
    ['wrapped == {"a": 1}', true],
    ['{"a": 1} == wrapped', true],
    ['[wrapped] == [{"a": 1}]', true],
    ['number is number and text is string and wrapped is mapping', true],
    ['fetch | default("x") == fetch', true],
  ])('%s', (expression, expected) => {
    expect(valueOf(expression, data)).toEqual(expected)
  })
  test('prints as its plain value', () => {
    expect(textOf('{{ wrapped }}|{{ number }}|{{ text }}', data)).toBe('{"a":1}|4|off')
  })
  test('is a condition by its plain value', () => {
    const holds = (source: string): boolean => compileTemplate(source).test(scopeOf(data))
    expect(holds('{{ text }}')).toBe(false)
    expect(holds('{{ number }}')).toBe(true)
    expect(holds('{{ wrapped }}')).toBe(true)
  })
  test('plain is not called for member access', () => {
    const lazy = viewOf({
      plain: () => {
        throw new Error('taken whole')
      },
      get: (key) => (key === 'a' ? 1 : undefined),
    })
    expect(valueOf('lazy.a', { lazy })).toBe(1)
    expect(valueOf('lazy.b | default(2)', { lazy })).toBe(2)
    expect(() => valueOf('lazy', { lazy })).toThrow('taken whole')
  })
})

describe('own equality', () => {
  test.each([
    ['event.name == "call.done"', true],
    ['event.name == "step.done"', true],
    ['"step.done" == event.name', true],
    ['event.name != "step.done"', false],
    ['event.name == "loop.done"', false],
    ['event.name in ["loop.done", "step.done"]', true],
    ['event.name not in ["loop.done"]', true],
    ['event.name is eq "step.done"', true],
    ['["step.done"] | select("eq", event.name) | length', 1],
    ['event.name', 'call.done'],
    ['event.name.split(".")', ['call', 'done']],
  ])('%s', (expression, expected) => {
    expect(valueOf(expression, data)).toEqual(expected)
  })
})

describe('a view of something that is not there', () => {
  const absent: View = viewOf({
    absent: true,
    plain: () => {
      throw new RangeError('not there')
    },
    get: () => absent,
    equals: () => false,
  })
  const holder = viewOf({ plain: () => ({}), get: () => absent })

  test.each<[string, Json]>([
    ['absent is defined', false],
    ['absent.deeper is undefined', true],
    ['absent is none', false],
    ['absent | default(1)', 1],
    ['absent | default(1, true)', 1],
    ['absent or 2', 2],
    ['not absent', true],
    ['3 if absent else 4', 4],
    ['absent == 1', false],
    ['1 in absent', false],
    ['"a" in holder', false],
    ['holder.get("a", 5)', 5],
    ['holder | get("a", 6)', 6],
  ])('is undefined where that can be asked: %s', (expression, expected) => {
    expect(valueOf(expression, { absent, holder })).toEqual(expected)
  })

  test('does not hold as a condition', () => {
    expect(compileTemplate('{{ absent }}').test(scopeOf({ absent }))).toBe(false)
  })

  test.each([
    'absent',
    'absent.deeper',
    'absent ~ ""',
    'absent | upper',
    'absent | int',
    '[absent]',
    'absent < 1',
  ])('fails in any other use: %s', (expression) => {
    expect(() => valueOf(expression, { absent })).toThrow()
  })
})
