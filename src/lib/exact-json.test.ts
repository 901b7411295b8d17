import { describe, expect, test } from 'vitest'
import { exactJson, isStorable, parseJson, rawInteger, storableJson } from './exact-json.ts'

describe('parseJson', () => {
  test.each([
    ['{"id":320816801799737344}', { id: '320816801799737344' }],
    ['[-9223372036854775808,9223372036854775807]', ['-9223372036854775808', '9223372036854775807']],
    ['[9007199254740991,1234567890123456]', [9007199254740991, 1234567890123456]],
    ['9007199254740993', '9007199254740993'],
    ['{"t":"320816801799737344, \\" 320816801799737344"}', { t: '320816801799737344, " 320816801799737344' }],
    [
      '[1.2345678901234567890,1e20,12345678901234567890e2]',
      [1.2345678901234567, 1e20, Number('12345678901234567890e2')],
    ],
    ['{"320816801799737344":"\\\\"}', { '320816801799737344': '\\' }],
    ['[{"a":[]},"x",null,true,0,320816801799737344]', [{ a: [] }, 'x', null, true, 0, '320816801799737344']],
  ])('reads %s', (text, value) => {
    expect(parseJson(text)).toEqual(value)
  })

  test.each(['{"a":1234567890123456789', '"1234567890123456', '[01234567890123456789]', '', '{'])(
    'refuses %j',
    (text) => {
      expect(() => parseJson(text)).toThrow(SyntaxError)
    },
  )

  test('agrees with JSON.parse on everything but unsafe integers', () => {
    const random = seeded(7)
    for (let round = 0; round < 2000; round += 1) {
      const text = JSON.stringify(randomValue(random, 4))
      expect(parseJson(text)).toEqual(JSON.parse(text, keepExact))
    }
  })
})

/** The reviver sees the source text of numbers: slow, but obviously right. */
const keepExact = (_key: string, value: unknown, context?: { source?: string }): unknown =>
  typeof value === 'number' && /^-?\d+$/.test(context?.source ?? '') && !Number.isSafeInteger(value)
    ? context?.source
    : value

const seeded = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state % below
  }
}

const randomValue = (random: (below: number) => number, depth: number): unknown => {
  switch (random(depth === 0 ? 5 : 7)) {
    case 0:
      return random(1000) / 7
    case 1:
      return JSON.rawJSON((random(2) ? '-' : '') + '9'.repeat(14 + random(6)))
    case 2:
      return '\\"1234567890123456789,'.repeat(random(3))
    case 3:
      return null
    case 4:
      return random(2) === 0
    case 5:
      return Array.from({ length: random(4) }, () => randomValue(random, depth - 1))
    default:
      return Object.fromEntries(
        Array.from({ length: random(4) }, (_, i) => [`k"${i}\\`, randomValue(random, depth - 1)]),
      )
  }
}

test('rawInteger writes every digit', () => {
  expect(JSON.stringify({ id: rawInteger('320816801799737344') })).toBe('{"id":320816801799737344}')
})

test('rawInteger refuses what is not an integer', () => {
  expect(() => rawInteger('1"}')).toThrow(RangeError)
})

test('storableJson replaces what PostgreSQL cannot hold, in keys and values', () => {
  expect(storableJson({ 'a\0': ['\ud800', 'ok 😀', '\\u0000'] })).toBe(
    '{"a\uFFFD":["\uFFFD","ok 😀","\\\\u0000"]}',
  )
})

describe('exactJson', () => {
  test('writes large doubles so that they are read as numbers again', () => {
    const value = {
      a: 1e16,
      b: [-1.2345678901234567e19, 2 ** 53],
      c: ':12345678901234567890,',
      d: '9223372036854775807',
      e: 1e300,
    }
    expect(parseJson(exactJson(value))).toEqual(value)
    expect(exactJson({ n: 1e16 })).toBe('{"n":1e+16}')
  })

  test('leaves everything else as JSON.stringify writes it', () => {
    const value = { n: [0, -1.5, 9007199254740991, 123456789012345.6], t: 'x', u: undefined }
    expect(exactJson(value)).toBe(JSON.stringify(value))
    expect(storableJson({ ...value, nul: '\0' })).toBe(JSON.stringify({ ...value, nul: '\uFFFD' }))
  })
})

test.each([
  ['"plain 😀"', true],
  [JSON.stringify('\0'), false],
  [JSON.stringify('\ud800'), false],
])('whether %j can be stored: %s', (json, storable) => {
  expect(isStorable(json)).toBe(storable)
})
