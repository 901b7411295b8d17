import { describe, expect, it } from 'vitest'
import { TOOL_KINDS } from './kinds.ts'
import { advice, codes, diagnostics, find, firstTask, start, startStep, valid } from './snippets.suite.ts'

describe('a tool', () => {
  it('keeps every parameter it does not know, in order and with its type', () => {
    const task = firstTask(
      'tool: {kind: nats, zeta: 1, alpha: [true, null], timeout: 5m, set: {ctx.a: 1}, input: {k: 2}}',
    )
    expect(task).toEqual({
      label: 'start_task',
      kind: 'nats',
      input: { k: 2 },
      config: { zeta: 1, alpha: [true, null], timeout: 300 },
      set: [{ scope: 'ctx', path: ['a'], value: 1 }],
      rules: [],
    })
    expect(Object.keys(task.config)).toEqual(['zeta', 'alpha', 'timeout'])
  })

  it('takes parameters nested under spec, unless it has its own', () => {
    const task = firstTask(
      'tool: {kind: http, method: GET, spec: {method: PUT, endpoint: "http://x", timeout: 3}}',
    )
    expect(task.config).toEqual({ method: 'GET', timeout: 3, url: 'http://x' })
    expect(firstTask('tool: {kind: nats, spec: {endpoint: x}}').config).toEqual({ endpoint: 'x' })
    expect(firstTask('tool: {kind: noop, spec: {result: {store: kv}}}').config).toEqual({
      spec: { result: { store: 'kv' } },
    })
    expect(firstTask('tool: {kind: python, spec: {code: x, input: {a: 1}}}')).toMatchObject({
      input: { a: 1 },
    })
  })

  it('reads credential as auth and list parameters as lists', () => {
    expect(firstTask('tool: {kind: postgres, credential: pg, params: [1, "2"]}').config).toEqual({
      params: [1, '2'],
      auth: 'pg',
    })
  })

  it('leaves the argv of a container apart from its input', () => {
    const task = firstTask('tool: {kind: container, input: {a: 1}, args: [run, 5], command: [sleep, 1.0]}')
    expect(task).toMatchObject({ input: { a: 1 }, config: { args: ['run', '5'], command: ['sleep', '1.0'] } })
  })

  it('may be of any known kind', () => {
    for (const kind of TOOL_KINDS) {
      if (kind !== 'workbook') expect(firstTask(`tool: {kind: ${kind}}`).kind).toBe(kind)
    }
  })

  it('leaves python code alone that is no template, with a warning', () => {
    const keys = 'tool:\n  kind: python\n  code: |\n    result = {"a": {"b": 1}}\n    print(f"{{ {1} ")'
    expect(firstTask(keys).config).toMatchObject({ code: expect.stringContaining('print') })
    expect(advice(startStep(keys))).toEqual(['template'])
    expect(codes(startStep('tool: {kind: rhai, code: "{{ a b }}"}'))).toEqual(['TEMPLATE'])
  })

  it.each([
    ['tool: http', 'PARSE'],
    ['tool: {url: x}', 'PARSE'],
    ['tool: {kind: [http]}', 'PARSE'],
    ['tool: {kind: http, input: "{{ x }}"}', 'PARSE'],
    ['tool: [text]', 'PARSE'],
    ['tool: [{name: a}]', 'PIPELINE_ITEM_SHAPE'],
    ['tool: [{name: a, kind: noop}, {a: {kind: noop}}]', 'DUPLICATE_TASK'],
    ['tool: {kind: http, url: "{{ x | nofilter( }}"}', 'TEMPLATE'],
    ['tool: {kind: http, input: {a: ["{{ x y }}"]}}', 'TEMPLATE'],
    ['tool: {kind: http, set: {ctx.a: "{% if %}"}}', 'TEMPLATE'],
  ])('%s is refused as %s', (keys, code) => {
    expect(codes(startStep(keys))).toEqual([code])
  })

  it('warns about a template that is never closed', () => {
    expect(find(startStep('tool: {kind: http, url: "a{{ x"}'), 'template')).toMatchObject({
      line: 6,
      column: 31,
    })
    expect(codes(startStep('tool: {kind: python, code: "a{{ x"}'), 'warning')).not.toContain('template')
  })

  it('names the offending key', () => {
    const problem = find(startStep('tool: {kind: http, input: {a: ["{{ x y }}"]}}'), 'TEMPLATE')
    expect(problem.message).toContain("Step 'start': 'tool.input.a[0]'")
    expect(problem.path).toBe('workflow[0].tool.input.a[0]')
  })
})

describe('a pipeline', () => {
  it('3: labels tasks without a name by their position', () => {
    const tasks = start('tool: [{kind: noop}, {name: x, kind: noop}, {kind: noop}]').body.tasks
    expect(tasks.map((task) => task.label)).toEqual(['task_0', 'x', 'task_2'])
  })

  it('1: is a pipeline even with one task', () => {
    expect(start('tool: [{kind: noop}]').body.kind).toBe('pipeline')
    expect(start('tool: {kind: task_sequence, tasks: [{name: a, kind: noop}]}').body).toMatchObject({
      kind: 'pipeline',
      tasks: [{ label: 'a', kind: 'noop' }],
    })
  })
})

describe('the workbook', () => {
  const base = startStep('tool: {kind: workbook, name: w, spec: {timeout: 1}}')

  it('is a list of named single tools', () => {
    expect(codes(`${startStep('desc: x')}workbook: {tasks: []}\n`)).toEqual(['PARSE'])
    expect(
      codes(`${startStep('desc: x')}workbook: [{tool: {kind: noop}}, {name: a}, {name: b, tool: []}]\n`),
    ).toEqual(['PARSE', 'PARSE', 'PARSE'])
    expect(
      codes(`${base}workbook: [{name: w, tool: {kind: noop}}, {name: w, tool: {kind: noop}}]\n`),
    ).toEqual(['WORKBOOK_DUPLICATE'])
    expect(codes(`${startStep('desc: x')}workbook: [{name: w, tool: {kind: workbook, name: w}}]\n`)).toEqual([
      'WORKBOOK_NESTED',
    ])
  })

  it('drops other keys of a reference, with a warning', () => {
    const text = `${base}workbook: [{name: w, tool: {kind: shell, command: ls}}]\n`
    expect(valid(text).steps[0]?.body.tasks[0]?.config).toEqual({ command: 'ls' })
    expect(advice(text)).toEqual(['ignored-key'])
  })

  it('is checked even where no step uses it', () => {
    const text = `${startStep('desc: x')}workbook: [{name: w, tool: {kind: shel}}]\n`
    expect(diagnostics(text)[0]?.message).toContain("Workbook 'w': unknown tool kind 'shel'")
  })
})
