/**
 * Requests made from the API document: nearly right ones and hostile ones. Bodies are text, because some of what is
 * sent cannot be written as a value.
 *
 * 1. A number makes them repeatable.
 * 2. None asks the server to wait: a number between the limits of its schema is a small one.
 */
import type { Random } from '../../../engine/testing/random.ts'
import type { JsonSchema } from '../components.ts'
import type { ApiDocument, Operation, Parameter } from '../document.ts'
import { createResolve, typesOf } from '../schema-view.ts'

export interface HostileRequest {
  readonly url: string
  readonly body?: string
  readonly headers: Readonly<Record<string, string>>
}

/** Things that exist, by the name of the parameter or field that asks for them. */
export type Known = Readonly<Record<string, readonly string[]>>

const JSON_HEADERS = { 'content-type': 'application/json' }

const TEXTS: readonly string[] = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  'x\udfffy',
  '\u202e',
  '👩‍👩‍👧',
  '..',
  '../../etc/passwd',
  "'; drop table noetl.event; --",
  '{{ 7 * 7 }}',
  '{% for i in range(9) %}x{% endfor %}',
  '${7*7}',
  '__proto__',
  'constructor',
  'NaN',
  '-1',
  '1e5',
  '0x10',
  '９',
  'true',
  'null',
  '2026-02-30T25:61:61Z',
  '9'.repeat(30),
  '-9223372036854775809',
  'x'.repeat(3000),
  'ä'.repeat(70_000),
  'line\r\nbreak: yes',
]

/** Those that can be sent as a header. */
const HEADER_TEXTS = TEXTS.filter((text) => /^[ -~]*$/.test(text))

/** JSON text of values for any place. */
const VALUES: readonly string[] = [
  'null',
  'true',
  '0',
  '-0',
  '-1',
  '0.1',
  '1e400',
  '-1e400',
  '1e-400',
  '2147483648',
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775809',
  '9'.repeat(400),
  '[]',
  '{}',
  '[null]',
  '{"":""}',
  '{"\\u0000":"\\ud800"}',
  '{"__proto__":{"admin":true}}',
  '{"constructor":{"prototype":{"a":1}}}',
  '{"a":1,"a":2}',
  `${'['.repeat(300)}${']'.repeat(300)}`,
  `${'{"a":'.repeat(300)}1${'}'.repeat(300)}`,
  ...TEXTS.map((text) => JSON.stringify(text)),
]

