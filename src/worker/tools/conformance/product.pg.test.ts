/** Tools through the whole product: registration, command, worker, result. */
import { describe, expect, test } from 'vitest'

import { useProduct } from '../../../../test/support/playbook-run.ts'

const product = useProduct()

test('rows go from a step to PostgreSQL, to DuckDB and back, with credentials on both sides', async () => {
  const data = { connection_string: product.databaseUrl() }
  await product.post('/api/credentials', { name: 'copy_pg', type: 'postgres', data })
  const run = await product.run(`
    - step: start
      tool:
        - { name: make, kind: postgres, auth: copy_pg, command: "create table copied (id int primary key, name text)" }
        - name: fill
          kind: transfer
          source: { type: rows, rows: [{ id: 1, name: one }, { id: 2, name: two }] }
          target: { type: postgres, auth: copy_pg, table: copied }
        - { name: prepare, kind: duckdb, command: "create table copied (id int, name varchar)" }
        - name: fetch
          kind: transfer
          source: { type: postgres, auth: copy_pg, query: select * from copied }
          target: { type: duckdb, table: copied }
      next: count
    - step: count
      tool: { kind: duckdb, query: "select sum(id)::int as total, list(name order by id) as names from copied" }
  `)
  expect(run.error).toBeNull()
  expect(run.data('count')).toMatchObject({ rows: [{ total: 3, names: ['one', 'two'] }] })
  expect(JSON.stringify(run.events)).not.toContain(product.databaseUrl())
})

test('a script runs with its input', async () => {
  const run = await product.run(`
    - step: start
      tool:
        kind: script
        script: { type: bash, content: 'echo "hello $who"' }
        input: { who: '{{ execution_id | length > 3 }}' }
  `)
  expect(run.error === null ? run.data('start') : run.error).toMatchObject({
    status: 'completed',
    output: 'hello true\n',
  })
})

describe('a block that the declaration refuses', () => {
  test('is refused at registration when it is written out', async () => {
    const { codes } = await product.refusal('- { step: start, tool: { kind: http, url: [a] } }')
    expect(codes).toEqual(['FIELD_TYPE'])
  })

  test('fails the step when a template gives it, in a pipeline too', async () => {
    const run = await product.run(`
      - step: start
        tool:
          - { name: a, kind: noop, result: { many: [1] } }
          - { name: b, kind: postgres, query: select 1, port: '{{ a.many }}' }
    `)
    expect(run.status).toBe('FAILED')
    expect(run.error).toContain('port must be a whole number from 1 on, not a list')
  })
})

test('a kind that no worker here runs is a warning, and fails with what to use instead', async () => {
  const playbook = "- { step: start, tool: { kind: gcs, source: /tmp/a, destination: 'gs://b/a' } }"
  expect(await product.warnings(playbook)).toContain('unavailable-kind')
  const run = await product.run(playbook)
  expect(run.status).toBe('FAILED')
  expect(run.error).toContain("kind 'gcs' is not part of this worker")
})
