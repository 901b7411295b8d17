import { expect, test } from 'vitest'

import { noop } from '../../contract/tools/noop.ts'
import type { ToolDeclaration } from '../../contract/tools/tool-declaration.ts'
import { aCall } from '../test-support.ts'
import type { Tool } from '../tool.ts'
import { noopTool } from './noop.ts'
import { createToolRegistry } from './registry.ts'

const declaration: ToolDeclaration = {
  kind: 'sample',
  title: 'Sample',
  description: 'A sample.',
  fields: {
    port: { title: 'Port', type: 'integer', required: true, description: 'A port.', examples: [80] },
  },
  examples: [{ port: 80 }],
}

const sample = (): { tool: Tool; calls: number } => {
  const state = {
    calls: 0,
    tool: {
      kind: 'sample',
      declaration,
      instant: true,
      run: () => {
        state.calls += 1
        return { outcome: 'ok' as const }
      },
    },
  }
  return state
}

test('a tool never sees a block that its declaration refuses (rule 1)', () => {
  const state = sample()
  const tool = createToolRegistry([state.tool]).get('sample')
  expect(tool.run(aCall({ port: 'x' }))).toMatchObject({
    outcome: 'error',
    error: {
      kind: 'config',
      code: 'CONFIG',
      message: 'port must be a whole number, not "x"; for example port: 80',
      retryable: false,
    },
  })
  expect(tool.run(aCall({ timeout: {} }))).toMatchObject({
    error: { message: expect.stringContaining('a sample tool needs port; for example port: 80') as string },
  })
  expect(state.calls).toBe(0)
  expect(tool.run(aCall({ port: '8080', unknown: [] }))).toEqual({ outcome: 'ok' })
  expect(state.calls).toBe(1)
})

test('an instant tool still answers at once', () => {
  const tool = createToolRegistry([noopTool]).get('noop')
  expect(tool.declaration).toBe(noop)
  expect(tool.run(aCall({ result: 5 }))).toEqual({ outcome: 'ok', data: 5 })
})

test('a kind that is known and not here says what it needs, any other what there is (rule 2)', () => {
  const registry = createToolRegistry([noopTool])
  expect(() => registry.get('snowflake')).toThrow(/kind 'snowflake' is not part of this worker: it needs/)
  expect(() => registry.get('javascript')).toThrow(/no tool of kind "javascript". It has: noop/)
  expect(() => createToolRegistry([noopTool, noopTool])).toThrow('Two tools')
})
