import { describe, expect, test } from 'vitest'
import { formatReference, parseReference, PutResultRequest } from './api-results.ts'

describe('a reference', () => {
  test.each(['step', 'a/b/c', 'with space', 'ü', '7/8', 'line\nbreak'])(
    'of a result named %j is read as it was written',
    (name) => {
      expect(parseReference(formatReference('123', name, '456'))).toEqual({
        kind: 'stored',
        executionId: '123',
        name,
        resultId: '456',
      })
    },
  )

  test('may be the older one of temporary results', () => {
    expect(parseReference('noetl://execution/1/tmp/n/2')).toMatchObject({ kind: 'stored', name: 'n' })
  })

  test('may be the stable one', () => {
    const uri = 'noetl://default/default/results/123/fetch/0/1/1'
    expect(parseReference(uri)).toEqual({ kind: 'logical', executionId: '123', step: 'fetch', uri })
  })

  test.each([
    '',
    'noetl://',
    'https://example.org',
    'noetl://execution/x/result/n/1',
    'noetl://execution/1/result/n',
    'noetl://execution/1/result/n/x',
    'noetl://execution/1/result//1/',
    'noetl://execution/9999999999999999999/result/n/1',
    'noetl://execution/1/result/n/9999999999999999999',
    'noetl://a/b/results/x/step/0/0/1',
    'noetl://a/b/results/1/step/0/0',
    'noetl://a/b/results/9999999999999999999/step/0/0/1',
  ])('is not %j', (uri) => {
    expect(parseReference(uri)).toBeNull()
  })
})

describe('a time to live', () => {
  const ttlOf = (ttl: unknown): unknown => {
    const result = PutResultRequest.safeParse({ name: 'n', data: 1, ttl })
    return result.success ? (result.data.ttl ?? null) : result.error.issues[0]?.message
  }

  test.each([
    ['30s', 30],
    ['30m', 1800],
    ['1h', 3600],
    ['2D', 172_800],
    ['1w', 604_800],
    ['1y', 31_536_000],
    ['90', 90],
    [90, 90],
    ['forever', null],
    ['permanent', null],
    ['-1', null],
    [-1, null],
    ['', null],
    [null, null],
    [undefined, null],
    ['9999999999y', null],
  ])('of %j is %j seconds', (ttl, seconds) => {
    expect(ttlOf(ttl)).toBe(seconds)
  })

  test.each(['soon', '1.5h', '1hh', -5, 1e300])('is not %j', (ttl) => {
    expect(ttlOf(ttl)).toMatch(/^Invalid ttl: /)
  })
})
