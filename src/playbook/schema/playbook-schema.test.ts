import { readFileSync, readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isObject } from '../../contract/json.ts'
import type { Json, JsonObject } from '../../contract/json.ts'
import { TOOL_KINDS } from '../kinds.ts'
import { parsePlaybook } from '../parse.ts'
import { startStep } from '../snippets.suite.ts'
import { ACCEPTED, REFUSED } from './documents.suite.ts'
import { createJudge, createJudgement, dataOf } from './judge.suite.ts'
import { PLAYBOOK_SCHEMA } from './playbook-schema.ts'
import { schemaText } from './schema-text.ts'

const judgement = createJudgement()
const judge = (text: string): string | null => judgement(dataOf(text) ?? null)
const root = new URL('../../../', import.meta.url)

describe('the schema', () => {
  it('is a valid schema of draft 2020-12', () => {
    const ajv = createJudge()
    expect(PLAYBOOK_SCHEMA['$schema']).toBe('https://json-schema.org/draft/2020-12/schema')
    expect(ajv.validateSchema(PLAYBOOK_SCHEMA), ajv.errorsText()).toBe(true)
  })

  it('is what docs/playbook.schema.json says; `node scripts/playbook-schema.ts` writes it anew', () => {
    const written = readFileSync(new URL('docs/playbook.schema.json', root), 'utf8')
    expect(written).toBe(schemaText(PLAYBOOK_SCHEMA))
    expect(JSON.parse(written)).toEqual(PLAYBOOK_SCHEMA)
  })

  it.each(ACCEPTED)('1: accepts $name', ({ text }) => {
    expect(parsePlaybook(text)).toMatchObject({ ok: true })
    expect(judge(text)).toBeNull()
  })

  it.each(REFUSED)('refuses, as the parser does, $name', ({ text }) => {
    expect(parsePlaybook(text).ok).toBe(false)
    expect(judge(text)).not.toBeNull()
  })

  it('knows every tool kind and no other', () => {
    const accepted = [...TOOL_KINDS, 'javascript', 'HTTP', ''].filter(
      (kind) => judge(startStep(`tool: {kind: "${kind}", name: x}`)) === null,
    )
    expect(accepted).toEqual(TOOL_KINDS)
  })

  it('2: accepts unknown keys everywhere', () => {
    const text = startStep(
      'foo: 1\nspec: {foo: 1}\nnext: {foo: 1, arcs: [{step: b, foo: 1}]}\ntool: {kind: http, foo: 1}',
    )
    expect(judge(`${text}foo: 1\n`)).toBeNull()
  })
})

describe('the examples of the repository', () => {
  const files = readdirSync(new URL('examples/', root)).filter((name) => name.endsWith('.yaml'))

  it.each(files)('%s fits the schema', (name) => {
    expect(judge(readFileSync(new URL(`examples/${name}`, root), 'utf8'))).toBeNull()
  })
})

/** Visits every schema below a node, with its JSON pointer. */
const walk = (node: Json, pointer: string, visit: (schema: JsonObject, pointer: string) => void): void => {
  if (Array.isArray(node))
    return node.forEach((item: Json, index) => walk(item, `${pointer}/${index}`, visit))
  if (!isObject(node)) return undefined
  visit(node, pointer)
  for (const [key, value] of Object.entries(node)) {
    if (!['examples', 'enum', 'default', 'const'].includes(key)) walk(value, `${pointer}/${key}`, visit)
  }
  return undefined
}

/** Keys that the language names, each with the schema that describes it rather than restricts it further. */
const describedKeys = (): readonly (readonly [string, JsonObject])[] => {
  const found: (readonly [string, JsonObject])[] = []
  walk(PLAYBOOK_SCHEMA, '#', (schema, pointer) => {
    const isMain =
      !/\/(if|then|else|not|anyOf|allOf|contains)(\/|$)/.test(pointer) || /allOf\/\d+\/then$/.test(pointer)
    if (!isMain || !isObject(schema['properties'] ?? null) || typeof schema['title'] !== 'string') return
    for (const [key, value] of Object.entries(schema['properties'] as JsonObject)) {
      if (isObject(value)) found.push([`${pointer}/properties/${key}`, value])
    }
  })
  return found
}

describe('what editors show', () => {
  const definitions = PLAYBOOK_SCHEMA['$defs'] as Readonly<Record<string, JsonObject>>
  /** A schema, or the definition that it refers to. */
  const worded = (schema: JsonObject): JsonObject => {
    const name = typeof schema['$ref'] === 'string' ? schema['$ref'].replace('#/$defs/', '') : ''
    return { ...(name === '' ? {} : definitions[name]), ...schema }
  }

  it('3: every key has a title and a description that is a sentence', () => {
    const keys = describedKeys()
    expect(keys.length).toBeGreaterThan(200)
    const bare = keys.filter(([, schema]) => {
      const { title, description } = worded(schema)
      return typeof title !== 'string' || typeof description !== 'string' || description.length < 4
    })
    expect(bare.map(([pointer]) => pointer)).toEqual([])
  })

  it('every example is valid where it stands', () => {
    const ajv = createJudge()
    const wrong: string[] = []
    walk(PLAYBOOK_SCHEMA, '#', ({ examples }, pointer) => {
      if (!Array.isArray(examples)) return
      const validate = ajv.getSchema(`playbook${pointer.replaceAll('$defs', '%24defs')}`)
      for (const example of examples as readonly Json[]) {
        if (validate === undefined || validate(example) !== true)
          wrong.push(`${pointer}: ${JSON.stringify(example)}`)
      }
    })
    expect(wrong).toEqual([])
  })

  it('marks older spellings as deprecated and says what to write', () => {
    const deprecated: string[] = []
    walk(PLAYBOOK_SCHEMA, '#', (schema, pointer) => {
      if (schema['deprecated'] !== true) return
      expect(schema['deprecationMessage'], pointer).toMatch(/^(Write|Put) /)
      deprecated.push(pointer.split('/').at(-1) ?? '')
    })
    expect(new Set(deprecated)).toEqual(
      new Set([
        'vars',
        'args',
        'with',
        'type',
        'next_mode',
        'credential',
        'eval',
        'endpoint',
        'set_ctx',
        'set_iter',
        'singleTarget',
      ]),
    )
  })

  it('4: only words stand beside a reference', () => {
    const beside = new Set<string>()
    walk(PLAYBOOK_SCHEMA, '#', (schema) => {
      if ('$ref' in schema) for (const key of Object.keys(schema)) beside.add(key)
    })
    const words = ['$ref', 'title', 'description', 'examples', 'deprecated', 'deprecationMessage']
    expect([...beside].filter((key) => !words.includes(key))).toEqual([])
  })
})
