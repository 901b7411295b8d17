import { describe, expect, it } from 'vitest'
import { formatDiagnostic } from './diagnostics.ts'
import { parsePlaybook } from './parse.ts'
import {
  HEADER,
  advice,
  codes,
  diagnostics,
  find,
  firstTask,
  start,
  startStep,
  valid,
  workflow,
} from './snippets.suite.ts'

const MINIMAL = workflow('- step: start\n  tool: { kind: noop }')

describe('a document', () => {
  it('case 1: the minimal playbook is accepted without a word', () => {
    const result = parsePlaybook(MINIMAL)
    expect(result).toMatchObject({ ok: true, warnings: [] })
    expect(valid(MINIMAL)).toMatchObject({
      name: 'sample',
      path: 'sample',
      entry: 'start',
      workload: {},
      keychain: [],
    })
  })

  it('case 2: another API version is refused with the expected one', () => {
    const problem = find(MINIMAL.replace('noetl.io/v2', 'noetl.io/v1'), 'API_VERSION')
    expect(problem.message).toBe('Unsupported API version: noetl.io/v1. Expected noetl.io/v2')
    expect(problem).toMatchObject({ line: 1, column: 13 })
  })

  it('reads noetl.io/v10 as a synonym, with a warning', () => {
    expect(codes(MINIMAL.replace('noetl.io/v2', 'noetl.io/v10'), 'warning')).toEqual(['api-version'])
  })

  it('case 3: another kind is refused', () => {
    const problem = find(MINIMAL.replace('kind: Playbook', 'kind: Workflow'), 'KIND')
    expect(problem.message).toBe('Invalid kind: Workflow. Expected Playbook')
  })

  it('case 4: a workflow without entry is refused', () => {
    expect(find(workflow('- step: begin'), 'NO_START').message).toMatch(
      /^Workflow must have a step named 'start'/,
    )
    expect(codes(`${HEADER}workflow: []\n`)).toEqual(['NO_START'])
  })

  it('starts at executor.spec.entry_step when it is given', () => {
    const text = `${workflow('- step: begin')}executor: { spec: { entry_step: begin } }\n`
    expect(valid(text).entry).toBe('begin')
  })

  it('case 5: two steps of one name are refused', () => {
    const problem = find(workflow('- step: start\n- step: a\n- step: a'), 'DUPLICATE_STEP')
    expect(problem.message).toBe('Duplicate step name: a')
    expect(problem).toMatchObject({ line: 7, column: 11 })
  })

  it('case 6: a step without a tool is a pure router', () => {
    expect(start('next: b').body).toEqual({ kind: 'none', tasks: [] })
  })

  it('case 7: a step with case is refused before everything else', () => {
    const text = workflow('- step: start\n  tool: []\n- step: a\n  case: [x]\n- case: []').replace(
      '/v2',
      '/v1',
    )
    const found = diagnostics(text)
    expect(found.map((each) => each.code).slice(0, 2)).toEqual(['CASE_NOT_ALLOWED', 'CASE_NOT_ALLOWED'])
    expect(found[0]?.message).toContain("Step 'a'")
    expect(found[1]?.message).toContain('workflow[2]')
    expect(codes(text)).toEqual(expect.arrayContaining(['API_VERSION', 'PIPELINE_EMPTY', 'PARSE']))
  })

  it('case 8: an arc to a step that does not exist is refused, end included', () => {
    expect(codes(workflow('- step: start\n  next: end'))).toEqual(['NEXT_UNKNOWN'])
    const problem = find(workflow('- step: start\n  next: fetsh\n- step: fetch'), 'NEXT_UNKNOWN')
    expect(problem.message).toContain("Did you mean 'fetch'?")
    expect(problem.path).toBe('workflow[0].next')
  })

  it('case 9: an empty pipeline is refused', () => {
    expect(codes(startStep('tool: []'))).toEqual(['PIPELINE_EMPTY'])
  })

  it('case 10: a pipeline item with two labels is refused', () => {
    expect(codes(startStep('tool: [ {a: {kind: noop}, b: {kind: noop}} ]'))).toEqual(['PIPELINE_ITEM_SHAPE'])
  })

  it('case 11: an unknown kind is refused with the known ones', () => {
    const { code, message } = find(startStep('tool: { kind: pyton }'), 'PARSE')
    expect(code).toBe('PARSE')
    expect(message).toContain("Step 'start': unknown tool kind 'pyton'")
    expect(message).toContain("Did you mean 'python'?")
    expect(message).toContain('http, postgres, duckdb')
  })

  it('case 12: loops without what their mode needs are refused', () => {
    expect(codes(startStep('loop: {iterator: x}'))).toEqual(['LOOP_IN_REQUIRED'])
    expect(codes(startStep('loop: {iterator: x, spec: {mode: cursor}}'))).toEqual(['LOOP_CURSOR'])
    expect(codes(startStep('loop: {in: [1], iterator: x, spec: {mode: zigzag}}'))).toEqual(['PARSE'])
  })

  it('case 13: an empty or broken guard is refused, with the place inside the text', () => {
    expect(codes(startStep('when: ""'))).toEqual(['STEP_WHEN'])
    const problem = find(startStep('when: "{{ a + }}"'), 'STEP_WHEN')
    expect(problem).toMatchObject({ line: 6, column: 19, path: 'workflow[0].when' })
  })

  it('case 14: unknown keys are accepted with warnings', () => {
    const text = `${startStep('foo: 1\nnext: {arcs: [{step: b, cond: "{{ x }}"}]}')}tests: []\n`
    expect(valid(text).steps).toHaveLength(3)
    expect(advice(text)).toEqual(['unknown-key', 'unknown-key', 'unknown-key'])
    expect(find(startStep('next: {arcs: [{step: b, cond: x}]}'), 'unknown-key').message).toContain(
      "Did you mean 'when'?",
    )
  })

  it('case 15: a duplicate key is refused at any depth', () => {
    expect(codes(`${MINIMAL}workload: { a: { b: 1, c: [ { d: 1, d: 2 } ] } }\n`)).toEqual(['DUPLICATE_KEY'])
    expect(find(`${MINIMAL}kind: Playbook\n`, 'DUPLICATE_KEY')).toMatchObject({ line: 7, column: 1 })
  })

  it('case 16: next with a step and no arcs is one arc; with neither it is refused', () => {
    expect(start('next: {step: b}').arcs).toEqual([{ to: 'b', when: null, set: [] }])
    expect(codes(startStep('next: {spec: {mode: inclusive}}'))).toEqual(['NEXT_ARCS'])
  })

  it('case 17: flat items and labels as keys mean the same', () => {
    const flat = start('tool: [ {name: a, kind: noop, message: x}, {name: b, kind: noop} ]')
    const labelled = start('tool: [ {a: {kind: noop, message: x}}, {b: {kind: noop}} ]')
    const mapping = start('tool: {a: {kind: noop, message: x}, b: {kind: noop}}')
    expect(labelled).toEqual(flat)
    expect(mapping).toEqual(flat)
  })

  it('case 18: all problems of a broken playbook come at once, errors before warnings', () => {
    const text = startStep(
      'foo: 1\nwhen: ""\nloop: {in: "{{ x y }}", iterator: ""}\ntool: {kind: nope}\nnext: [d, e]',
    )
    const found = diagnostics(text)
    expect(codes(text).toSorted()).toEqual(
      ['LOOP_IN', 'LOOP_ITERATOR', 'NEXT_UNKNOWN', 'NEXT_UNKNOWN', 'PARSE', 'STEP_WHEN'].toSorted(),
    )
    expect(found.map((each) => each.severity)).toEqual(found.map((each) => each.severity).toSorted())
  })

  it('case 22: input and args of a tool mean the same, and both together are refused', () => {
    expect(firstTask('tool: {kind: python, input: {n: 1}}')).toEqual(
      firstTask('tool: {kind: python, args: {n: 1}}'),
    )
    expect(codes(startStep('tool: {kind: python, input: {n: 1}, args: {n: 2}}'))).toEqual(['INPUT_AND_ARGS'])
  })

  it('case 24: a workbook reference takes the tool, with its own input over the defaults', () => {
    const workbook = 'workbook: [ {name: score, tool: {kind: python, input: {n: 0, m: 1}, code: x}} ]\n'
    const single = startStep('tool: {kind: workbook, name: score, input: {n: 7}}') + workbook
    expect(valid(single).steps[0]?.body.tasks[0]).toMatchObject({
      kind: 'python',
      input: { n: 7, m: 1 },
      config: { code: 'x' },
    })
    const pipeline = startStep('tool: [ {do_it: {kind: workbook, name: score}} ]') + workbook
    expect(valid(pipeline).steps[0]?.body.tasks[0]).toMatchObject({
      label: 'do_it',
      kind: 'python',
      input: { n: 0, m: 1 },
    })
    const unknown = find(startStep('tool: {kind: workbook, name: scor}') + workbook, 'WORKBOOK_UNKNOWN')
    expect(unknown.message).toContain("known names: score. Did you mean 'score'?")
    expect(codes(startStep('tool: {kind: workbook}') + workbook)).toEqual(['WORKBOOK_NAME_MISSING'])
  })
})

