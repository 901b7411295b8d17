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
