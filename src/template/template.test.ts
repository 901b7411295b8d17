import { describe, expect, test } from 'vitest'
import { errorOf, scopeOf, syntaxErrorOf, textOf, valueOf } from './evaluating.suite.ts'
import { compileCondition, compileTemplate, hasTemplateSyntax } from './template.ts'

describe('what counts as a template (rule 1)', () => {
  test.each([
    ['{{ a }}', true],
    ['{% if a %}x{% endif %}', true],
    ['x {{ a }} y', true],
    ['}} {{', true],
    ['plain', false],
    ['{{ open', false],
    ['close }}', false],
    ['{% open', false],
    ['{{ mixed %}', false],
    ['{# comment #}', false],
    ['', false],
  ])('%j: %s', (text, expected) => {
    expect(hasTemplateSyntax(text)).toBe(expected)
  })

  test.each(['007', '1e5', 'true', '', 'None', '{"a": 1}', '[1]', '{{ open', 'line\n'])(
    'text without template syntax stands for itself: %j',
    (text) => {
      const template = compileTemplate(text)
      expect(template.isExpression).toBe(false)
      expect(template.value(scopeOf())).toBe(text)
      expect(template.text(scopeOf())).toBe(text)
    },
  )
})

describe('typed rendering (rule 2)', () => {
  const data = {
    n: 5,
    f: 1.5,
    t: 'x',
    yes: true,
    nothing: null,
    list: [1, [null, false]],
    map: { b: 1, a: [] },
  }

  test.each([
    ['{{ n }}', 5],
    ['{{ f }}', 1.5],
    ['{{ t }}', 'x'],
    ['{{ yes }}', true],
    ['{{ nothing }}', null],
    ['{{ missing }}', null],
    ['{{ missing.deep.path }}', null],
    ['{{ map }}', { b: 1, a: [] }],
    ['  {{ n }}\n', 5],
    ['{{- n -}}', 5],
    ['{{ n }}0', '50'],
    ['{{ n }}{{ n }}', '55'],
    ['{# note #}{{ n }}', '5'],
    ['{% if yes %}{{ n }}{% endif %}', '5'],
    ['{{ map | tojson }}', '{"b":1,"a":[]}'],
    ["{{ '[1, 2]' | fromjson }}", [1, 2]],
    ["{{ '10' }}", '10'],
    ['{{ 4 / 2 }}', 2],
    ['{{ [4 / 2, 1] }}', [2, 1]],
    ['{{ [missing, nothing] }}', [null, null]],
    ['{{ {"k": missing, "f": 1.0} }}', { k: null, f: 1 }],
    ['{{ "{{ 7 * 7 }}" }}', '{{ 7 * 7 }}'],
  ])('%s', (source, expected) => {
    expect(compileTemplate(source).value(scopeOf(data))).toEqual(expected)
  })

  test('answers the very object from the scope, without copying', () => {
    expect(compileTemplate('{{ list }}').value(scopeOf(data))).toBe(data.list)
    expect(compileTemplate('{{ missing or map }}').value(scopeOf(data))).toBe(data.map)
    expect(valueOf('[map]', data)).toEqual([{ b: 1, a: [] }])
  })

  test('integers that a number cannot hold are text of digits, all of them kept', () => {
    expect(valueOf('id', { id: '123456789012345678' })).toBe('123456789012345678')
    expect(valueOf('id | int + 1', { id: '123456789012345678' })).toBe('123456789012345679')
    expect(valueOf('9007199254740993')).toBe('9007199254740993')
    expect(valueOf('[2 ** 64]')).toEqual(['18446744073709551616'])
    expect(textOf('id={{ 2 ** 64 - 1 }}')).toBe('id=18446744073709551615')
    expect(valueOf('2 ** 64 - 2 ** 64 + 1')).toBe(1)
  })
})

describe('text forms', () => {
  test.each([
    ['{{ true }} {{ false }} {{ none }}', 'True False None'],
    ['[{{ missing }}]', '[]'],
    ['{{ 3 }} {{ 3.0 }} {{ 4 / 2 }} {{ 7 / 2 }}', '3 3.0 2.0 3.5'],
    ['x{{ {"b": [1, none, true], "a": "é"} }}', 'x{"b":[1,null,true],"a":"é"}'],
    ['x{{ [4 / 2, missing, 2 ** 70] }}', 'x[2.0,null,"1180591620717411303424"]'],
    ['{{ 1e16 }} {{ -0.0 }} {{ 0.1 + 0.2 }}', '1e+16 -0.0 0.30000000000000004'],
    ['{{ [] }}{{ {} }}', '[]{}'],
  ])('%s', (source, expected) => {
    expect(textOf(source)).toBe(expected)
  })

  test('the text of a lone expression is its text form', () => {
    expect(textOf('{{ x }}', { x: null })).toBe('None')
    expect(textOf(' {{ x }}\n', { x: [1] })).toBe(' [1]')
  })
})

