/** Behaviour that the numbered cases do not pin down, by its number in the table of fixes.test.ts. */
import { afterAll, expect, test } from 'vitest'
import { EVENT } from '../../src/contract/event.ts'
import { startTestServer } from '../../src/worker/tools/http/test-server.ts'
import { useProduct } from '../support/playbook-run.ts'

const product = useProduct()
const { ended, look, post, refusal, register, run, start } = product

const web = await startTestServer()
afterAll(() => web.close())

test('fix 1: numbers and booleans are taken as text where text is expected, in tools and arcs too', async () => {
  const { status, runs, data } = await run(`
    - { step: start, tool: [ { name: 7, kind: noop, message: true, result: 1 } ], next: { arcs: [ { step: 2, when: true } ] } }
    - { step: 2, desc: 3, tool: { kind: shell, command: 0 } }`)
  expect(runs).toEqual(['start', '2'])
  expect(data('start')).toEqual({ 7: 1 })
  // There is no command called 0: the text reached the shell.
  expect(status).toBe('FAILED')
})

test('fix 2: the order of keys survives workload, storage, templates and results', async () => {
  const { executionId, data } = await run({
    top: 'workload: { o: { z: 1, a: { y: 1, b: 2 }, m: 3 } }',
    steps: `
      - { step: start, tool: { kind: python, input: { o: "{{ o }}" }, code: "result = {'z': list(o), 'b': list(o['a']), 'a': o}" }, next: read }
      - { step: read, tool: { kind: noop, result: ["{{ start.a | tojson }}", "{{ start }}"] } }`,
  })
  const order = '{"z":["z","a","m"],"b":["y","b"],"a":{"z":1,"a":{"y":1,"b":2},"m":3}}'
  expect(JSON.stringify(data('read'))).toBe(
    JSON.stringify(['{"z":1,"a":{"y":1,"b":2},"m":3}', JSON.parse(order)]),
  )
  expect((await product.get(`/api/executions/${executionId}`)).text).toContain(order)
})

test('fix 4: a secret that nobody has fails the step that uses it, and can be asked for', async () => {
  const used = await run(
    '- { step: start, tool: { kind: shell, command: "echo {{ keychain.nobody.key }}" } }',
  )
  expect(used.status).toBe('FAILED')
  expect(used.error).toContain('nobody')
  const asked = await run(
    `- { step: start, tool: { kind: noop, result: "{{ 'there' if keychain.nobody.key is defined else 'not there' }}" } }`,
  )
  expect(asked.error).toBeNull()
  expect(asked.data('start')).toBe('not there')
})

test('fix 7: malformed blocks are refused, each with its reason', async () => {
  const rule = (then: string): string =>
    `- { step: start, tool: [ { a: { kind: noop, spec: { policy: { rules: [ { when: true, then: ${then} } ] } } } } ] }`
  const bad = [
    '- { step: start, tool: { kind: noop }, next: { spec: { mode: sideways }, arcs: [ { step: start } ] } }',
    '- { step: start, tool: { kind: noop }, next: { arcs: [ { when: "{{ x }}" } ] } }',
    '- { step: start, tool: [ { a: { kind: noop } }, { a: { kind: noop } } ] }',
    '- { step: start, tool: { kind: noop }, loop: { in: [1], iterator: x, cursor: { claim: select }, spec: { mode: cursor } } }',
    '- { step: start, tool: { kind: noop }, loop: { in: [1], iterator: x, spec: { mode: parallel, max_in_flight: 0 } } }',
    rule('{ do: dance }'),
    rule('{ do: jump, to: nowhere }'),
    rule('{ do: retry, attempts: 0 }'),
    rule('{ do: retry, backoff: quadratic }'),
  ]
  for (const steps of bad) expect(await refusal(steps), steps).toMatchObject({ status: 422 })
})

test('fix 14: a dotted variable is nested, whether the server or the worker wrote it', async () => {
  const { data } = await run(`
    - { step: start, tool: { kind: noop }, set: { ctx.a.b: 1 }, next: task }
    - { step: task, tool: [ { one: { kind: noop, set: { ctx.a.c: 2, ctx.d.e: 3 } } } ], next: read }
    - { step: read, tool: { kind: noop, result: ["{{ a }}", "{{ ctx.d.e }}"] } }`)
  expect(data('read')).toEqual([{ b: 1, c: 2 }, 3])
})

test('fix 15: a variable whose template fails ends the execution, and the variable is named', async () => {
  const { status, error } = await run(`
    - { step: start, tool: { kind: noop, result: "no json" }, set: { ctx.parsed: "{{ output | fromjson }}" }, next: after }
    - { step: after, tool: { kind: noop } }`)
  expect(status).toBe('FAILED')
  expect(error).toMatch(/'start'.*parsed/)
})