/** Bodies that are wrong as a whole. */
const BROKEN_BODIES: readonly string[] = [
  '',
  ' ',
  '{',
  '{"a":1,}',
  "{'a':1}",
  '{"a":1}{"b":2}',
  '"text"',
  '[]',
  'null',
  '7',
  'NaN',
  '\uFEFF{}',
  '{"a":"\u0001"}',
  '{"a":01}',
  `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
  `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`,
  '['.repeat(100_000),
]

const CONTENT_TYPES: readonly string[] = [
  'text/plain',
  'application/xml',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
  'application/json; charset=utf-16',
  'application/json;',
  'APPLICATION/JSON',
  'x',
  '',
]

const PATH_TEXTS: readonly string[] = [
  '%00',
  '%zz',
  '%',
  '%ED%A0%80',
  '%2e%2e',
  '..%2f..',
  '%F0%9F%92%A9',
  '%20',
]

export interface Requests {
  /** One that is right in most places. */
  nearlyRight(path: string, operation: Operation): HostileRequest
  /** Those that every operation gets. */
  fixed(path: string, operation: Operation): readonly HostileRequest[]
}

export const createRequests = (document: ApiDocument, random: Random, known: Known): Requests => {
  const resolve = createResolve(document)
  const knownOr = (name: string, fallback: string): string => {
    const values = known[name]
    return values ? random.pick(values) : fallback
  }

  const pathText = (path: string, hostility: number): string =>
    path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => {
      if (random.chance(hostility)) return random.pick(PATH_TEXTS)
      if (random.chance(hostility))
        return encodeURIComponent(random.pick(TEXTS).toWellFormed()).slice(0, 5000)
      return encodeURIComponent(knownOr(name, name.endsWith('_id') ? '1' : 'some'))
    })

  const queryText = (parameters: readonly Parameter[], hostility: number): string => {
    const pairs = parameters
      .filter(({ in: place, required }) => place === 'query' && (required || random.chance(0.5)))
      .flatMap(({ name, schema }) => {
        const value = random.chance(hostility)
          ? random.pick(TEXTS)
          : plain(JSON.parse(valueText(schema, name, 0, 0)))
        const pair = `${name}=${encodeURIComponent(value.toWellFormed())}`
        return random.chance(hostility / 2) ? [pair, pair, `${name}[]=1`, `${name}[a]=1`] : [pair]
      })
    if (random.chance(hostility)) pairs.push('unknown=1', '=', '%zz=%', '__proto__=1')
    return pairs.length > 0 ? `?${pairs.join('&')}` : ''
  }

  const headersFrom = (parameters: readonly Parameter[], hostility: number): Record<string, string> =>
    Object.fromEntries(
      parameters
        .filter(({ in: place }) => place === 'header' && random.chance(0.5))
        .map(({ name }) => [
          name,
          random.chance(hostility) ? random.pick(HEADER_TEXTS) : knownOr(name, 'some'),
        ]),
    )

  const objectText = (schema: JsonSchema, hostility: number, depth: number): string => {
    const required = (schema['required'] ?? []) as readonly string[]
    const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>)
    const fields = properties
      .filter(([key]) => (required.includes(key) ? !random.chance(hostility / 3) : random.chance(0.4)))
      .map(([key, property]) => `${JSON.stringify(key)}:${valueText(property, key, hostility, depth + 1)}`)
    if (random.chance(hostility)) fields.push(`"unknown":${random.pick(VALUES)}`, '"__proto__":{"a":1}')
    if (fields[0] !== undefined && random.chance(hostility / 2)) fields.push(fields[0])
    return `{${fields.join(',')}}`
  }

  const numberText = (schema: JsonSchema, isHostile: boolean): string => {
    const minimum = Number(schema['minimum'] ?? Number(schema['exclusiveMinimum'] ?? -1) + 1)
    const maximum = Number(schema['maximum'] ?? Number.MAX_SAFE_INTEGER)
    return String(isHostile ? random.pick([minimum - 1, maximum + 1, minimum + 0.5]) : minimum)
  }

  const valueText = (given: JsonSchema, name: string, hostility: number, depth: number): string => {
    if (random.chance(hostility)) return random.pick(VALUES)
    const { schema } = resolve(given)
    if (schema['const'] !== undefined) return JSON.stringify(schema['const'])
    if (Array.isArray(schema['enum'])) return JSON.stringify(random.pick(schema['enum'] as unknown[]))
    const options = (schema['anyOf'] ?? schema['oneOf']) as readonly JsonSchema[] | undefined
    if (options && !schema['properties']) return valueText(random.pick(options), name, hostility, depth)
    const types = typesOf(schema)
    const type = types.length > 0 ? random.pick(types) : 'any'
    if (type === 'object') return depth > 8 ? '{}' : objectText(schema, hostility, depth)
    if (type === 'array') {
      const items = (schema['items'] ?? {}) as JsonSchema
      const length = Math.max(Number(schema['minItems'] ?? 0), random.below(3))
      return `[${Array.from({ length }, () => valueText(items, name, hostility, depth + 1)).join(',')}]`
    }
    if (type === 'string') return JSON.stringify(knownOr(name, schema['format'] === 'int64' ? '1' : 'text'))
    if (type === 'integer' && schema['format'] === 'int64') return knownOr(name, '1')
    if (type === 'integer' || type === 'number') return numberText(schema, random.chance(hostility))
    if (type === 'boolean') return random.pick(['true', 'false'])
    return type === 'null' ? 'null' : '{"some":["value",1]}'
  }

  const schemaOf = ({ requestBody }: Operation): JsonSchema | undefined =>
    requestBody?.content['application/json']?.schema

  const bodyText = (operation: Operation, hostility: number): string => {
    const schema = schemaOf(operation)
    return schema ? valueText(schema, '', hostility, 0) : '{}'
  }

  /** Every list of the body, ten thousand times its first item. */
  const largeBodies = (operation: Operation): readonly string[] => {
    const schema = schemaOf(operation)
    const { properties = {} } = (schema ? resolve(schema).schema : {}) as {
      properties?: Record<string, JsonSchema>
    }
    return Object.entries(properties)
      .filter(([, property]) => typesOf(resolve(property).schema).includes('array'))
      .map(([name, property]) => {
        const item = valueText((resolve(property).schema['items'] ?? {}) as JsonSchema, name, 0, 0)
        const rest = objectText({ ...resolve(schema ?? {}).schema, required: [] }, 0, 0).slice(1, -1)
        const list = `[${Array.from({ length: 10_000 }, () => item).join(',')}]`
        return `{${rest === '' ? '' : `${rest},`}"execution_id":"${knownOr('execution_id', '1')}","${name}":${list}}`
      })
  }

  const withBody = (
    path: string,
    operation: Operation,
    body: string,
    type = JSON_HEADERS,
  ): HostileRequest => ({
    url: pathText(path, 0) + queryText(operation.parameters ?? [], 0),
    body,
    headers: type,
  })

  return {
    nearlyRight: (path, operation) => {
      const hostility = random.pick([0, 0.05, 0.15, 0.4])
      const { parameters = [], requestBody } = operation
      return {
        url: pathText(path, hostility / 3) + queryText(parameters, hostility),
        ...(requestBody ? { body: bodyText(operation, hostility) } : {}),
        headers: { ...headersFrom(parameters, hostility), ...(requestBody ? JSON_HEADERS : {}) },
      }
    },
    fixed: (path, operation) => [
      ...PATH_TEXTS.map((text) => ({ url: path.replaceAll(/\{\w+\}/g, text), headers: {} })),
      ...TEXTS.map((text) => ({
        url: path.replaceAll(/\{\w+\}/g, encodeURIComponent(text.toWellFormed()).slice(0, 8000)),
        headers: {},
      })),
      ...BROKEN_BODIES.map((body) => withBody(path, operation, body)),
      ...CONTENT_TYPES.map((type) => withBody(path, operation, '{}', { 'content-type': type })),
      ...largeBodies(operation).map((body) => withBody(path, operation, body)),
    ],
  }
}

const plain = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
