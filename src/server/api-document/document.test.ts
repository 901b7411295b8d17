/** The API document of the whole server, held against the rules of OpenAPI 3.1 and against the server's routes. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { isObject } from '../../contract/json.ts'
import { registeredRoutes } from '../route-table.ts'
import { declaredRoutes } from '../route.ts'
import type { JsonSchema } from './components.ts'
import { buildApiDocument, operationIdOf, pathTemplate } from './document.ts'
import { OPENAPI_RULES } from './testing/openapi-rules.ts'
import { createUndecidedApp } from './testing/undecided-app.ts'

const app = createUndecidedApp()
const document = buildApiDocument(declaredRoutes(app), { version: '1.2.3' })
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    method,
    path,
    operation,
    id: operation.operationId,
  })),
)

/** Every object of the document with its place. */
function* walk(value: unknown, place = '#'): Generator<readonly [string, Readonly<Record<string, unknown>>]> {
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* walk(item, `${place}/${index}`)
  if (!isObject(value)) return
  yield [place, value]
  for (const [key, item] of Object.entries(value)) yield* walk(item, `${place}/${key}`)
}

const targetOf = (ref: string): unknown =>
  ref
    .slice(2)
    .split('/')
    .reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), document)

describe('the document', () => {
  test('follows the rules of OpenAPI 3.1', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true })
    expect(ajv.validate(OPENAPI_RULES, document), ajv.errorsText()).toBe(true)
  })

  test('is JSON through and through', () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document)
  })

  test('says which version it describes', () => {
    expect(document.info).toMatchObject({ title: 'NoETL API', version: '1.2.3' })
  })

  test('has only schemas that are JSON Schema', () => {
    const ajv = new Ajv2020({ strict: false })
    const broken = Object.entries(document.components.schemas).filter(
      ([, schema]) => !ajv.validateSchema(schema),
    )
    expect(broken).toEqual([])
  })

  test('has no reference that leads nowhere', () => {
    const refs = [...walk(document)].flatMap(([, { $ref }]) => (typeof $ref === 'string' ? [$ref] : []))
    expect(refs.length).toBeGreaterThan(50)
    expect(refs.filter((ref) => targetOf(ref) === undefined)).toEqual([])
  })

  test('has no component that nothing refers to', () => {
    const text = JSON.stringify(document)
    const unused = (['schemas', 'responses'] as const).flatMap((kind) =>
      Object.keys(document.components[kind])
        .map((name) => `#/components/${kind}/${name}`)
        .filter((ref) => !text.includes(`"${ref}"`)),
    )
    expect(unused).toEqual([])
  })

  test('describes every group it sorts operations into', () => {
    expect(document.tags.filter(({ description }) => !description)).toEqual([])
  })

  test('names the headers that operations read, with what they are for', () => {
    const headers = operations.flatMap(({ id, operation }) =>
      (operation.parameters ?? []).flatMap((parameter) =>
        parameter.in === 'header' ? [`${id} ${parameter.name}${parameter.description ? '' : ' ?'}`] : [],
      ),
    )
    expect(new Set(headers)).toEqual(
      new Set([
        'reportEvents Idempotency-Key',
        'reportEvents X-Idempotency-Key',
        'streamExecution Last-Event-ID',
        'streamExecutions Last-Event-ID',
        'followLogs Last-Event-ID',
      ]),
    )
  })
})

describe('routes', () => {
  const inDocument = new Set(operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`))
  /** HEAD is answered wherever GET is. */
  const inServer = new Set(
    registeredRoutes(app).flatMap(({ url, methods }) =>
      methods.filter((method) => method !== 'HEAD').map((method) => `${method} ${pathTemplate(url)}`),
    ),
  )

  test('of the server are all in the document', () => {
    expect(inServer.size).toBeGreaterThan(50)
    expect([...inServer].filter((route) => !inDocument.has(route))).toEqual([])
  })

  test('of the document are all in the server', () => {
    expect([...inDocument].filter((route) => !inServer.has(route))).toEqual([])
  })

  test('have names of their own', () => {
    const names = operations.map(({ id }) => id)
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
    expect(names.filter((name) => !/^[a-z][A-Za-z0-9]*$/.test(name))).toEqual([])
  })

  test.each([
    ['GET', '/api/executions', 'getExecutions'],
    ['GET', '/api/executions/:execution_id/events', 'getExecutionsByExecutionIdEvents'],
    ['POST', '/api/internal/wallet/rotate-kek', 'postInternalWalletRotateKek'],
    ['GET', '/api/playbook.schema.json', 'getPlaybookSchemaJson'],
    ['GET', '/api/files/*', 'getFilesByPath'],
  ] as const)('%s %s is called %s when it has no name', (method, url, name) => {
    expect(operationIdOf({ method, url, tag: '', summary: '', access: 'public' })).toBe(name)
  })
})

describe.each(operations)('$id', ({ path, operation }) => {
  const { parameters = [], requestBody, responses, summary } = operation

  test('says what it does in one line without a full stop', () => {
    expect(summary).toMatch(/^[A-Z`][^\n]*[^.\s]$/)
  })

  test('has the parameters of its path, each once', () => {
    const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
    expect(inPath).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))
    const keys = parameters.map((parameter) => `${parameter.in} ${parameter.name}`)
    expect(new Set(keys).size).toBe(keys.length)
  })

  test('describes what it answers', () => {
    const answers = Object.entries(responses).filter(([status]) => Number(status) < 300)
    expect(answers).toHaveLength(1)
    const schemas = answers.flatMap(([, answer]) =>
      '$ref' in answer ? [] : Object.values(answer.content ?? {}).map(({ schema }) => schema),
    )
    for (const schema of schemas) expect(schema).not.toEqual({})
  })

  test('leaves no part of its body undescribed', () => {
    const schemas = Object.values(requestBody?.content ?? {}).map(({ schema }) => resolved(schema))
    const empty = schemas.flatMap((schema) => [...walkSchema(schema)].filter(([, each]) => isEmpty(each)))
    expect(empty.map(([place]) => place)).toEqual([])
  })
})

const resolved = (schema: JsonSchema): JsonSchema =>
  typeof schema['$ref'] === 'string' ? (targetOf(schema['$ref']) as JsonSchema) : schema

/** The schemas inside a schema. */
function* walkSchema(schema: unknown, place = ''): Generator<readonly [string, JsonSchema]> {
  if (!isObject(schema)) return
  yield [place, schema]
  for (const [name, property] of Object.entries(isObject(schema['properties']) ? schema['properties'] : {}))
    yield* walkSchema(property, `${place}.${name}`)
  if (schema['items'] !== undefined) yield* walkSchema(schema['items'], `${place}[]`)
  for (const keyword of ['anyOf', 'oneOf', 'allOf'])
    for (const each of Array.isArray(schema[keyword]) ? schema[keyword] : []) yield* walkSchema(each, place)
}

const isEmpty = (schema: JsonSchema): boolean => Object.keys(schema).length === 0
