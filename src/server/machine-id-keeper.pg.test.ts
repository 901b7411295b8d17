import { expect, test } from 'vitest'
import { useDatabase } from '../../test/support/database.ts'
import { createSnowflake } from '../lib/snowflake.ts'
import { silentLog } from '../worker/log.ts'
import { reserveMachine } from './machine-id-keeper.ts'

const database = useDatabase()

test('two servers that want the same number make different ids in the same millisecond', async () => {
  const keepers = [
    await reserveMachine(database(), 7, silentLog),
    await reserveMachine(database(), 7, silentLog),
  ]
  const ids = keepers.flatMap((keeper) => {
    const nextId = createSnowflake({ machineId: keeper.current, now: () => 1_800_000_000_000 })
    return Array.from({ length: 100 }, nextId)
  })
  expect(new Set(ids).size).toBe(200)
  for (const keeper of keepers) await keeper.stop()
  expect((await database().query('select * from noetl.machine')).rows).toEqual([])
})

test('a number that was lost is replaced, and ids go on increasing', async () => {
  const keeper = await reserveMachine(database(), 9, silentLog)
  const nextId = createSnowflake({ machineId: keeper.current, now: () => 1_800_000_000_000 })
  const before = BigInt(nextId())
  await database().query(`update noetl.machine set holder = 'somebody else' where machine_id = 9`)
  expect(await keeper.runOnce()).toBe(10)
  expect(BigInt(nextId()) > before).toBe(true)
  await keeper.stop()
})

test('a number is not used when its time may be over, until it was renewed (1)', async () => {
  let time = 1_800_000_000_000
  const keeper = await reserveMachine(database(), 11, silentLog, () => time)
  const nextId = createSnowflake({ machineId: keeper.current, now: () => time })
  expect(keeper.current()).toBe(11)
  // The process stood still; somebody else has the number by now.
  time += 60_000
  await database().query(`update noetl.machine set holder = 'somebody else' where machine_id = 11`)
  expect(() => nextId()).toThrow(/renewed first/)
  expect(() => nextId()).toThrow(/renewed first/)
  expect(await keeper.runOnce()).toBe(12)
  expect((BigInt(nextId()) >> 12n) & 1023n).toBe(12n)
  // Asking was enough to have it renewed.
  time += 60_000
  expect(() => nextId()).toThrow(/renewed first/)
  await expect.poll(nextId).toBeTypeOf('string')
  await keeper.stop()
  expect(
    (await database().query(`select * from noetl.machine where holder <> 'somebody else'`)).rows,
  ).toEqual([])
})