describe('conditions', () => {
  test.each([
    ['x > 3', { x: 4 }, true],
    ['x > 3', { x: 3 }, false],
    ['{{ a and b }}', { a: 1, b: 'req-1' }, true],
    ['missing', {}, false],
    ['x', { x: null }, false],
    ['x', { x: 0 }, false],
    ['0.0', {}, false],
    ['x', { x: [] }, false],
    ['x', { x: {} }, false],
    ['x', { x: [0] }, true],
    ['x', { x: 'yes' }, true],
    ['x', { x: 'nothing special' }, true],
    ...['False', 'no', 'off', '0', '[]', '{}', ' None ', 'NULL', '', '  '].map(
      (x) => ['{{ x }}', { x }, false] as const,
    ),
    ['{{ a }}{{ b }}', { a: 'n', b: 'o' }, false],
    ['{% if a %}yes{% else %}no{% endif %}', { a: 1 }, true],
    ['{% if a %}yes{% else %}no{% endif %}', { a: 0 }, false],
  ] as const)('%s with %j: %s', (source, data, expected) => {
    expect(compileCondition(source).test(scopeOf(data))).toBe(expected)
  })

  test('a bare condition has the source and the places of what was written', () => {
    const condition = compileCondition('a.b > 3')
    expect(condition.source).toBe('a.b > 3')
    expect(condition.isExpression).toBe(true)
    expect(condition.paths).toEqual([['a', 'b']])
    expect(() => compileCondition('a + * b')).toThrow(
      expect.objectContaining({ line: 1, column: 5, offset: 4 }),
    )
    expect(() => compileCondition('')).toThrow('expected a value')
  })

  test('a plain text template is a condition too', () => {
    expect(compileTemplate('false').test(scopeOf())).toBe(false)
    expect(compileTemplate('anything').test(scopeOf())).toBe(true)
  })
})

describe('what a template reads', () => {
  test.each([
    [
      '{{ ctx.page + workload["n"].m }}',
      [
        ['ctx', 'page'],
        ['workload', 'n', 'm'],
      ],
    ],
    ['{{ rows[0].name }}', [['rows']]],
    ['{{ a[b.c].d }}', [['a'], ['b', 'c']]],
    ['{{ a.items() }} {{ a.b.get("x") }}', [['a'], ['a', 'b']]],
    ['{{ a | default(b.c) }} {{ d is in e }}', [['a'], ['b', 'c'], ['d'], ['e']]],
    ['{{ a }}{{ a }}', [['a']]],
    [
      '{% for r in x.rows %}{{ r.a }}{{ loop.index }}{{ y }}{% endfor %}{{ r }}',
      [['x', 'rows'], ['y'], ['r']],
    ],
    ['{% for r in xs if r.ok and z %}{% else %}{{ r }}{% endfor %}', [['xs'], ['z'], ['r']]],
    ['{% set v = a.b %}{{ v.c }}', [['a', 'b']]],
    ['{% set v = v %}{{ v }}', [['v']]],
    ['{% if a %}{% set v = 1 %}{% endif %}{{ v }}', [['a'], ['v']]],
    ['{% if a %}{% set v = 1 %}{% else %}{% set v = 2 %}{% endif %}{{ v }}', [['a']]],
    ['{% with w = q, u = w.x %}{{ w }}{{ u }}{% endwith %}{{ u }}', [['q'], ['u']]],
    ['{% filter replace(o, "x") %}{{ i }}{% endfilter %}', [['i'], ['o']]],
    ['{{ range(n) }} {{ now() }} {{ loop.index }}', [['n'], ['loop', 'index']]],
    ['{% raw %}{{ a }}{% endraw %}{# {{ b }} #}', []],
    ['{% set t %}{{ a }}{% endset %}{% do b %}{% set ns.x = c %}{{ t }}', [['a'], ['b'], ['c']]],
    [
      '{{ [a, {b: c}] }}{{ -d }}{{ not e }}{{ f if g else h }}{{ i[j:k] }}',
      'abcdefghijk'.split('').map((name) => [name]),
    ],
  ])('%s', (source, paths) => {
    const template = compileTemplate(source)
    expect([...template.paths].map(String).toSorted()).toEqual(paths.map(String).toSorted())
    expect([...template.roots].map(String).toSorted()).toEqual(
      [...new Set(paths.map((path) => String(path[0])))].toSorted(),
    )
  })

  test('asks the scope only for the names it needs (rule 4)', () => {
    const asked: string[] = []
    const scope = { lookup: (name: string) => void asked.push(name) }
    compileTemplate('{{ a.b or c }}{% set d = 1 %}{{ d }}').text(scope)
    expect(asked).toEqual(['a', 'c'])
  })
})

