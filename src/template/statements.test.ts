import { describe, expect, test } from 'vitest'
import { errorOf, syntaxErrorOf, textOf } from './evaluating.suite.ts'

const data = {
  n: 5,
  y: 'outer',
  rows: [
    { a: 1, g: 'x' },
    { a: 3, g: 'y' },
    { a: 2, g: 'x' },
  ],
}

const table = (cases: readonly (readonly [string, string])[]): void => {
  test.each(cases)('%j', (source, expected) => {
    expect(textOf(source, data)).toBe(expected)
  })
}

describe('white space', () => {
  table([
    ['{{ n }}\n', '5'],
    ['{{ n }}\r\n', '5'],
    ['{{ n }}\n\n', '5\n'],
    ['a {{- n -}} b', 'a5b'],
    ['a \n{%- if n -%}\n x {%- endif -%} \n b', 'axb'],
    ['a {#- note -#} b{{ n }}', 'ab5'],
    ['{%+ if n %}a{% endif +%}\nb', 'a\nb'],
    ['{%if n%}x{%endif%}', 'x'],
    ['{{ n\n }}', '5'],
  ])
})

describe('text around marks', () => {
  table([
    ['{{ "}}" }}', '}}'],
    ["{{ '{%' }}", '{%'],
    ['{{ {"a": {"b": 1}}.a.b }}', '1'],
    ['}} {{ n }} }}', '}} 5 }}'],
    ['{ {{ n }} }', '{ 5 }'],
    ['{# {{ x }} {% if %} #}{{ n }}', '5'],
    ['{% raw %}{{ x }} {% if %} {# #}{% endraw %}', '{{ x }} {% if %} {# #}'],
    ['a {%- raw -%} {{ x }} {%- endraw -%} b', 'a{{ x }}b'],
  ])
})

describe('if', () => {
  const source = '{% if n > 7 %}a{% elif n > 3 %}b{% elif n > 1 %}c{% else %}d{% endif %}'
  test.each([
    [8, 'a'],
    [5, 'b'],
    [2, 'c'],
    [0, 'd'],
  ])('takes the first branch that holds: %s', (n, expected) => {
    expect(textOf(source, { n })).toBe(expected)
  })
  table([
    ['{% if missing %}x{% endif %}', ''],
    ['{% if true %}{% set y = 2 %}{% endif %}{{ y }}', '2'],
    ['{% if false %}{% set y = 2 %}{% endif %}{{ y }}', 'outer'],
  ])
})

describe('for', () => {
  table([
    ['{% for r in rows %}{{ r.a }}{% if not loop.last %}, {% endif %}{% endfor %}', '1, 3, 2'],
    [
      '{% for r in rows %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }};{% endfor %}',
      '1032TrueFalse3;2121FalseFalse3;3210FalseTrue3;',
    ],
    [
      '{% for r in rows if r.a > 1 %}{{ loop.index }}:{{ r.a }}{{ "," if not loop.last }}{% endfor %}',
      '1:3,2:2',
    ],
    ['{% for r in missing %}x{% else %}none{% endfor %}', 'none'],
    ['{% for r in none %}x{% else %}none{% endfor %}', 'none'],
    ['{% for r in rows if r.a > 9 %}x{% else %}none{% endfor %}', 'none'],
    ['{% for k, v in {"a": 1, "b": 2}.items() %}{{ k }}={{ v }};{% endfor %}', 'a=1;b=2;'],
    ['{% for (a, b) in [[1, 2]] %}{{ a + b }}{% endfor %}', '3'],
    ['{% for c in "a😀" %}{{ c }}.{% endfor %}', 'a.😀.'],
    ['{% for k in {"b": 1, "a": 2} %}{{ k }}{% endfor %}', 'ba'],
    ['{% for y in [1] %}{{ y }}{% endfor %}{{ y }}', '1outer'],
    [
      '{% for r in rows %}{% for q in rows %}{{ loop.index }}{% endfor %}{{ loop.index }};{% endfor %}',
      '1231;1232;1233;',
    ],
    [
      '{% for r in rows %}{{ loop.previtem.a }}<{{ r.a }}>{{ loop.nextitem.a }} {% endfor %}',
      '<1>3 1<3>2 3<2> ',
    ],
    ['{% for r in rows %}{{ loop.cycle("a", "b") }}{% endfor %}', 'aba'],
    ['{% for r in rows | sort(attribute="g") %}{{ loop.changed(r.g) }}{% endfor %}', 'TrueFalseTrue'],
    [
      '{% for r in [1] %}{{ loop.depth }}{{ loop.depth0 }}{{ loop.nope }}{{ loop | length }}{% endfor %}',
      '107',
    ],
    [
      '{% for i in range(5) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 3 %}{% break %}{% endif %}{{ i }}{% endfor %}',
      '02',
    ],
    ['{% for g, l in rows | groupby("g") %}{{ g }}{{ l | length }};{% endfor %}', 'x2;y1;'],
    ['{% for g in rows | groupby("g") %}{{ g.grouper }}{{ g.list | length }};{% endfor %}', 'x2;y1;'],
  ])
})

