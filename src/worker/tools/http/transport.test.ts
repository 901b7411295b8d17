/** Connections: kept for the next request, replaced when they are closed, and led through a proxy. */
import { expect, test } from 'vitest'

import type { Json } from '../../../contract/json.ts'
import { aCall } from '../../test-support.ts'
import { createHttpTool } from '../http.ts'
import { dataOf, useHttpTool } from './test-support.ts'

const { server, other } = useHttpTool()

test('pages of a list are read one after the other over one connection', async () => {
  const fresh = createHttpTool()
  const before = server().connections()
  const ids: Json[] = []
  let after: Json = 0
  while (after !== null) {
    const result = await fresh.run(aCall({ url: `${server().url}/cursor`, params: { after } }))
    const page = dataOf(result).data as { items: { id: number }[]; next: Json }
    ids.push(...page.items.map((item) => item.id))
    after = page.next
  }
  expect(ids).toEqual([1, 2, 3, 4, 5, 6, 7])
  expect(server().connections() - before).toBe(1)
  await fresh.close()
})

test('a kept connection that the server closed is replaced without notice', async () => {
  const fresh = createHttpTool()
  const results = [1, 2].map(() => () => fresh.run(aCall({ url: `${server().url}/close-once` })))
  expect(dataOf(await results[0]!()).data).toEqual({ seen: 1 })
  expect(dataOf(await results[1]!()).data).toEqual({ seen: 3 })
  await fresh.close()
})

test('a proxy of the environment is used, except for this machine', async () => {
  const behind = createHttpTool({ env: { HTTP_PROXY: other().url } })
  const through = await behind.run(aCall({ url: 'http://far.example/ids' }))
  expect(dataOf(through).data).toMatchObject({ small: 12 })
  const before = other().requests.get('/ids')
  expect((await behind.run(aCall({ url: `${server().url}/ids` }))).outcome).toBe('ok')
  expect(other().requests.get('/ids')).toBe(before)
  await behind.close()
})
