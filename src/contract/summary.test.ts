/** What stays of a result that is stored apart. */
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from './json.ts'
import { markerOf, storeOf, summarise } from './summary.ts'

const REF = 'noetl://execution/5/result/load/77'

const marker = (data: Json, selected: readonly string[] = []): JsonObject => {
  const text = JSON.stringify(data)
  return markerOf(data, { ref: REF, bytes: text.length, text, selected })
}

const sizeOf = (value: Json): number => JSON.stringify(value).length

describe('a summary', () => {
  it.each<Json>([null, true, 0, -1.5, '', 'x'.repeat(512)])(
    'keeps the scalar %j as it is (rule 1)',
    (value) => {
      expect(summarise(value)).toBe(value)
    },
  )

  it('says of a long text how long it is', () => {
    expect(summarise({ text: 'x'.repeat(513) })).toEqual({ text: { _len: 513 } })
  })

  it('keeps the first element of a list', () => {
    expect(summarise([{ a: 1 }, { a: 2 }])).toEqual([{ a: 1 }])
    expect(summarise({ rows: [[1, 2], [3]] })).toEqual({ rows: [[1]] })
  })

  it('says of an empty list that it is', () => {
    expect(summarise({ rows: [] })).toEqual({ rows: { _count: 0 } })
  })

  it('keeps an element that is null', () => {
    expect(summarise([null, 1])).toEqual([null])
  })

  it('says of what lies too deep how much it is', () => {
    const nest = (levels: number, inner: Json): Json =>
      levels === 0 ? inner : { n: nest(levels - 1, inner) }
    expect(summarise(nest(8, { a: 1, b: 2 }))).toEqual(nest(8, { _count: 2, _keys: ['a', 'b'] }))
    expect(summarise(nest(8, [1, 2, 3]))).toEqual(nest(8, { _count: 3 }))
    expect(summarise(nest(7, { a: 1 }))).toEqual(nest(7, { a: 1 }))
  })

  it('keeps the order of keys, and keys of every name', () => {
    const data = JSON.parse('{"z": 1, "a": 2, "__proto__": {"x": 1}, "constructor": 3}') as Json
    const summary = summarise(data) as JsonObject
    expect(Object.keys(summary)).toEqual(['z', 'a', '__proto__', 'constructor'])
    expect(Object.getPrototypeOf(summary)).toBe(Object.prototype)
  })

  it.each<[string, Json]>([
    ['many fields', Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`field_${n}`, n]))],
    [
      'many texts',
      Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`field_${n}`, 'x'.repeat(500)])),
    ],
    [
      'many long texts',
      Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`${n}`, 'x'.repeat(600)])),
    ],
    ['long keys', { a: 1, ['k'.repeat(100_000)]: 1, b: 2 }],
    [
      'long keys in the depth',
      {
        a: Array(9)
          .fill(0)
          .reduce<Json>((inner) => ({ n: inner }), { ['k'.repeat(9000)]: 1 }),
      },
    ],
    [
      'wide nesting',
      Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`f${n}`, { a: { b: [{ c: n }] } }])),
    ],
  ])('stays small over %s, and says that it is cut (rule 2)', (_name, data) => {
    expect(sizeOf(summarise(data))).toBeLessThan(12_000)
  })

  it('says when it had to stop', () => {
    const summary = summarise(
      Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`f${n}`, n])),
    ) as JsonObject
    expect(summary['_truncated']).toBe(true)
    expect(summary['f0']).toBe(0)
    expect(Object.keys(summary).length).toBeGreaterThan(100)
  })
})

describe('a marker', () => {
  it('has the reference, the size and what can be read without the data', () => {
    const data = { count: 3, rows: [{ id: 1 }, { id: 2 }] }
    expect(marker(data)).toEqual({
      count: 3,
      rows: [{ id: 1 }],
      _ref: REF,
      _store: 'kv',
      _size_bytes: sizeOf(data),
      _preview: JSON.stringify(data),
    })
  })

  it('of a list says that it is one, and how long', () => {
    expect(marker([1, 2, 3])).toEqual({
      _ref: REF,
      _store: 'kv',
      _size_bytes: 7,
      _preview: '[1,2,3]',
      _type: 'list',
      _count: 3,
    })
  })

  it.each<Json>(['text', 5, true])('of the scalar %j has no fields', (data) => {
    expect(Object.keys(marker(data))).toEqual(['_ref', '_store', '_size_bytes', '_preview'])
  })

  it('is not misled by fields of its own names', () => {
    const data = {
      _ref: 'noetl://execution/1/result/other/1',
      _store: 'disk',
      _type: 'list',
      _count: 9,
      a: 1,
    }
    const { _preview: _, ...rest } = marker(data)
    expect(rest).toEqual({ a: 1, _count: 9, _ref: REF, _store: 'kv', _size_bytes: sizeOf(data) })
  })

  it('shows the beginning of long data', () => {
    const preview = marker('x'.repeat(5000))['_preview']
    expect(preview).toBe(`"${'x'.repeat(999)}`)
  })

  it('cuts its preview between characters', () => {
    const preview = marker(`${'x'.repeat(998)}😀`)['_preview'] as string
    expect(preview.isWellFormed()).toBe(true)
  })

  it('shows no secret in its preview (rule 3)', () => {
    const data = {
      user: 'ada',
      password: 'hunter2',
      deep: [{ api_key: 'k-123', authorization: 'Bearer abc' }],
    }
    const preview = marker(data)['_preview']
    expect(preview).not.toMatch(/hunter2|k-123|abc/)
    expect(preview).toContain('"user":"ada"')
  })

  it('keeps selected fields by the last name of their path', () => {
    const data = { user: { name: 'Ada', roles: ['a', 'b'] }, rows: [{ id: 7 }], list: [1, 2, 3] }
    expect(marker(data, ['user.name', 'rows[0].id', 'user.roles', 'list'])).toMatchObject({
      name: 'Ada',
      id: 7,
      roles: ['a', 'b'],
      list: [1, 2, 3],
    })
  })

  it('gives a field of its own data the first right to a name', () => {
    expect(marker({ id: 1, user: { id: 2 } }, ['user.id'])).toMatchObject({ id: 1 })
  })

  it('leaves out what is selected and not there', () => {
    expect(marker({ a: 1 }, ['b', 'a.b', 'a[0]', '', '[0]', 'toString'])).toMatchObject({ a: 1 })
    expect(Object.keys(marker({ a: 1 }, ['b', 'toString']))).not.toContain('toString')
  })

  it('never holds a cut text as if it were whole (rule 1)', () => {
    const long = 'x'.repeat(3000)
    expect(marker({ text: long }, ['text'])['text']).toBe(long)
    expect(marker({ text: long.repeat(9) }, ['text'])['text']).toEqual({ _len: 27_000 })
  })
})

it('a result counts as a file from a megabyte on', () => {
  expect(storeOf(1024 * 1024 - 1)).toBe('kv')
  expect(storeOf(1024 * 1024)).toBe('disk')
})
