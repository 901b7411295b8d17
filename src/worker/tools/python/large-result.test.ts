import { afterAll, expect, test } from 'vitest'
import { aCall } from '../../test-support.ts'
import type { ToolCall, ToolResult } from '../../tool.ts'
import { createPythonTool } from '../python.ts'

const tool = createPythonTool({ env: process.env, python: process.env['NOETL_PYTHON'] ?? 'python3' })
afterAll(() => tool.close())

const ROWS = `result = {'rows': [{'id': i, 'text': 'ü' * 60} for i in range(15000)]}`

const run = (code: string, more: Partial<ToolCall> = {}): Promise<ToolResult> =>
  Promise.resolve(tool.run({ ...aCall({ code }), ...more }))

test('a large result is handed on as bytes to a caller that takes them (rule 6)', async () => {
  const { outcome, data, large, stdout } = await run(`print('hi')\n${ROWS}`, { takesLarge: true })
  expect({ outcome, data, stdout }).toEqual({ outcome: 'ok', data: undefined, stdout: 'hi\n' })
  const { data: object } = await run(ROWS)
  expect(JSON.parse(Buffer.from(large?.json ?? []).toString())).toEqual(object)
})

test('small results, failures and calls without a result are as they are anywhere', async () => {
  expect(await run('result = 1', { takesLarge: true })).toMatchObject({ outcome: 'ok', data: 1 })
  const failing = await run(`raise ValueError('x' * 2_000_000)`, { takesLarge: true })
  expect(failing).toMatchObject({ outcome: 'error', error: { code: 'PY_ValueError' } })
  expect(failing.large).toBeUndefined()
  expect(await run(`print('x')`, { takesLarge: true })).toMatchObject({ data: { stdout: 'x\n' } })
})

test('large input arrives as it is (rule 6)', async () => {
  const rows = Array.from({ length: 30_000 }, (_, id) => ({ id, text: 'ä'.repeat(30), big: 1e16 }))
  const code = 'result = [len(rows), rows[-1]["id"], rows[7]["text"], type(rows[0]["big"]).__name__]'
  expect((await run(code, { input: { rows } })).data).toEqual([30_000, 29_999, 'ä'.repeat(30), 'int'])
})
