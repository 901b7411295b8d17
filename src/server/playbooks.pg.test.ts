import { expect, test } from 'vitest'
import { single } from '../../test/support/playbooks.ts'
import { useServers } from '../../test/support/servers.ts'
import { createPlaybooks } from './playbooks.ts'

const servers = useServers()

test('playbooks are parsed once, as long as there is room for them', async () => {
  const server = await servers.start()
  const a = await server.register(single('tests/a'))
  const b = await server.register(single('tests/b'))
  const { cluster } = server.core.shards
  const roomy = createPlaybooks(cluster)
  const first = await roomy.byId(a)
  await roomy.byId(b)
  expect(await roomy.byId(a)).toBe(first)
  expect(await roomy.byPath('tests/a', null)).toBe(first)

  const narrow = createPlaybooks(cluster, 1)
  const parsed = await narrow.byId(a)
  expect(await narrow.byId(a)).toBe(parsed)
  await narrow.byId(b)
  expect(await narrow.byId(a)).not.toBe(parsed)
  expect((await narrow.byId(a)).graph.playbook).toEqual(parsed.graph.playbook)
})