test('fix 20: every statement of an SQL text has its result, and RETURNING has its rows (fix 21)', async () => {
  const { error, data } = await run(
    {
      top: 'workload: { url: "" }',
      steps: `
        - step: start
          tool:
            kind: postgres
            auth: { connection_string: "{{ url }}" }
            query: "create table fixes (n int); insert into fixes values (1), (2) returning n; select sum(n)::int as total from fixes"
          next: read
        - { step: read, tool: { kind: noop, result: ["{{ start.rows }}", "{{ start.command_1.rows }}", "{{ start.command_2.rows }}"] } }`,
    },
    { payload: { url: product.databaseUrl() } },
  )
  expect(error).toBeNull()
  expect(data('read')).toEqual([[{ total: 3 }], [{ n: 1 }, { n: 2 }], [{ total: 3 }]])
})

test('fix 22: a sub-playbook runs in the version that is asked for', async () => {
  const child = (answer: number) => ({
    path: 'conformance/versioned',
    steps: `- { step: start, tool: { kind: noop, result: { answer: ${answer} } } }`,
  })
  await register(child(1))
  await register(child(2))
  const call = (version: string) =>
    run(`
      - { step: start, tool: { kind: playbook, path: conformance/versioned, ${version}return_step: start }, next: read }
      - { step: read, tool: { kind: noop, result: "{{ start.answer }}" } }`)
  expect((await call('version: 1, ')).data('read')).toBe(1)
  expect((await call('')).data('read')).toBe(2)
})

test('fix 25: parents that wait take no slot, however many they are, also in pipelines', async () => {
  await register({
    path: 'conformance/slow-child',
    steps: `- { step: start, tool: { kind: python, code: "import time; time.sleep(0.05); result = {'n': 1}" } }`,
  })
  const call = (path: string): string => `{ kind: playbook, path: conformance/${path}, return_step: start }`
  await register({ path: 'conformance/middle', steps: `- { step: start, tool: ${call('slow-child')} }` })
  await register({
    path: 'conformance/pipe',
    steps: `- { step: start, tool: [ { one: ${call('slow-child')} } ] }`,
  })
  const twenty = 'loop: { in: "{{ range(20) | list }}", iterator: item, spec: { mode: parallel } }'
  const { status, data } = await run(`
    - { step: start, ${twenty}, tool: ${call('middle')}, next: pipes }
    - { step: pipes, ${twenty}, tool: [ { one: ${call('pipe')} }, { two: { kind: noop, result: "{{ one._status }}" } } ] }`)
  expect(status).toBe('COMPLETED')
  expect(data('start')).toMatchObject({ stats: { total: 20, success: 20 } })
  expect(data('pipes')).toMatchObject({ stats: { total: 20, success: 20 } })
})

test('fix 26: the name of a credential is rendered in tools, tasks and cursors alike', async () => {
  const data = { connection_string: product.databaseUrl() }
  expect((await post('/api/credentials', { name: 'pg_main', type: 'postgres', data })).status).toBe(200)
  const found = await run({
    top: 'workload: { pg_auth: pg_main }',
    steps: `
      - { step: start, tool: { kind: postgres, auth: "{{ pg_auth }}", query: "select 1 as n" }, next: task }
      - { step: task, tool: [ { one: { kind: postgres, auth: "{{ pg_auth }}", query: "select 2 as n" } } ], next: cursor }
      - step: cursor
        loop: { cursor: { auth: "{{ pg_auth }}", claim: "select 3 as n where false" }, iterator: row, spec: { mode: cursor } }
        tool: { kind: noop }`,
  })
  expect(found.error).toBeNull()
  expect(found.data('start')).toMatchObject({ rows: [{ n: 1 }] })
  expect(found.data('task')).toMatchObject({ one: { rows: [{ n: 2 }] } })
  expect(found.data('cursor')).toMatchObject({ cursor: 'drained', frames: 0 })
  expect(JSON.stringify(found.events)).not.toContain(data.connection_string)
})

test('fix 30: the collection of a loop is the one it had on entry', async () => {
  const { data, commands } = await run(`
    - { step: start, tool: { kind: noop }, set: { ctx.items: [1, 2] }, next: each }
    - step: each
      loop: { in: "{{ ctx.items }}", iterator: item }
      tool: [ { one: { kind: noop, result: "{{ item }}", set: { ctx.items: "{{ ctx.items + [9] }}" } } } ]
      next: read
    - { step: read, tool: { kind: noop, result: "{{ items }}" } }`)
  expect(commands.filter((event) => event.nodeName === 'each')).toHaveLength(2)
  expect(data('read')).toEqual([1, 2, 9, 9])
})

