/** What late templates of single tools see. */
import { describe, expect, test } from 'vitest'

import type { Json, JsonObject } from '../contract/json.ts'
import { renderValue } from '../template/render.ts'
import { commandNames, commandScope } from './command-scope.ts'
import { aCommand } from './test-support.ts'

interface Seen {
  readonly variables?: JsonObject
  readonly meta?: JsonObject
  readonly args?: JsonObject
  readonly input?: JsonObject
}

const see = (template: Json, { variables = {}, meta = {}, args = {}, input = {} }: Seen): Json => {
  const command = aCommand({ meta, context: { tool_config: {}, args, render_context: variables } })
  const names = commandNames(command, 'worker-1')
  return renderValue(
    template,
    commandScope({ names, input, now: '2026-01-01T00:00:00.000Z', uuid: () => 'u' }),
  )
}

describe('results of steps among the variables', () => {
  const loop = { results: [{ x: 1 }, { x: 2 }], stats: { total: 2, success: 2, failed: 0 } }

  test('have the conveniences they have on the server', () => {
    const variables = { fetch: { x: 1 }, loop_step: loop, text: 'plain' }
    const template = [
      '{{ fetch.data.x }}',
      '{{ fetch.result.x }}',
      '{{ fetch }}',
      '{{ loop_step | length }}',
      '{{ loop_step[1].x }}',
      '{{ loop_step.data[0].x }}',
      '{{ text }}',
    ]
    expect(see(template, { variables })).toEqual([1, 1, { x: 1 }, 2, 2, 1, 'plain'])
  })

  test('are known by name when the command says so (1)', () => {
    const variables = {
      fetch: { x: 1 },
      load: { x: 2, a: { x: 1 }, b: { x: 2 } },
      loop_step: loop,
      mapping: { x: 1 },
    }
    const meta = { step_results: { fetch: 'data', load: ['a', 'b'], loop_step: 'loop' } }
    const template = [
      '{{ fetch.data.x }}',
      '{{ load.results.a.x }}',
      '{{ load.x }}',
      '{{ load.a.data.x }}',
      '{{ loop_step | length }}',
      '{{ mapping.data }}',
    ]
    expect(see(template, { variables, meta })).toEqual([1, 1, 2, 1, 2, null])
  })

  test('are neither the workload nor the iteration', () => {
    const variables = { workload: { x: 1 }, iter: { item: 1 }, item: { x: 1 } }
    const meta = { iteration_index: 0, iteration_total: 1, item_var: 'item' }
    expect(see(['{{ workload.data }}', '{{ iter.data }}', '{{ item.data }}'], { variables, meta })).toEqual([
      null,
      null,
      null,
    ])
  })
})

describe('names', () => {
  test('ctx shows variables, never the input of the tool', () => {
    expect(
      see(['{{ x }}', '{{ ctx.x }}', '{{ ctx.y }}'], { variables: { x: 1 }, input: { x: 2, y: 3 } }),
    ).toEqual([2, 1, null])
  })

  test('the workload is read from the variables when the command does not bring it', () => {
    expect(see('{{ workload.x }}', { variables: { x: 1 } })).toBe(1)
    expect(see('{{ workload.x }}', { variables: { x: 1, workload: { x: 2 } } })).toBe(2)
  })

  test('nothing hides the execution', () => {
    const variables = { execution_id: 'no', job: 'no', catalog_id: 'no' }
    expect(
      see(['{{ execution_id }}', '{{ ctx.execution_id }}', '{{ job.id }}', '{{ catalog_id }}'], {
        variables,
      }),
    ).toEqual(['1000', '1000', '1000', '77'])
  })

  test('an iteration is put together from what the command says of it', () => {
    const meta = { iteration_index: 1, iteration_total: 2, item_var: 'row' }
    const args = { row: { id: 5 }, _index: 1, _total: 2 }
    const template = [
      '{{ row.id }}',
      '{{ iter.row.id }}',
      '{{ _index }}',
      '{{ iter._last }}',
      '{{ loop.first }}',
      '{{ loop_index }}',
      '{{ iter._total }}',
    ]
    expect(see(template, { meta, args })).toEqual([5, 5, 1, true, false, 1, 2])
    expect(see('{{ iter.row }}', { meta, args, variables: { iter: { row: 'given' } } })).toBe('given')
  })
})
