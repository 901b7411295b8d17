import { describe, expect, test } from 'vitest'
import { createWholeRepeats } from './whole-repeats.ts'

/** A log that counts how often it is asked. */
const stage = () => {
  const written = new Set<string>()
  const asked = { one: 0, many: 0 }
  const repeats = createWholeRepeats({
    hasEvent: async (_executionId, id) => {
      asked.one += 1
      return written.has(id)
    },
    findWritten: async (_executionId, ids) => {
      asked.many += 1
      return new Set(ids.filter((id) => written.has(id)))
    },
  })
  const known = async (...ids: string[]): Promise<readonly boolean[]> => {
    const answers: boolean[] = []
    for (const id of ids) answers.push(await repeats.isKnown('1', id))
    return answers
  }
  return { written, asked, repeats, known }
}

describe('a batch whose events were given ids', () => {
  test('is known as a whole once one of them is in the log (1)', async () => {
    const { written, repeats, known } = stage()
    await repeats.during(['10', '11', '12'], async () => {
      expect(await known('10', '11', '12')).toEqual([false, false, false])
      written.add('12')
      expect(await known('10', '11', '12')).toEqual([true, true, true])
    })
  })

  test('costs the log one question for each time that it is decided (2)', async () => {
    const { asked, repeats, known } = stage()
    const ids = Array.from({ length: 100 }, (_, index) => String(index))
    await repeats.during(ids, async () => {
      await known(...ids)
      await known(...ids)
    })
    expect(asked).toEqual({ one: 0, many: 2 })
  })

  test('changes nothing for other events, nor for its own when it is over', async () => {
    const { written, asked, repeats, known } = stage()
    written.add('7')
    await expect(
      repeats.during(['10', '11'], async () => {
        expect(await known('7', '8')).toEqual([true, false])
        throw new Error('refused')
      }),
    ).rejects.toThrow('refused')
    written.add('11')
    expect(await known('10', '11')).toEqual([false, true])
    expect(asked).toEqual({ one: 4, many: 0 })
  })
})