describe('set, with, filter, do', () => {
  table([
    ['{% set x = 1 %}{{ x }}', '1'],
    ['{% set x, z = 1, 2 %}{{ x }}{{ z }}', '12'],
    ['{% set x %}a{{ n }}b{% endset %}[{{ x }}]', '[a5b]'],
    ['{% set x | upper | replace("A", "_") %}a{{ n }}b{% endset %}[{{ x }}]', '[_5B]'],
    ['{% set x = 0 %}{% for i in range(3) %}{% set x = x + 1 %}{% endfor %}{{ x }}', '0'],
    [
      '{% set ns = namespace(x=0) %}{% for i in range(4) %}{% set ns.x = ns.x + i %}{% endfor %}{{ ns.x }}',
      '6',
    ],
    ['{% with x = 1, z = x + 1 %}{{ x }}{{ z }}{% endwith %}[{{ x }}]', '12[]'],
    ['{% with %}{% set q = 3 %}{{ q }}{% endwith %}[{{ q }}]', '3[]'],
    ['{% filter upper %}abc{{ n }}{% endfilter %}', 'ABC5'],
    ['{% filter replace("a", "b") | upper %}aac{% endfilter %}', 'BBC'],
    ['{% for i in [1, 2] %}{% filter upper %}a{% break %}{% endfilter %}{% endfor %}', 'A'],
    ['{% do [1] %}x', 'x'],
    ['{% set d = {"k": 1} %}{{ d.k }}{{ d["k"] }}{{ d.get("z", 5) }}', '115'],
  ])
  test.each([
    '{% set a, b %}x{% endset %}{{ a }}',
    '{% set x = 1 2 %}',
    '{% set x y %}{% endset %}',
    '{% for in x %}{% endfor %}',
    '{% for x of y %}{% endfor %}',
    '{% if a %}{% else %}{% else %}{% endif %}',
    '{% with x %}{% endwith %}',
    '{% endfor x %}{{ a }}',
    '{% if a %}{% endif b %}',
  ])('%j is a syntax error', (source) => {
    expect(syntaxErrorOf(source).message).not.toBe('')
  })
  test('only a namespace of the template takes attributes', () => {
    expect(errorOf('{% set rows.x = 1 %}', data).reason).toBe("'rows' is not a namespace")
  })
})

test('builds a VALUES list of a thousand rows', () => {
  const rows = Array.from({ length: 1000 }, (_, id) => ({ id, name: `n${id}` }))
  const source = "{% for r in rows %}({{ r.id }}, '{{ r.name }}'){{ ', ' if not loop.last }}{% endfor %}"
  expect(textOf(source, { rows })).toBe(rows.map((row) => `(${row.id}, '${row.name}')`).join(', '))
})
