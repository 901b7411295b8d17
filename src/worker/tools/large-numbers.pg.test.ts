/** A whole number that no double holds, on its way through tools and the log. */
import { afterAll, expect, test } from 'vitest'

import type { Json, JsonObject } from '../../contract/json.ts'
import { exactJson, parseJson } from '../../lib/exact-json.ts'
import { renderValue } from '../../template/render.ts'
import { aCall } from '../test-support.ts'
import { usePostgresTool } from './postgres/test-support.ts'
import { createPythonTool } from './python.ts'

const { ok, rows } = usePostgresTool()
const python = createPythonTool({ env: process.env, python: process.env['NOETL_PYTHON'] ?? 'python3' })
afterAll(() => python.close())

const LARGE = '9223372036854775806'
/** As the log keeps it and gives it back. */
const stored = (value: Json): Json => parseJson(exactJson(value)) as Json

test('a bigint keeps its digits from a table over Python and templates into a table', async () => {
  await ok({ query: `create table large (id bigint); insert into large values (${LARGE})` })
  expect(await rows('select id from large')).toEqual([{ id: LARGE }])
  const { data } = await python.run(
    aCall(
      { code: 'result = {"text": id, "next": int(id) + 1}' },
      { input: stored({ id: LARGE }) as JsonObject },
    ),
  )
  expect(stored(data ?? null)).toEqual({ text: LARGE, next: '9223372036854775807' })
  const less = renderValue('{{ id | int - 1 }}', { lookup: (name) => (name === 'id' ? LARGE : undefined) })
  await ok({ query: 'insert into large values ($1), ($2)', params: [stored(less), '9223372036854775807'] })
  expect(await rows('select count(*) as n from large where id >= 9223372036854775805')).toEqual([{ n: 3 }])
})
