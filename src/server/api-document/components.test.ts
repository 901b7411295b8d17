import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { body } from '../../contract/api-body.ts'
import { documentedAs } from '../../contract/documented.ts'
import { createComponents } from './components.ts'

const Item = z.object({ name: z.string() }).meta({ id: 'Item' })

const inlined = (schema: z.ZodType) => createComponents({ strict: false }).inline(schema, 'input')

describe('naming', () => {
  test('a schema is described once, under the name of its first user (1, 2)', () => {
    const components = createComponents({ strict: false })
    const schema = z.object({ a: z.string() })
    expect(components.refer(schema, 'input', 'First')).toEqual({ $ref: '#/components/schemas/First' })
    expect(components.refer(schema, 'input', 'Second')).toEqual({ $ref: '#/components/schemas/First' })
    expect(Object.keys(components.schemas)).toEqual(['First'])
  })

  test('an id is the name, also inside other schemas (2)', () => {
    const components = createComponents({ strict: false })
    expect(components.refer(Item, 'output', 'Other')).toEqual({ $ref: '#/components/schemas/Item' })
    components.refer(z.array(Item), 'output', 'Items')
    expect(components.schemas).toMatchObject({
      Item: { type: 'object', required: ['name'] },
      Items: { type: 'array', items: { $ref: '#/components/schemas/Item' } },
    })
  })

  test('two different schemas of one name are refused', () => {
    const components = createComponents({ strict: false })
    components.refer(z.object({ a: z.string() }), 'input', 'Same')
    expect(() => components.refer(z.object({ b: z.string() }), 'input', 'Same')).toThrow("'Same'")
  })
})

describe('second names (3)', () => {
  const schema = inlined(
    body({ kind: z.string(), uri: z.string().nullish() }, { type: 'kind', base_url: 'uri' }),
  )
  const ajv = new Ajv2020({ strict: false })

  test.each([
    [{ kind: 'a' }, true],
    [{ type: 'a' }, true],
    [{ type: 'a', base_url: 'b' }, true],
    [{ kind: 'a', extra: 1 }, true],
    [{}, false],
    [{ kind: 'a', type: 'b' }, false],
    [{ kind: 'a', uri: 'b', base_url: 'c' }, false],
    [{ type: 7 }, false],
  ])('%j: %s, for the description as for the check', (value, isFine) => {
    expect(ajv.validate(schema, value)).toBe(isFine)
    const request = body({ kind: z.string(), uri: z.string().nullish() }, { type: 'kind', base_url: 'uri' })
    expect(request.safeParse(value).success).toBe(isFine)
  })
})

describe('descriptions', () => {
  test('given as JSON Schema take the place of what the code tells', () => {
    const flag = documentedAs(z.string().transform(Boolean), { type: 'boolean' })
    expect(inlined(z.object({ flag }))).toMatchObject({ properties: { flag: { type: 'boolean' } } })
  })

  test('given as a schema are described like that schema, with its own name', () => {
    const components = createComponents({ strict: false })
    const schema = z.object({ items: documentedAs(z.array(z.unknown()), z.array(Item)) })
    expect(components.inline(schema, 'input')).toMatchObject({
      properties: { items: { type: 'array', items: { $ref: '#/components/schemas/Item' } } },
    })
    expect(components.schemas['Item']).toBeDefined()
  })

  test('survive a default and an absence', () => {
    const word = documentedAs(z.string().transform(String), { type: 'string', enum: ['a', 'b'] })
    expect(inlined(z.object({ word: word.default('a'), other: word.optional() }))).toEqual({
      type: 'object',
      properties: {
        word: { type: 'string', enum: ['a', 'b'], default: 'a' },
        other: { type: 'string', enum: ['a', 'b'] },
      },
    })
  })
})

test.each([
  [true, false],
  [false, undefined],
])('objects of answers are closed in a strict document only: %s (4)', (strict, additionalProperties) => {
  expect(
    createComponents({ strict }).inline(z.object({ a: z.string() }), 'output')['additionalProperties'],
  ).toBe(additionalProperties)
})
