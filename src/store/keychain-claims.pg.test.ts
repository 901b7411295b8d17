import { expect, test } from 'vitest'
import { useDatabase } from '../../test/support/database.ts'
import { claimKeychain, endKeychainClaim } from './keychain-claims.ts'

const database = useDatabase()
const claim = (cacheKey: string, holder: string) => claimKeychain(database(), { cacheKey, holder })
const runOut = () => database().query("update noetl.keychain_claim set until = now() - interval '1 second'")

test('of many who claim an entry at once, one has it; it may claim it again (rule 2)', async () => {
  const holders = Array.from({ length: 20 }, (_, index) => `worker-${index}`)
  const answers = await Promise.all(holders.map((holder) => claim('a', holder)))
  expect(answers.filter(Boolean).length).toBe(1)
  expect(await claim('a', holders[answers.indexOf(true)] ?? '')).toBe(true)
  expect(await claim('a', 'somebody else')).toBe(false)
  expect(await claim('b', 'somebody else')).toBe(true)
})

test('a claim ends by itself, and with the entry (rules 1 and 3)', async () => {
  expect([await claim('c', 'first'), await claim('c', 'second')]).toEqual([true, false])
  await runOut()
  expect([await claim('c', 'second'), await claim('c', 'first')]).toEqual([true, false])
  await endKeychainClaim(database(), 'c')
  expect(await claim('c', 'first')).toBe(true)
})

test('claims that ran out are cleared away', async () => {
  await claim('d', 'first')
  await runOut()
  await claim('e', 'first')
  const { rows } = await database().query(
    "select cache_key from noetl.keychain_claim where cache_key in ('d', 'e')",
  )
  expect(rows).toEqual([{ cache_key: 'e' }])
})