test('fix 32: input that the author declared wins over the iteration', async () => {
  const { data } = await run(`
    - step: start
      loop: { in: [1], iterator: item }
      tool: { kind: python, input: { item: mine }, code: "result = [item, _index]" }`)
  expect(data('start')).toMatchObject({ results: [['mine', 0]] })
})

test('fix 35: two arcs into a loop step start it once', async () => {
  const { runs, commands } = await run(`
    - { step: start, tool: { kind: noop }, next: [a, b] }
    - { step: a, next: each }
    - { step: b, next: { spec: { mode: inclusive }, arcs: [ { step: each }, { step: each } ] } }
    - { step: each, loop: { in: [1, 2, 3], iterator: item, spec: { mode: parallel } }, tool: { kind: noop } }`)
  expect(runs).toEqual(['start', 'a', 'b', 'each'])
  expect(commands.filter((event) => event.nodeName === 'each')).toHaveLength(3)
})

test('fix 39: arcs are decided once, with what was known then', async () => {
  const { status, runs, skipped } = await run(`
    - { step: start, tool: { kind: noop }, next: [early, late] }
    - { step: early, tool: { kind: noop }, next: { arcs: [ { step: never, when: "{{ ctx.flag is defined }}" } ] } }
    - { step: late, tool: { kind: python, code: "import time; time.sleep(0.1); result = 1" }, set: { ctx.flag: 1 }, next: last }
    - { step: last, tool: { kind: noop } }
    - { step: never, tool: { kind: noop } }`)
  expect({ status, runs, skipped }).toEqual({
    status: 'COMPLETED',
    runs: ['start', 'early', 'late', 'last'],
    skipped: ['never dead_path'],
  })
})

test('fix 46: the credential of a task may be what an earlier task gave', async () => {
  const { error, data } = await run(
    {
      top: 'workload: { url: "" }',
      steps: `
        - step: start
          tool:
            - login: { kind: python, code: "result = {'ticket': 'abc' + '123'}" }
            - call: { kind: http, url: "{{ url }}/echo", auth: { type: bearer, token: "{{ login.ticket }}" } }
            - check: { kind: python, input: { sent: "{{ call.data.headers.authorization }}" }, code: "result = sent.endswith('abc' + '123')" }`,
    },
    { payload: { url: web.url } },
  )
  expect(error).toBeNull()
  expect(data('start')).toMatchObject({ check: true })
})

test('fix 49: an SQL error in a task goes through its policy', async () => {
  const { status, data } = await run(
    {
      top: 'workload: { url: "" }',
      steps: `
        - step: start
          tool:
            - one:
                kind: postgres
                auth: { connection_string: "{{ url }}" }
                query: "select * from nowhere"
                spec: { policy: { rules: [ { when: "{{ output.pg.sqlstate == '42P01' }}", then: { do: continue, set: { ctx.state: "{{ output.error.sqlstate }}" } } } ] } }
          next: read
        - { step: read, tool: { kind: noop, result: "{{ state }}" } }`,
    },
    { payload: { url: product.databaseUrl() } },
  )
  expect(status).toBe('COMPLETED')
  expect(data('read')).toBe('42P01')
})

test('fix 51: a result passed on whole has no key it did not have', async () => {
  const { data } = await run(`
    - { step: start, tool: { kind: noop, result: { x: 1 } }, next: read }
    - { step: read, tool: { kind: python, input: { whole: "{{ start }}", member: "{{ start.data.x }}" }, code: "result = [whole, member]" } }`)
  expect(data('read')).toEqual([{ x: 1 }, 1])
})

test('fix 52: only pipelines are flattened', async () => {
  const { data } = await run(`
    - { step: start, tool: { kind: noop, result: { a: { x: 1 }, b: { y: 2 } } }, next: pipe }
    - { step: pipe, tool: [ { one: { kind: noop, result: 5 } }, { two: { kind: noop, result: { one: 6, z: 7 } } } ], next: read }
    - { step: read, tool: { kind: noop, result: ["{{ start.x is defined }}", "{{ pipe.one }}", "{{ pipe.z }}", "{{ pipe }}"] } }`)
  expect(data('read')).toEqual([false, 5, 7, { one: 5, two: { one: 6, z: 7 }, z: 7 }])
})

