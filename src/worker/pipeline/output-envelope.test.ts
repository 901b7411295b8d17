import { describe, expect, test } from 'vitest'

import type { Json } from '../../contract/json.ts'
import { renderValue } from '../../template/render.ts'
import type { ToolResult } from '../tool.ts'
import { outputEnvelope } from './output-envelope.ts'
import { error, ok } from './test-support.ts'

const read = (template: Json, result: ToolResult, kind = 'http'): Json => {
  const output = outputEnvelope({ label: 'a', kind, result, attempt: 2, durationMs: 5 })
  return renderValue(template, { lookup: (name) => (name === 'output' ? output : undefined) })
}

describe('output of policy rules', () => {
  test.each([
    ["output.status == 'success'", true],
    ["output.status == 'ok'", true],
    ["'ok' == output.status", true],
    ["output.status != 'error'", true],
    ["output.status in ['ok', 'done']", true],
    ["output.status == 'error'", false],
    ['output.status ~ ""', 'success'],
    ['output.error is none', true],
    ['output.http is defined', false],
  ])('%s of a success (1)', (expression, expected) => {
    expect(read(`{{ ${expression} }}`, ok(1), 'noop')).toBe(expected)
  })

  test('an error has its facts, and http its status', () => {
    const result = {
      ...error('busy', { http_status: 503, retryable: true }),
      data: { status_code: 503, headers: { h: 'v' } },
    }
    expect(
      read(
        [
          '{{ output.status }}',
          '{{ output.error.retryable }}',
          '{{ output.error.status }}',
          '{{ output.http }}',
        ],
        result,
      ),
    ).toEqual(['error', true, 503, { status: 503, headers: { h: 'v' } }])
  })

  test('pg and py are there when there is something to say (3)', () => {
    const sql = error('dead', { sqlstate: '40P01' })
    expect(
      read(['{{ output.pg.code }}', '{{ output.pg.sqlstate }}', '{{ output.py }}'], sql, 'postgres'),
    ).toEqual(['40P01', '40P01', null])
    const python = error('bad', { exception: 'ValueError', traceback: 'line 1' })
    expect(
      read(['{{ output.py.exception }}', '{{ output.py.traceback }}', '{{ output.pg }}'], python, 'python'),
    ).toEqual(['ValueError', 'line 1', null])
  })

  test('members that an http answer lacks are those of its body (2)', () => {
    const answer = { status_code: 200, headers: {}, data: { meta: { page: 1 }, headers: 'of the body' } }
    const template = [
      '{{ output.data.meta.page }}',
      '{{ output.data.data.meta.page }}',
      '{{ output.data.headers }}',
      '{{ output.result.meta.page }}',
      '{{ output.data.nothing }}',
    ]
    expect(read(template, ok(answer))).toEqual([1, 1, {}, 1, null])
    expect(read('{{ output.data.meta }}', ok(answer), 'noop')).toBeNull()
    expect(read(['{{ output.data }}', '{{ output.data.x }}'], ok({ data: [1] }))).toEqual([
      { data: [1] },
      null,
    ])
  })

  test('as a whole it is plain data', () => {
    expect(read('{{ output }}', ok({ x: 1 }), 'noop')).toEqual({
      status: 'success',
      data: { x: 1 },
      error: null,
      meta: { attempt: 2, duration_ms: 5 },
    })
    expect(read('{{ output.error.message }}', { outcome: 'error' }, 'noop')).toBe(
      "Task 'a' failed without saying why",
    )
  })
})
