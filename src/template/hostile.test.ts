import { describe, expect, test } from 'vitest'
import { workedMs } from '../../test/support/worked-ms.ts'
import type { Json } from '../contract/json.ts'
import { errorOf, scopeOf, syntaxErrorOf, textOf, valueOf } from './evaluating.suite.ts'
import { compileCondition, compileTemplate, TemplateError, TemplateSyntaxError } from './template.ts'

describe('nothing but own enumerable data can be reached', () => {
  const hidden = Object.defineProperty({ open: 1 }, 'secret', { value: 2, enumerable: false })
  const data = {
    map: { a: 1 },
    list: [1],
    text: 'abc',
    number: 5,
    hidden,
    action: () => 'called',
    host: { run: () => 'called', mark: Symbol('x'), value: 1 },
    instance: new (class Service {
      value = 1
      act(): string {
        return 'called'
      }
      get token(): string {
        return 'secret'
      }
    })(),
  }
  test.each([
    ...[
      '__proto__',
      'constructor',
      'prototype',
      'toString',
      'valueOf',
      'hasOwnProperty',
      '__defineGetter__',
    ].flatMap((name) => [
      `map.${name}`,
      `map["${name}"]`,
      `list.${name}`,
      `text.${name}`,
      `number.${name}`,
      `missing.${name}`,
      `map | attr("${name}")`,
      `[map] | map(attribute="${name}.${name}") | first`,
    ]),
    'map.constructor.constructor',
    'list.length',
    'list.map',
    'text.length',
    'hidden.secret',
    'action',
    'host.run',
    'host.mark',
    'instance.act',
    'instance.token',
    '(4 / 2).constructor',
    'range(3).length',
    'namespace().constructor',
    'dict().__proto__',
  ])('%s is undefined', (expression) => {
    expect(valueOf(`(${expression}) is undefined`, data)).toBe(true)
  })

  test.each([
    'map.constructor("x")',
    'text.constructor.constructor("return 1")()',
    'text.at(0)',
    'map.hasOwnProperty("a")',
    'action()',
    'list.push(1)',
    'text.repeat(9)',
  ])('%s cannot be called', (expression) => {
    expect(syntaxErrorOf(`{{ ${expression} }}`).message).toMatch(/unknown (method|function)|can be called/)
  })

  test('writing special names touches no prototype', () => {
    const before = Object.getOwnPropertyNames(Object.prototype).length
    expect(valueOf('{"__proto__": {"polluted": 1}}.polluted is undefined')).toBe(true)
    expect(valueOf('dict(__proto__=1)')).toEqual(JSON.parse('{"__proto__": 1}'))
    expect(
      textOf(
        '{% set ns = namespace() %}{% set ns.__proto__ = {"polluted": 1} %}{{ ns.polluted is undefined }}',
      ),
    ).toBe('True')
    expect(valueOf(`'{"__proto__": {"polluted": 1}}' | fromjson | get("polluted") is undefined`)).toBe(true)
    expect(Object.getOwnPropertyNames(Object.prototype).length).toBe(before)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  test('templates do not change what they read', () => {
    const frozen = { rows: Object.freeze([3, 1, 2]), map: Object.freeze({ a: Object.freeze([1]) }) }
    textOf(
      '{{ rows | sort }}{{ rows | reverse }}{{ rows | batch(2, 0) }}{{ rows + [4] }}{{ map | dictsort }}',
      frozen,
    )
    expect(frozen.rows).toEqual([3, 1, 2])
  })
})

describe('costs are bounded', () => {
  const big = 'a'.repeat(1_000_000)
  const wide = Array.from({ length: 100_000 }, (_, index) => index)
  test.each([
    '{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}',
    '{{ range(999999999999) }}',
    '{{ range(0, -999999999999, -1) | length }}',
    '{{ "a" * 999999999 }}',
    '{{ [0] * 99999999 }}',
    '{{ ("a" * 1000000) * 1000000 }}',
    '{{ 2 ** 99999999 }}',
    '{{ 2 ** 2 ** 2 ** 2 ** 2 ** 2 ** 2 ** 2 ** 2 ** 2 ** 2 ** 2 ** 2 ** 2 }}',
    '{{ (10 ** 1000) ** 1000 }}',
    '{{ "x" | center(999999999) }}',
    '{{ "x" | indent(5) | center(99999999) | length }}',
    '{{ big | replace("a", big) }}',
    '{{ big | replace("", big) }}',
    '{{ big | list | join(big) }}',
    '{{ wide | map("string") | join(big) }}',
    '{{ [1] | batch(99999999999, 0) }}',
    '{{ [1] | slice(99999999999) }}',
    '{{ "%0999999999d" % 1 }}',
    '{{ "{:>9999999999}".format(1) }}',
    '{% set ns = namespace(t="ab") %}{% for i in range(60) %}{% set ns.t = ns.t ~ ns.t %}{% endfor %}',
    '{% set ns = namespace(t=[1]) %}{% for i in range(60) %}{% set ns.t = ns.t + ns.t %}{% endfor %}',
    '{% set ns = namespace(t=[1]) %}{% for i in range(60) %}{% set ns.t = [ns.t, ns.t] %}{% endfor %}{{ ns.t }}',
    '{% set ns = namespace(t=[1]) %}{% for i in range(60) %}{% set ns.t = [ns.t, ns.t] %}{% endfor %}{{ ns.t | tojson(2) | length }}',
    '{% set a = namespace(t=[1]) %}{% set b = namespace(t=[1]) %}{% for i in range(60) %}{% set a.t = [a.t, a.t] %}{% set b.t = [b.t, b.t] %}{% endfor %}{{ a.t == b.t }}',
    '{% set a = namespace(t=[1]) %}{% set b = namespace(t=[1]) %}{% for i in range(60) %}{% set a.t = [a.t, a.t] %}{% set b.t = [b.t, b.t] %}{% endfor %}{{ a.t < b.t }}',
    '{% set ns = namespace(t=1.0) %}{% for i in range(60) %}{% set ns.t = [ns.t, ns.t] %}{% endfor %}{{ ns.t }}',
    '{% set ns = namespace() %}{% set ns.me = ns %}{{ ns }}',
    '{% set ns = namespace() %}{% set ns.me = [ns] %}{{ ns == ns.me[0].me[0] and ns.me == [[ns]] }}{{ ns | tojson }}',
    '{% for i in range(200000) %}{{ big | upper | length }}{% endfor %}',
    '{% for i in range(200000) %}{{ 5 in wide }}{{ -1 in wide }}{% endfor %}',
    '{% for i in range(200000) %}{{ wide == wide | list }}{% endfor %}',
    '{% for i in range(900000) %}{{ "some text that is written again and again" }}{% endfor %}',
    '{% for i in range(200000) %}{{ wide | sort | first }}{% endfor %}',
    '{{ wide | map("batch", 1) }}',
    '{{ (big ~ "b") * 2 in big * 16 }}',
    '{{ wide | map("list") | list }}',
    '{{ wide | map("tojson", indent=big) }}',
    '{{ wide | zip(wide, wide, wide, wide, wide, wide, wide, wide, wide, wide) }}',
  ])('%s ends with an error, soon', (source) => {
    const started = workedMs()
    expect(errorOf(source, { big, wide }).reason).not.toBe('')
    expect(workedMs() - started).toBeLessThan(5000)
  })

  test.each([
    ['many words in a loop body', `{% for i in range(100000) %}${'{{ 1 + 1 }}'.repeat(1000)}{% endfor %}`],
    ['output', `{% for i in range(100000) %}${'x'.repeat(1000)}{% endfor %}`],
  ])('%s', (_what, source) => {
    expect(errorOf(source).reason).toMatch(/operations|output is longer/)
  })

  test('ordinary work on large data is well within the bounds', () => {
    const rows = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `name ${id}`, ok: id % 2 === 0 }))
    expect(
      valueOf('rows | selectattr("ok") | sort(attribute="name") | map(attribute="id") | list | length', {
        rows,
      }),
    ).toBe(10_000)
    expect(valueOf('rows | tojson | fromjson | length', { rows })).toBe(20_000)
    expect(valueOf('big | replace("a", "bb") | length', { big })).toBe(2_000_000)
    expect(
      textOf('{% for r in rows %}({{ r.id }}, {{ r.name | upper }}){% endfor %}', { rows }).length,
    ).toBeGreaterThan(300_000)
  })
})

