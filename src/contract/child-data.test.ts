import { describe, expect, it } from 'vitest'
import { childData } from './child-data.ts'
import type { Json } from './json.ts'

const seen = (data: Json) => childData({ data, executionId: '900', status: 'COMPLETED', path: 'tests/child' })

describe('what a parent sees of its child', () => {
  it('is the fields of the data, and beside them which execution it was and how it ended', () => {
    expect(seen({ score: 7 })).toEqual({
      data: { score: 7 },
      execution_id: '900',
      status: 'COMPLETED',
      path: 'tests/child',
      score: 7,
      _execution_id: '900',
      _status: 'COMPLETED',
    })
  })

  it.each<Json>([null, 'text', 5, [[1, 2]]])('is %j as data when that is no mapping', (data) => {
    expect(seen(data)).toEqual({
      data,
      execution_id: '900',
      status: 'COMPLETED',
      path: 'tests/child',
      _execution_id: '900',
      _status: 'COMPLETED',
    })
  })

  it('gives the fields of the data the first right to a name', () => {
    expect(seen({ path: 'its own', status: 'paid', data: 1, execution_id: 'x' })).toMatchObject({
      path: 'its own',
      status: 'paid',
      data: 1,
      execution_id: 'x',
    })
  })

  it('cannot be told otherwise which execution it was', () => {
    expect(seen({ _execution_id: 'forged', _status: 'forged' })).toMatchObject({
      _execution_id: '900',
      _status: 'COMPLETED',
    })
  })
})
