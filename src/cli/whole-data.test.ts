/** Data that is stored apart. Numbers are those of the header of whole-data.ts. */
import { expect, test } from 'vitest'
import type { Json } from '../contract/json.ts'
import { ProblemError } from '../contract/problem.ts'
import { wholeData } from './whole-data.ts'

const refOf = (id: number): string => `noetl://execution/1/result/a/${id}`
const marker = (id: number): Json => ({ _ref: refOf(id), _store: 'kv', text: { _len: 9 } })

const storeOf = (stored: Readonly<Record<string, Json>>) => ({
  resolve: async (ref: string): Promise<Json> => {
    const data = stored[ref]
    if (data === undefined) throw new ProblemError('not_found', 'gone')
    return data
  },
})

const client = storeOf({ [refOf(1)]: { text: 'whole' }, [refOf(2)]: [1, 2], [refOf(3)]: { password: 'x' } })

test('what is stored apart is put in its place, at any depth', async () => {
  expect(await wholeData(marker(1), client)).toEqual({ text: 'whole' })
  expect(await wholeData({ results: [marker(2), 5], n: null }, client)).toEqual({
    results: [[1, 2], 5],
    n: null,
  })
})

test('data that is there is left as it is', async () => {
  const data = { _ref: 'somewhere', list: [{ a: 1 }] }
  expect(await wholeData(data, client)).toBe(data)
})

test('what was deleted stays what stands for it; any other problem is told (1)', async () => {
  expect(await wholeData([marker(4)], client)).toEqual([marker(4)])
  const away = { resolve: () => Promise.reject(new ProblemError('unavailable', 'away')) }
  await expect(wholeData(marker(1), away)).rejects.toThrow('away')
})

test('sensitive values are replaced (2)', async () => {
  expect(JSON.stringify(await wholeData(marker(3), client))).not.toContain('"x"')
})
