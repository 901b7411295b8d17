import { expect, test } from 'vitest'
import type { ControlPlane } from '../../contract/command.ts'
import type { JsonObject } from '../../contract/json.ts'
import { aCommand } from '../test-support.ts'
import type { ToolCall } from '../tool.ts'
import { createArtifactTools } from './artifact.ts'

const controlPlane: Pick<ControlPlane, 'result'> = { result: () => Promise.resolve(null) }

const put = async (input: JsonObject, more: Partial<ToolCall> = {}) => {
  const tool = createArtifactTools(controlPlane).find(({ kind }) => kind === 'artifact')
  const call = {
    config: { action: 'put' },
    input,
    command: aCommand(),
    callId: '1',
    takesLarge: true,
    signal: new AbortController().signal,
    log: () => undefined,
    ...more,
  }
  return tool?.run(call)
}

test('what put is given is handed on to be stored apart, however small (rule 1)', async () => {
  const result = await put({ data: { n: 1 } })
  expect(Buffer.from(result?.large?.json ?? []).toString()).toBe('{"n":1}')
  expect(result?.data).toBeUndefined()
})

test('put of nothing says what it wants', async () => {
  await expect(put({})).rejects.toThrow('Which data?')
})

test.each([
  ['a pipeline', { takesLarge: false }],
  ['a loop', { command: aCommand({ meta: { iteration_index: 0, iteration_total: 2 } }) }],
])('put refuses to be a part of %s, which has no reference to give (rule 2)', async (_name, more) => {
  await expect(put({ data: 1 }, more)).rejects.toThrow('a step of its own')
})

test('an action that is not known is told those that are', async () => {
  await expect(async () => put({}, { config: { action: 'list' } })).rejects.toThrow('"get" and "put" are')
})
