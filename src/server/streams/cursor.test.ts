import { expect, test } from 'vitest'
import { createCursors } from './cursor.ts'

const MINUTE = 60_000

test('an execution counts for two minutes after it was last seen running (rule 1)', () => {
  const after = createCursors({ at: 0, oldest: '5' })
  expect(after({ at: MINUTE, oldest: '900' })).toEqual({ at: MINUTE, oldest: '5' })
  expect(after({ at: 2 * MINUTE - 1, oldest: '1000' })).toEqual({ at: 2 * MINUTE - 1, oldest: '5' })
  expect(after({ at: 2 * MINUTE + 1, oldest: '1100' })).toEqual({ at: 2 * MINUTE + 1, oldest: '900' })
  expect(after({ at: 9 * MINUTE, oldest: '1200' })).toEqual({ at: 9 * MINUTE, oldest: '1200' })
})

test('ids are compared as numbers, and one that was opened again counts at once (rule 1)', () => {
  const after = createCursors({ at: 0, oldest: '1000' })
  expect(after({ at: 1, oldest: '999' }).oldest).toBe('999')
  expect(after({ at: 2, oldest: '9000' }).oldest).toBe('999')
})
