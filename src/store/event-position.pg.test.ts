import { expect, test } from 'vitest'
import { anAppend, nextTestId } from '../../test/support/appends.ts'
import { useDatabase } from '../../test/support/database.ts'
import { testSealer as sealer } from '../../test/support/server.ts'
import { createAppender } from './appender.ts'
import { findPosition } from './event-position.ts'

const database = useDatabase()

/** An execution whose events have these ids, in this order; a leading `s` marks one that a sender gave. */
const logOf = async (ids: readonly string[]): Promise<(eventId: string) => Promise<number>> => {
  const executionId = nextTestId()
  const events = ids.map((id) =>
    id.startsWith('s') ? { eventId: id.slice(1), idFromSender: true as const } : { eventId: id },
  )
  await createAppender({ database: database(), sealer }).append(anAppend(executionId, 0, events))
  return (eventId) => findPosition(database(), executionId, eventId, ids.length)
}

test('every event of a log is found, whatever its length', async () => {
  for (const length of [1, 2, 3, 7, 64, 1000]) {
    const find = await logOf(Array.from({ length }, (_, index) => String(10 * (index + 1))))
    for (const position of new Set([1, 2, Math.ceil(length / 2), length - 1, length]))
      if (position > 0 && position <= length) expect(await find(String(10 * position))).toBe(position)
  }
})

test('an id that is not there stands behind the last smaller one (rule 3)', async () => {
  const find = await logOf(['10', '20', '30'])
  expect([await find('5'), await find('15'), await find('29'), await find('9223372036854775807')]).toEqual([
    0, 1, 2, 3,
  ])
})

test('an id that a sender gave is found wherever it stands (rule 1)', async () => {
  const find = await logOf(['100', 's7', '200', 's999999', '300'])
  expect([await find('7'), await find('999999'), await find('300')]).toEqual([2, 4, 5])
})

test('ids of two servers that wrote at once are found although they are not in order (rule 2)', async () => {
  const ids = Array.from({ length: 600 }, (_, index) => 1000 + index)
  const mixed = ids.map((id, index) =>
    String(index % 2 === 0 ? (ids[index + 1] ?? id) : (ids[index - 1] ?? id)),
  )
  const find = await logOf(mixed)
  for (const position of [1, 2, 299, 300, 599, 600])
    expect(await find(mixed[position - 1] ?? '')).toBe(position)
})

test('a log of another execution is not looked at', async () => {
  await logOf(['41', '42'])
  const find = await logOf(['1'])
  expect(await find('42')).toBe(1)
})
