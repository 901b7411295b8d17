import { expect, test } from 'vitest'
import { single } from '../../test/support/playbooks.ts'
import { useServer } from '../../test/support/server-file.ts'
import { createExpiryKeeper } from './expiry-keeper.ts'

const server = useServer()

test('keys of starts are deleted when their window is over, and may then be used anew', async () => {
  await server().register(single('tests/once'))
  const start = async (): Promise<unknown> =>
    (await server().post('/api/execute', { path: 'tests/once', dedup: { key: 'k', window_secs: 60 } })).body[
      'status'
    ]
  const keeper = createExpiryKeeper(server().core)
  expect([await start(), await start(), await keeper.runOnce()]).toEqual(['started', 'duplicate', 0])
  await server().core.shards.cluster.query(
    `update noetl.execution_dedup set seen_at = now() - interval '61 seconds', expires_at = now() - interval '1 second'`,
  )
  expect([await keeper.runOnce(), await start()]).toEqual([1, 'started'])
})