describe('errors (rule 5)', () => {
  test.each([
    ['{{ a + }}', 'expected a value, found }}', 1, 8],
    ['line\n  {{ a b }}', "unexpected 'b'", 2, 8],
    ['{{ a | uper }}', "unknown filter 'uper' (did you mean 'upper'?)", 1, 8],
    ['{{ a is definde }}', "unknown test 'definde' (did you mean 'defined'?)", 1, 9],
    ['{{ rnage(3) }}', "unknown function 'rnage' (did you mean 'range'?)", 1, 4],
    ['{{ a.splitt() }}', "unknown method 'splitt' (did you mean 'split'?)", 1, 6],
    ['{% fro a in b %}{% endfor %}', "unknown statement 'fro' (did you mean 'for'?)", 1, 4],
    ['{% include "x" %}', "statement 'include' is not available", 1, 4],
    ["{{ 'a }}", 'text is not closed', 1, 4],
    ['{% if a %}x', "'if' is never closed, expected 'endif'", 1, 4],
    ['{% endif %}', "unexpected 'endif'", 1, 4],
    ['{{ (a] }}', "unexpected ']', expected ')'", 1, 6],
    ['{{ a.1b }}', "unexpected 'b'", 1, 7],
    ['{{ a ? b }}', 'unexpected character "?"', 1, 6],
    ['{{ a(1)(2) }}', 'only functions and methods can be called', 1, 8],
    ['{{ a | replace("x") }}', "filter 'replace' needs the argument 'new'", 1, 8],
    ['{{ a | upper(1) }}', "filter 'upper' takes no arguments", 1, 8],
    ['{{ a | sort(revers=true) }}', "filter 'sort' has no argument 'revers' (did you mean 'reverse'?)", 1, 8],
    ['{{ a | map("uper") }}', "unknown filter 'uper' (did you mean 'upper'?)", 1, 12],
    ['{{ a | selectattr("x", "eqq", 1) }}', "unknown test 'eqq' (did you mean 'eq'?)", 1, 24],
    ['{{ a | round(1, precision=2) }}', "argument 'precision' of filter 'round' is given twice", 1, 8],
    ['{{ f(a=1, 2) }}', 'an argument without a name cannot follow one with a name', 1, 11],
    ['{% break %}{{ a }}', "'break' outside of a for loop", 1, 4],
    ['{% for a in b recursive %}{% endfor %}', "'recursive' loops are not available", 1, 15],
    ['{{ }}', 'expected a value, found }}', 1, 4],
    ['{% %}', 'expected a statement, found %}', 1, 4],
    ['{{ a }}{# open', '{# is never closed', 1, 8],
    ['{% raw %}{{ a }}', 'raw is never closed', 1, 1],
    ['}} {{', '{{ is never closed', 1, 4],
  ])('%j cannot be compiled', (source, message, line, column) => {
    const problem = syntaxErrorOf(source)
    expect(problem.message).toContain(message)
    expect([problem.line, problem.column]).toEqual([line, column])
  })

  test('a part that is never closed is an error when another part makes the text a template', () => {
    expect(syntaxErrorOf('{{ a }} {{ b')).toMatchObject({ message: '{{ is never closed', column: 9 })
    expect(syntaxErrorOf("{{ a }} {{ 'b }}")).toMatchObject({ message: 'text is not closed', column: 12 })
    expect(syntaxErrorOf('{{ a }} {% if b')).toMatchObject({ message: '{% is never closed', column: 9 })
  })

  test.each([
    ['{{ a + 1 }}', 'cannot use + on undefined and number in {{ a + 1 }} (line 1, column 6)'],
    ['x\ny {{ 1 / 0 }}', 'division by zero in {{ 1 / 0 }} (line 2, column 8)'],
    ["{{ 'a' + 1 }}", "use ~ to join texts in {{ 'a' + 1 }}"],
    ['{% for x in 5 %}{% endfor %}', 'cannot iterate over a number in {% for x in 5 %} (line 1, column 4)'],
    ["{{ 'x' | fromjson }}", "in {{ 'x' | fromjson }} (line 1, column 10)"],
    ['{{ 5 .lower() }}', "a number has no method 'lower'"],
    ["{{ 'abc'.items() }}", "a text has no method 'items'"],
    ['{{ 5 | items }}', 'items needs a mapping, found number'],
    ['{% for a, b in [[1, 2, 3]] %}{% endfor %}', 'cannot unpack 3 values into 2 names'],
    ['{% set x = 1 %}{% set x.y = 2 %}', "'x' is not a namespace"],
    ['{{ [1].index(2) }}', 'index: the list does not contain it'],
  ])('%j cannot be rendered', (source, message) => {
    expect(errorOf(source).message).toContain(message)
  })

  test('a runtime error carries reason, expression and place as fields', () => {
    expect(errorOf('a\n {{ 1 // 0 }}')).toMatchObject({
      reason: 'division by zero',
      expression: '{{ 1 // 0 }}',
      line: 2,
      column: 7,
      offset: 8,
    })
  })

  test('errors of the scope pass through as they are', () => {
    const problem = new Error('alias is not known')
    const scope = {
      lookup: () => {
        throw problem
      },
    }
    expect(() => compileTemplate('{{ keychain.x }}').value(scope)).toThrow(problem)
  })
})

test('the same source gives the same template', () => {
  expect(compileTemplate('{{ same }}')).toBe(compileTemplate('{{ same }}'))
  expect(compileCondition('same')).toBe(compileCondition('same'))
  expect(compileCondition('{{ same }}')).toBe(compileTemplate('{{ same }}'))
})