describe('nesting is bounded', () => {
  const many = 20_000
  test.each([
    ['parentheses', `{{ ${'('.repeat(many)}1${')'.repeat(many)} }}`],
    ['lists', `{{ ${'['.repeat(many)}${']'.repeat(many)} }}`],
    ['mappings', `{{ ${'{"a":'.repeat(many)}1${'}'.repeat(many)} }}`],
    ['signs', `{{ ${'-'.repeat(many)} 1 }}`],
    ['not', `{{ ${'not '.repeat(many)} 1 }}`],
    ['sums', `{{ ${'1 + '.repeat(many)} 1 }}`],
    ['powers', `{{ ${'1 ** '.repeat(many)} 1 }}`],
    ['members', `{{ a${'.b'.repeat(many)} }}`],
    ['items', `{{ a${'[0]'.repeat(many)} }}`],
    ['item keys', `{{ ${'a['.repeat(many)}0${']'.repeat(many)} }}`],
    ['filters', `{{ a${' | upper'.repeat(many)} }}`],
    ['tests', `{{ a${' is defined'.repeat(many)} }}`],
    ['methods', `{{ a${'.lower()'.repeat(many)} }}`],
    ['calls', `{{ ${'dict('.repeat(many)}${')'.repeat(many)} }}`],
    ['conditionals', `{{ ${'1 if 0 else '.repeat(many)} 1 }}`],
    ['open parentheses', `{{ ${'('.repeat(many)} }}`],
    ['statements', `${'{% if 1 %}'.repeat(many)}${'{% endif %}'.repeat(many)}`],
    ['loops', `${'{% for a in b %}'.repeat(many)}${'{% endfor %}'.repeat(many)}`],
  ])('of %s', (_what, source) => {
    expect(syntaxErrorOf(source).message).toMatch(/nested deeper|chain of more|expected|unexpected/)
  })

  test('long flat expressions are fine', () => {
    expect(valueOf(`${'1 and '.repeat(5000)} 2`)).toBe(2)
    expect(valueOf(`(${'"a" ~ '.repeat(5000)} "b") | length`)).toBe(5001)
    expect(valueOf(`[${'1, '.repeat(5000)}] | length`)).toBe(5000)
    expect(textOf('{% if 0 %}{% endif %}{{ 1 }}'.repeat(2000)).length).toBe(2000)
    expect(textOf(`{% if 0 %}${'{% elif 0 %}'.repeat(2000)}{% else %}x{% endif %}`)).toBe('x')
    expect(valueOf(`1${' < 2'.repeat(2)}`)).toBe(false)
  })

  test('of data', () => {
    let deep: Json = 1
    let same: Json = 1
    for (let level = 0; level < 20_000; level += 1) {
      deep = [deep]
      same = [same]
    }
    const data = { deep, same }
    for (const expression of [
      'deep == same',
      'deep < same',
      'deep | tojson',
      '[deep, 1.0] | tojson',
      '[deep]',
      'deep ~ ""',
    ]) {
      expect(errorOf(`{{ ${expression} }}`, data).reason).toContain('nested')
    }
    expect(compileTemplate('{{ deep }}').value(scopeOf(data))).toBe(deep)
  })

  test('hosts that recurse without end give an error', () => {
    const endless = (name: string): unknown => compileTemplate(`{{ ${name} }}`).value({ lookup: endless })
    expect(() => endless('a')).toThrow(TemplateError)
  })
})

