import { expect, test } from 'vitest'
import { useDatabase } from '../../test/support/database.ts'
import { releaseMachineId, renewMachineId, reserveMachineId } from './machine-ids.ts'

const database = useDatabase()
const as = (holder: string, seconds = 60) => ({ holder, seconds })

test('the number asked for is given while it is free, then the next ones (rule 1)', async () => {
  const given = []
  for (const holder of ['a', 'b', 'c']) given.push(await reserveMachineId(database(), 1023, as(holder)))
  expect(given).toEqual([1023, 0, 1])
})

test('servers that start at once get different numbers (rule 1)', async () => {
  const holders = Array.from({ length: 12 }, (_, index) => `racer-${index}`)
  const given = await Promise.all(holders.map((holder) => reserveMachineId(database(), 500, as(holder))))
  expect(new Set(given).size).toBe(holders.length)
})

test('a number whose time is over goes to whoever asks, and its former holder is told (rule 2)', async () => {
  expect(await reserveMachineId(database(), 100, as('dead', 0))).toBe(100)
  expect(await reserveMachineId(database(), 100, as('next'))).toBe(100)
  expect(await renewMachineId(database(), 100, as('dead'))).toBe(false)
  expect(await renewMachineId(database(), 100, as('next'))).toBe(true)
})

test('a holder that was late keeps its number when nobody took it', async () => {
  expect(await reserveMachineId(database(), 110, as('late', 0))).toBe(110)
  expect(await renewMachineId(database(), 110, as('late'))).toBe(true)
  expect(await reserveMachineId(database(), 110, as('other'))).toBe(111)
})

test('a released number is free at once, and only its holder can release it', async () => {
  await reserveMachineId(database(), 200, as('a'))
  await releaseMachineId(database(), 200, 'b')
  expect(await reserveMachineId(database(), 200, as('c'))).toBe(201)
  await releaseMachineId(database(), 200, 'a')
  expect(await reserveMachineId(database(), 200, as('d'))).toBe(200)
})

test('when every number is held the answer says so', async () => {
  await database().query(
    `insert into noetl.machine select n, 'all', now() + interval '1 hour' from generate_series(0, 1023) n
     on conflict (machine_id) do update set held_until = excluded.held_until`,
  )
  expect(await reserveMachineId(database(), 3, as('late'))).toBeNull()
})
