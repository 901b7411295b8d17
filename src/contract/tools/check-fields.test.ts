import { describe, expect, it, test } from 'vitest'
import type { Json } from '../json.ts'
import { TOOL_DECLARATIONS } from './all.ts'
import { createConfigCheck, missingFields, typeWords, wrongValue } from './check-fields.ts'
import { fieldNamed, knownNames, LANGUAGE_NAMES, namesOf } from './tool-declaration.ts'
import type { FieldType, ToolDeclaration, ToolField } from './tool-declaration.ts'

const field = (type: ToolField['type'], over: Partial<ToolField> = {}): ToolField => ({
  title: 'X',
  type,
  description: 'An x.',
  ...over,
})

const declared = (over: Partial<ToolDeclaration>): ToolDeclaration => ({
  kind: 'sample',
  title: 'Sample',
  description: 'A sample.',
  fields: {},
  examples: [],
  ...over,
})

describe('types', () => {
  const cases: readonly [FieldType, readonly Json[], readonly Json[]][] = [
    ['any', [{}, [], 1, 'x', true], []],
    ['text', ['x', 1, false], [{}, []]],
    ['texts', ['x', 1, ['a', 2, null]], [{}, [{}]]],
    ['integer', [0, 5, '12', ' 3 '], [1.5, -1, 'five', true, {}, [1]]],
    ['number', [1.5, '-2e3', 0], ['x', true, {}]],
    ['flag', [true, false, 'yes', 'OFF', 1, '0'], [2, 'perhaps', {}, []]],
    ['duration', [5, 0.5, '30s', '1h30m', '250 ms'], ['soon', -1, true, []]],
    ['mapping', [{ a: 1 }], ['x', [], 1]],
    ['list', [[1]], ['x', {}, 1]],
  ]
  test.each(cases)('%s takes what fits it and refuses what does not', (type, good, bad) => {
    for (const value of good) expect(wrongValue('x', field(type), value), JSON.stringify(value)).toBeNull()
    for (const value of bad)
      expect(wrongValue('x', field(type), value), JSON.stringify(value)).toMatch(/^x must be /)
  })

  it('null, empty text and nothing pass everywhere (rule 1)', () => {
    for (const value of [null, '', undefined]) {
      for (const [type] of cases) expect(wrongValue('x', field(type), value)).toBeNull()
    }
  })

  it('several types are alternatives', () => {
    expect(wrongValue('x', field(['text', 'mapping']), {})).toBeNull()
    expect(wrongValue('x', field(['text', 'mapping']), [])).toBe('x must be text or a mapping, not a list')
  })

  it('words are taken in any case of letters, and others are refused with the list', () => {
    const mode = field('text', { words: ['append', 'replace'] })
    expect(wrongValue('mode', mode, 'Append')).toBeNull()
    expect(wrongValue('mode', mode, 'merge')).toBe('mode must be one of append, replace, not "merge"')
  })

  it('a message shows an example, and no more of the value than fits a line', () => {
    const port = field('integer', { least: 1, examples: [5432] })
    expect(wrongValue('port', port, 0)).toBe(
      'port must be a whole number from 1 on, not 0; for example port: 5432',
    )
    expect(wrongValue('port', port, 'x'.repeat(500))?.length).toBeLessThan(200)
    expect(wrongValue('url', field('text', { examples: ['https://x'] }), [])).toContain(
      'for example url: https://x',
    )
    expect(typeWords(port)).toBe('a whole number from 1 on')
  })
})

describe('a block', () => {
  const declaration = declared({
    fields: {
      url: field('text', { required: true, aliases: ['address'], older: ['endpoint'], also: ['uri'] }),
      query: field('texts'),
      script: field('mapping'),
    },
    oneOf: [{ fields: ['query', 'script'] }, { fields: ['query'], message: 'Nothing to run' }],
  })

  it('may use any spelling of a field', () => {
    const check = createConfigCheck(declaration)
    for (const name of ['url', 'address', 'endpoint', 'uri']) {
      expect(check({ [name]: 'x', query: 'y' })).toEqual([])
      expect(check({ [name]: [], query: 'y' })[0]).toMatch(new RegExp(`^${name} must be text`))
    }
  })

  it('names everything that is missing', () => {
    expect(createConfigCheck(declaration)({ url: '' })).toEqual([
      'a sample tool needs url',
      'a sample tool needs query or script',
      'Nothing to run',
    ])
    expect(missingFields(declared({ oneOf: [{ fields: ['nope'] }] }), () => true)).toEqual([
      'a sample tool needs nope',
    ])
    expect(missingFields(declared({ oneOf: [{ fields: [] }] }), () => true)).toEqual(['a sample tool needs '])
  })

  it('is checked for the fields of every kind too, and not for names it does not know', () => {
    const check = createConfigCheck(declared({}))
    expect(check({ timeout: 'soon' })[0]).toMatch(/^timeout must be seconds/)
    expect(check({ anything: [] })).toEqual([])
  })
})

describe('the declarations', () => {
  it('have one kind each', () => {
    const kinds = TOOL_DECLARATIONS.map(({ kind }) => kind)
    expect(new Set(kinds).size).toBe(kinds.length)
  })

  test.each(TOOL_DECLARATIONS.map((declaration) => [declaration.kind, declaration] as const))(
    '%s: names are unique, groups name fields, texts are sentences',
    (_, { fields, oneOf = [], description, examples, notes = [] }) => {
      const names = Object.entries(fields).flatMap(([name, each]) => namesOf(name, each))
      expect(new Set(names).size).toBe(names.length)
      for (const name of oneOf.flatMap((group) => group.fields)) expect(fields).toHaveProperty(name)
      const texts = [description, ...notes, ...Object.values(fields).map((each) => each.description)]
      for (const text of texts) expect(text).toMatch(/^\S.*[.:]$/s)
      expect(examples.length).toBeGreaterThan(0)
    },
  )

  test.each(TOOL_DECLARATIONS.map((declaration) => [declaration.kind, declaration] as const))(
    '%s: examples of fields fit them, and whole examples fit the declaration',
    (_, declaration) => {
      for (const [name, each] of Object.entries(declaration.fields)) {
        for (const example of each.examples ?? []) expect(wrongValue(name, each, example), name).toBeNull()
      }
      for (const example of declaration.examples) {
        const config = Object.fromEntries(
          Object.entries(example).filter(([name]) => !LANGUAGE_NAMES.includes(name)),
        )
        expect(createConfigCheck(declaration)(config)).toEqual([])
        const unknown = Object.keys(example).filter((name) => !knownNames(declaration).includes(name))
        expect(declaration.open === true ? [] : unknown).toEqual([])
      }
    },
  )

  it('find a field by each of its names', () => {
    const fields = { url: field('text', { aliases: ['address'] }) }
    expect(fieldNamed(fields, 'url')).toBe(fields.url)
    expect(fieldNamed(fields, 'address')).toBe(fields.url)
    expect(fieldNamed(fields, 'toString')).toBeNull()
  })
})