describe('no pattern takes more than linear time', () => {
  const spaces = ' '.repeat(200_000)
  test.each([
    ['white space before a mark', `a${spaces}{{ 1 }}`],
    ['white space after a mark', `{{- 1 -}}${spaces}x`],
    ['unclosed marks', `{{ 1 }}${'{'.repeat(200_000)}`],
    ['digits', `{{ ${'1'.repeat(3000)}x }}`],
    ['fractions', `{{ "${'1'.repeat(200_000)}x" | float }}`],
    ['backslashes', `{{ "${'\\\\'.repeat(100_000)}" | length }}`],
    ['raw without end', `{% raw %}${'{% endraw '.repeat(50_000)}`],
    ['words to split', `{{ "${spaces}".split() }}`],
    ['words to trim', `{{ "x${spaces}x" | trim | length }}`],
    ['format', `{{ "${'{'.repeat(100_000)}".format() | length }}`],
    ['percent', `{{ "%${'-'.repeat(100_000)}" | length }}`],
  ])('%s', (_what, source) => {
    const started = workedMs()
    try {
      compileTemplate(source).text(scopeOf())
    } catch (problem) {
      expect(problem instanceof TemplateSyntaxError || problem instanceof TemplateError).toBe(true)
    }
    expect(workedMs() - started).toBeLessThan(2000)
  })
})

