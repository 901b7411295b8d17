import { describe, expect, test } from 'vitest'
import { instantOf } from './instant.ts'

describe('an instant of a request', () => {
  test.each([
    ['2026-05-06T07:08:09.123456+02:00', '2026-05-06T05:08:09.123Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s is kept as %s', (text, kept) => {
    expect(instantOf(text, 'created_at')).toBe(kept)
  })

  test('may be absent', () => {
    expect(instantOf(null, 'timestamp')).toBeNull()
  })

  test.each(['0000-01-01T00:00:00Z', '9999-12-31T23:59:59-01:00', '2026-02-30T25:61:61Z', ''])(
    '%j is refused by the name of its field',
    (text) => {
      for (const field of ['created_at', 'timestamp'])
        expect(() => instantOf(text, field)).toThrow(`${field}: ${text} is out of range`)
    },
  )
})
