import { describe, expect, test } from 'vitest'
import type { Json } from '../contract/json.ts'
import { scopeOf } from './evaluating.suite.ts'
import { collectTemplates, renderValue } from './render.ts'

const data = { n: 5, name: 'x', list: [1, null], nothing: null, code: '{{ 7 * 7 }}' }
const scope = scopeOf(data)

describe('renderValue', () => {
  test('renders every text in its own type and keeps the order (rule 1)', () => {
    const config = {
      url: 'https://host/{{ name }}',
      page: '{{ n }}',
      'key-{{ name }}': ['{{ list }}', { deep: '{{ missing }}' }],
      zeros: '007',
      flag: true,
      nothing: null,
    }
    const rendered = renderValue(config, scope)
    expect(rendered).toEqual({
      url: 'https://host/x',
      page: 5,
      'key-x': [[1, null], { deep: null }],
      zeros: '007',
      flag: true,
      nothing: null,
    })
    expect(Object.keys(rendered as object)).toEqual(['url', 'page', 'key-x', 'zeros', 'flag', 'nothing'])
  })

  test('a structure without templates is the same object (rule 2)', () => {
    const config = { a: [1, 'x', { b: null }], c: '{{ open' }
    expect(renderValue(config, scope)).toBe(config)
    expect(renderValue(config, scope)).toBe(config)
    expect(renderValue('text', scope)).toBe('text')
    expect(renderValue(null, scope)).toBe(null)
    expect(renderValue(5, scope)).toBe(5)
  })

  test('parts without templates are the same objects (rule 2)', () => {
    const fixed = { a: 1 }
    const rendered = renderValue({ fixed, list: [fixed, '{{ n }}'] }, scope) as { fixed: Json; list: Json[] }
    expect(rendered.fixed).toBe(fixed)
    expect(rendered.list[0]).toBe(fixed)
    expect(rendered.list[1]).toBe(5)
  })

  test('renders the same structure again with other values (rule 3)', () => {
    const config = { v: '{{ n }}' }
    expect(renderValue(config, scope)).toEqual({ v: 5 })
    expect(renderValue(config, scopeOf({ n: 6 }))).toEqual({ v: 6 })
  })

  test('data that looks like a template arrives literally (rule 4)', () => {
    expect(renderValue({ v: '{{ code }}', w: 'x {{ code }}' }, scope)).toEqual({
      v: '{{ 7 * 7 }}',
      w: 'x {{ 7 * 7 }}',
    })
  })

  test('a key named __proto__ stays an ordinary key', () => {
    const config = JSON.parse('{"__proto__": {"polluted": "{{ n }}"}, "{{ k }}": 1}') as Json
    const rendered = renderValue(config, scopeOf({ n: 5, k: '__proto__2' })) as Record<string, Json>
    expect(Object.keys(rendered)).toEqual(['__proto__', '__proto__2'])
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect(Object.getPrototypeOf(rendered)).toBe(Object.prototype)
  })

  test('too deep a structure is an error, not a crash', () => {
    let deep: Json = '{{ n }}'
    for (let level = 0; level < 5000; level += 1) deep = [deep]
    expect(() => renderValue(deep, scope)).toThrow('nested deeper')
  })
})

test('collectTemplates finds texts and keys with their paths', () => {
  const config = { a: '{{ x }}', b: ['plain', { 'k{{ y }}': '{% if z %}1{% endif %}' }], c: 5, d: null }
  expect(collectTemplates(config)).toEqual([
    { text: '{{ x }}', path: ['a'] },
    { text: 'k{{ y }}', path: ['b', 1, 'k{{ y }}'] },
    { text: '{% if z %}1{% endif %}', path: ['b', 1, 'k{{ y }}'] },
  ])
  expect(collectTemplates('{{ x }}')).toEqual([{ text: '{{ x }}', path: [] }])
  expect(collectTemplates(5)).toEqual([])
})
