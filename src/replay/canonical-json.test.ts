import { describe, expect, it } from 'vitest'
import { canonicalJson, parseLossless } from './canonical-json.ts'

const canonical = (text: string): string => canonicalJson(parseLossless(text))

describe('numbers (rules 1 and 3)', () => {
  it.each([
    ['1', '1'],
    ['-7', '-7'],
    ['1.0', '1.0'],
    ['1e2', '100.0'],
    ['100.00', '100.0'],
    ['0.1', '0.1'],
    ['0.5e1', '5.0'],
    ['-0', '-0.0'],
    ['0.0', '0.0'],
    ['9007199254740993', '9007199254740993'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['18446744073709551615', '18446744073709551615'],
    ['1e15', '1000000000000000.0'],
    ['123456789012345.6', '123456789012345.6'],
    ['1e16', '1e16'],
    ['1.5e300', '1.5e300'],
    ['1E+21', '1e21'],
    ['0.00001', '0.00001'],
    ['1e-5', '0.00001'],
    ['1e-6', '1e-6'],
    ['1.25e-7', '1.25e-7'],
    ['-2.5e-9', '-2.5e-9'],
    ['1234567.25', '1234567.25'],
  ])('%s is written as %s', (text, expected) => {
    expect(canonical(text)).toBe(expected)
    expect(canonical(expected), 'again (rule 4)').toBe(expected)
  })

  it('keeps doubles that no text told apart from integers', () => {
    expect(canonicalJson([2 ** 60, 1e21, 5, -0])).toBe('[1.152921504606847e18,1e21,5,-0.0]')
  })
})

describe('text and keys (rule 2)', () => {
  it('sorts keys by their UTF-8 bytes, astral characters last', () => {
    expect(canonical('{"\u{1F600}":1,"\uFFFF":2,"z":3,"\u00E9":4,"a":5,"ab":6}')).toBe(
      '{"a":5,"ab":6,"z":3,"\u00E9":4,"\uFFFF":2,"\u{1F600}":1}',
    )
  })

  it('agrees with the order of bytes for any two keys', () => {
    const keys = [
      '',
      'a',
      'a\u0000',
      'b',
      '\u007F',
      '\u0080',
      '\uD7FF',
      '\uE000',
      '\uFFFF',
      '\u{10000}',
      '\u{10FFFF}',
      'a\u{10000}',
      'a\uE000',
    ]
    const byBytes = keys.toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)))
    const object = Object.fromEntries(keys.toReversed().map((key) => [key, 1]))
    expect(Object.keys(JSON.parse(canonicalJson(object)) as object)).toEqual(byBytes)
  })

  it('escapes only what JSON must', () => {
    expect(canonical(String.raw`"\u0001\b\f\n\r\t\"\\\/\u00e9\u2028\u007f"`)).toBe(
      `"${String.raw`\u0001\b\f\n\r\t\"\\`}/\u00E9\u2028\u007F"`,
    )
  })

  it('writes a surrogate without a partner as an escape, and pairs as they are', () => {
    expect(canonical(String.raw`["\ud800","\ud83d\ude00","x\udc00"]`)).toBe(
      String.raw`["\ud800","😀","x\udc00"]`,
    )
  })

  it('takes the last of equal keys, and __proto__ for a key like any other', () => {
    expect(canonical('{"a":1,"a":2.0,"__proto__":{"b":1}}')).toBe('{"__proto__":{"b":1},"a":2.0}')
  })
})