/** A small generator of numbers that are always the same (mulberry32). */
const createRandom = (seed: number): ((below: number) => number) => {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

const WORDS =
  `{{ }} {% %} {# #} {{- -}} {%- -%} ( ) [ ] { } . , : | ~ + - * / // % ** == != < <= > >= = ' " \\ \n a b n rows text map nothing missing 0 1 2.5 1e3 9007199254740993 'x' "y" true none and or not in is if else elif endif for endfor set endset with endwith filter endfilter raw endraw break continue do loop defined none odd divisibleby upper int default join map select sort tojson fromjson length replace split first groupby round batch items range dict namespace get keys __proto__ constructor é 😀`.split(
    /[ ]/,
  )

describe('random text', () => {
  const data = {
    a: 1,
    b: 'x',
    n: 5,
    rows: [{ a: 1 }, { a: null }],
    text: 'héllo',
    map: { k: [1, 2] },
    nothing: null,
  }
  const scope = scopeOf(data)
  const survive = (source: string): void => {
    for (const compile of [compileTemplate, compileCondition]) {
      try {
        const template = compile(source)
        template.text(scope)
        template.test(scope)
        JSON.stringify(template.value(scope))
      } catch (problem) {
        if (problem instanceof TemplateSyntaxError || problem instanceof TemplateError) continue
        throw new Error(`crashed on ${JSON.stringify(source)}`, { cause: problem })
      }
    }
  }

  test('of words gives only template errors', () => {
    const random = createRandom(20261115)
    for (let round = 0; round < 4_000; round += 1) {
      const words = Array.from({ length: 1 + random(12) }, () => WORDS[random(WORDS.length)])
      survive(random(2) === 0 ? words.join(' ') : `{{ ${words.join(random(3) === 0 ? '' : ' ')} }}`)
    }
  })

  test('of characters gives only template errors', () => {
    const random = createRandom(7)
    const letters = '{}%#-"\'\\ab1.()[]|=<>~+*/,:\n\u0000é\ud83d'
    for (let round = 0; round < 4_000; round += 1) {
      const text = Array.from({ length: random(20) }, () => letters.charAt(random(letters.length))).join('')
      survive(random(2) === 0 ? text : `{{${text}}}`)
    }
  })

  test('made of broken templates gives only template errors', () => {
    const random = createRandom(42)
    const sources = [
      '{% for r in rows if r.a %}{{ loop.index }}: {{ r.a | default("x") ~ text[1:3] }}{% else %}none{% endfor %}',
      '{{ rows | map(attribute="a") | select("defined") | list | tojson(indent=2) }}',
      '{% set ns = namespace(x=0) %}{% set ns.x = ns.x + n %}{{ ns.x if ns.x is odd else -ns.x ** 2 }}',
      '{{ "{:>5}|{}".format(n, text) }}{{ map.k[-1] in [1, 2, 3] and not nothing }}',
    ]
    for (let round = 0; round < 4_000; round += 1) {
      let source = sources[random(sources.length)] ?? ''
      for (let change = 0; change <= random(3); change += 1) {
        const at = random(source.length)
        const word = random(2) === 0 ? '' : (WORDS[random(WORDS.length)] ?? '')
        source = source.slice(0, at) + word + source.slice(at + random(4))
      }
      survive(source)
    }
  })
})
