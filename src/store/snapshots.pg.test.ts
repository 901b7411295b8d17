import { expect, test } from 'vitest'
import { nextTestId } from '../../test/support/appends.ts'
import { useDatabase } from '../../test/support/database.ts'
import { testSealer as sealer } from '../../test/support/server.ts'
import { readSnapshot, writeSnapshot } from './snapshots.ts'

const database = useDatabase()

test('the newest snapshot comes back, sealed as it was written', async () => {
  const id = nextTestId()
  expect(await readSnapshot(database(), id)).toBeNull()
  for (const position of [500, 1000, 750])
    await writeSnapshot(database(), id, { position, state: sealer.seal(`state at ${position} 😀`) })
  const found = await readSnapshot(database(), id)
  expect(found?.position).toBe(1000)
  expect(sealer.open(found?.state ?? Buffer.alloc(0))).toBe('state at 1000 😀')
})

test('a snapshot of the same position is written once', async () => {
  const id = nextTestId()
  await writeSnapshot(database(), id, { position: 1, state: Buffer.from('first') })
  await writeSnapshot(database(), id, { position: 1, state: Buffer.from('second') })
  expect((await readSnapshot(database(), id))?.state.toString()).toBe('first')
})