test('fix 53: rules see what python and SQL said about an error', async () => {
  const { data } = await run(`
    - step: start
      tool:
        - one:
            kind: python
            code: "raise KeyError('k')"
            spec: { policy: { rules: [ { else: { then: { do: continue, set: { ctx.seen: ["{{ output.py.exception }}", "{{ output.error.retryable }}", "{{ output.meta.attempt }}"] } } } } ] } }
      next: read
    - { step: read, tool: { kind: noop, result: "{{ seen }}" } }`)
  expect(data('read')).toEqual(['KeyError', false, 1])
})

test('fix 56: the attempts of a task begin anew when a jump leads back to it', async () => {
  const { data } = await run(`
    - step: start
      tool:
        - flaky:
            kind: shell
            command: 'exit $(( {{ _attempt }} % 2 ))'
            spec: { policy: { rules: [ { when: "{{ output.status == 'error' }}", then: { do: retry, attempts: 2 } }, { else: { then: { do: continue, set: { ctx.rounds: "{{ ctx.rounds | int + 1 }}" } } } } ] } }
        - again: { kind: noop, spec: { policy: { rules: [ { when: "{{ ctx.rounds < 3 }}", then: { do: jump, to: flaky } } ] } } }
      next: read
    - { step: read, tool: { kind: noop, result: "{{ rounds }}" } }`)
  expect(data('read')).toBe(3)
})

test('fix 59: what a pipeline exports is written once and does not come back over a later set', async () => {
  const found = await run(`
    - { step: start, tool: [ { one: { kind: noop, set: { ctx.x: 1 } } } ], next: over }
    - { step: over, tool: { kind: noop }, set: { ctx.x: 2 }, next: more }
    - { step: more, tool: { kind: noop }, next: read }
    - { step: read, tool: { kind: noop, result: "{{ x }}" } }`)
  expect(found.data('read')).toBe(2)
  expect(found.events.filter((event) => event.eventType === EVENT.contextUpdated)).toHaveLength(2)
})

test('fix 60: a failed pipeline keeps the shape of its data for handlers', async () => {
  const { status, data } = await run(`
    - step: start
      tool: [ { one: { kind: noop, result: { x: 1 } } }, { two: { kind: shell, command: "exit 3" } } ]
      next: { arcs: [ { step: handler, when: "{{ output.status == 'error' }}" } ] }
    - { step: handler, tool: { kind: noop, result: ["{{ start.one.x }}", "{{ start._failed_task }}", "{{ start.two.exit_code }}"] } }`)
  expect(status).toBe('COMPLETED')
  expect(data('handler')).toEqual([1, 'two', 3])
})

test('fix 65: a failure in a batch moves the execution on', async () => {
  const id = await start(
    `
    - { step: start, tool: { kind: python, code: "result = 1" }, next: { arcs: [ { step: handler, when: "{{ event.name == 'call.error' }}" } ] } }
    - { step: handler, tool: { kind: noop } }`,
    { pool: 'by-hand' },
  )
  const item = (step: string, event_type: string) => ({
    step,
    event_type,
    payload: { error: { message: 'broken' } },
  })
  const failed = await post('/api/events/batch', {
    execution_id: id,
    worker_id: 'hand',
    events: [item('start', 'command.started'), item('start', 'command.failed')],
  })
  expect(failed.status).toBe(200)
  expect((await look(id)).runs).toEqual(['start', 'handler'])
  await post('/api/events/batch', {
    execution_id: id,
    worker_id: 'hand',
    events: [item('handler', 'command.failed')],
  })
  const found = await ended(id)
  expect(found.status).toBe('FAILED')
  expect(found.error).toContain('broken')
})

test('fix 70: a playbook that runs itself ends at the limit of nesting', async () => {
  const path = 'conformance/recursive'
  const { status, error } = await run({
    path,
    steps: `- { step: start, tool: { kind: playbook, path: ${path}, return_step: start } }`,
  })
  expect(status).toBe('FAILED')
  expect(error).toMatch(/nested \d+ deep/)
})

test('fix 80: a task that runs out of time fails its pipeline', async () => {
  const { status, error, data } = await run(`
    - { step: start, tool: [ { one: { kind: shell, command: "sleep 20", timeout: 0.2 } }, { two: { kind: noop } } ] }`)
  expect(status).toBe('FAILED')
  expect(error).toMatch(/0\.2 s|time/i)
  expect(data('start')).not.toHaveProperty('two')
})

test('fix 81: workload keys called path and version are the user’s', async () => {
  const { data } = await run({
    top: 'workload: { path: mine, version: 9 }',
    steps:
      '- { step: start, tool: { kind: noop, result: ["{{ path }}", "{{ version }}", "{{ workload.path }}"] } }',
  })
  expect(data('start')).toEqual(['mine', 9, 'mine'])
})