describe('the answer', () => {
  it('tells text that is not YAML from YAML that is not a playbook', () => {
    expect(parsePlaybook('a: [1')).toMatchObject({ ok: false, kind: 'yaml', problems: [{ code: 'PARSE' }] })
    expect(parsePlaybook('just text')).toMatchObject({ ok: false, kind: 'invalid' })
    expect(parsePlaybook('')).toMatchObject({ ok: false, kind: 'invalid' })
    expect(parsePlaybook('[]')).toMatchObject({ ok: false, kind: 'invalid' })
  })

  it('names what a playbook must have', () => {
    expect(diagnostics('{}').map((each) => each.message.match(/has no '(\w+)'/)?.[1])).toEqual([
      'workflow',
      'apiVersion',
      'kind',
      'metadata',
    ])
    expect(codes(MINIMAL.replace('name: sample', 'path: x'))).toEqual(['PARSE'])
  })

  it('goes on checking a step that has no name', () => {
    expect(codes(workflow('- step: start\n- name: a\n  tool: {kind: nope}'))).toEqual(['PARSE', 'PARSE'])
    expect(find(workflow('- step: start\n- name: a'), 'PARSE').message).toContain(
      "write 'step' instead of 'name'",
    )
  })

  it('is printed as one line with place, severity and code', () => {
    const line = formatDiagnostic(find(workflow('- step: start\n  next: end'), 'NEXT_UNKNOWN'))
    expect(line).toMatch(/^6:11 error NEXT_UNKNOWN Step 'start': 'next' leads to 'end'/)
  })
})
