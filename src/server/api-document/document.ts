/**
 * The API document: OpenAPI 3.1, made of the declarations of the routes and of nothing else.
 *
 * 1. Every declared route is in it once, under a name of its own.
 * 2. Requests are described as they are sent, answers as they arrive.
 * 3. What a caller needs is said twice: as a security scheme for tools, as roles for people.
 */
import { mayUse, ROLES } from '../../contract/access.ts'
import type { RouteSpec } from '../route.ts'
import type { Components, JsonSchema } from './components.ts'
import { createComponents } from './components.ts'
import { PROBLEM_SCHEMA, problemResponses } from './problem-responses.ts'
import { TAGS } from './tags.ts'

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly schema: JsonSchema
}

interface Media {
  readonly schema: JsonSchema
}

export interface ApiResponse {
  readonly description: string
  readonly content?: Readonly<Record<string, Media>>
}

export interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly deprecated?: boolean
  readonly security: readonly object[]
  readonly 'x-access': string
  readonly 'x-roles': readonly string[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, ApiResponse | { readonly $ref: string }>>
}

export interface ApiDocument {
  readonly openapi: '3.1.1'
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly servers: readonly { readonly url: string }[]
  readonly tags: readonly { readonly name: string; readonly description?: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly responses: Readonly<Record<string, ApiResponse>>
    readonly securitySchemes: Readonly<Record<string, object>>
  }
}

const INTRODUCTION = `Control plane of NoETL: register playbooks, start executions, watch them, and do their work.

Bodies are JSON; unknown keys are ignored. Ids are 64-bit integers: answers give them as integers with all digits or as text,
requests take both. Every error has the shape of \`Problem\`.`

const SECURITY_SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'A token of this server. An open server needs none.',
  },
  internal: {
    type: 'http',
    scheme: 'bearer',
    description: 'The token for internal routes, NOETL_INTERNAL_API_TOKEN.',
  },
}

export interface DocumentOptions {
  readonly version: string
  /** Closes the objects of answers; for tests. */
  readonly strict?: boolean
}

export const buildApiDocument = (
  specs: readonly RouteSpec[],
  { version, strict = false }: DocumentOptions,
): ApiDocument => {
  const components = createComponents({ strict })
  const responses: Record<string, ApiResponse> = {}
  const paths: Record<string, Record<string, Operation>> = {}
  for (const spec of specs) {
    const operations = (paths[pathTemplate(spec.url)] ??= {})
    operations[spec.method.toLowerCase()] = operationOf(spec, components, responses)
  }
  return {
    openapi: '3.1.1',
    info: { title: 'NoETL API', version, description: INTRODUCTION },
    servers: [{ url: '/' }],
    tags: tagsOf(specs),
    paths,
    components: {
      schemas: { ...sorted(components.schemas), Problem: PROBLEM_SCHEMA },
      responses: sorted(responses),
      securitySchemes: SECURITY_SCHEMES,
    },
  }
}

const sorted = <T>(record: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))

/** `/a/:b/*` is `/a/{b}/{path}`. */
export const pathTemplate = (url: string): string =>
  url.replaceAll(/:(\w+)/g, '{$1}').replaceAll('*', '{path}')

/** In the order of the table; those that it does not know come last. */
const tagsOf = (specs: readonly RouteSpec[]): ApiDocument['tags'] => {
  const used = new Set(specs.map(({ tag }) => tag))
  const known = Object.entries(TAGS).filter(([name]) => used.has(name))
  const others = [...used].filter((name) => !Object.hasOwn(TAGS, name)).sort()
  return [...known.map(([name, description]) => ({ name, description })), ...others.map((name) => ({ name }))]
}

const operationOf = (
  spec: RouteSpec,
  components: Components,
  responses: Record<string, ApiResponse>,
): Operation => {
  const operationId = operationIdOf(spec)
  const parameters = [
    ...pathParameters(spec),
    ...fieldParameters(spec.query, 'query', components),
    ...fieldParameters(spec.headers, 'header', components),
  ]
  const requestBody = requestBodyOf(spec, operationId, components)
  const { description, deprecated } = spec
  return {
    operationId,
    tags: [spec.tag],
    summary: spec.summary,
    ...(description === undefined ? {} : { description }),
    ...(deprecated ? { deprecated } : {}),
    security: securityOf(spec),
    'x-access': spec.access,
    'x-roles': ROLES.filter((role) => mayUse(role, spec.access)),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody ? { requestBody } : {}),
    responses: { ...answersOf(spec, operationId, components), ...problemResponsesBeside(spec, responses) },
  }
}

/** `GET /api/executions/:execution_id/events` is `getExecutionsByExecutionIdEvents` unless it has a name. */
export const operationIdOf = ({ name, method, url }: RouteSpec): string =>
  name ??
  method.toLowerCase() +
    url
      .replace(/^\/api\//, '/')
      .split(/[/._-]/)
      .filter((word) => word !== '')
      .map((word) => word.replace(/^:/, 'By-').replace('*', 'ByPath'))
      .flatMap((word) => word.split('-'))
      .map(capitalized)
      .join('')

const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

const ID_IN_PATH: JsonSchema = { type: 'string', format: 'int64', pattern: String.raw`^[+-]?\d{1,20}$` }

const pathParameters = ({ url }: RouteSpec): readonly Parameter[] =>
  [...pathTemplate(url).matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: name.endsWith('_id') ? ID_IN_PATH : { type: 'string', minLength: 1 },
  }))

const fieldParameters = (
  fields: RouteSpec['query'],
  place: 'query' | 'header',
  components: Components,
): readonly Parameter[] => {
  if (!fields) return []
  const { properties = {}, required = [] } = components.inline(fields, 'input') as {
    properties?: Record<string, JsonSchema>
    required?: readonly string[]
  }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: place,
    ...(required.includes(name) ? { required: true } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    schema,
  }))
}

const JSON_TYPE = 'application/json'
const BYTES: JsonSchema = { type: 'string', format: 'binary' }

const requestBodyOf = (
  { body, bodyType }: RouteSpec,
  operationId: string,
  components: Components,
): Operation['requestBody'] => {
  if (bodyType !== undefined) return { required: true, content: { [bodyType]: { schema: BYTES } } }
  if (!body) return undefined
  const schema = components.refer(body, 'input', `${capitalized(operationId)}Request`)
  return {
    required: needsSomething(components.inline(body, 'input')),
    content: { [JSON_TYPE]: { schema } },
  }
}

/** A body whose fields are all optional may be left out. */
const needsSomething = ({ type, required, anyOf, oneOf, allOf = [] }: JsonSchema): boolean =>
  type !== 'object' ||
  [required, anyOf, oneOf].some((keyword) => keyword !== undefined) ||
  (allOf as readonly JsonSchema[]).some(needsOneOf)

const needsOneOf = (schema: JsonSchema): boolean => schema['oneOf'] !== undefined

const answersOf = (
  { answer, answerType, status = 200, otherAnswers = {} }: RouteSpec,
  operationId: string,
  components: Components,
): Record<string, ApiResponse> => {
  const name = `${capitalized(operationId)}Answer`
  const described = (schema: typeof answer, suffix = ''): JsonSchema =>
    schema
      ? components.refer(schema, 'output', `${name}${suffix}`)
      : answerType === undefined
        ? {}
        : { type: 'string' }
  const success =
    status === 204 ? {} : { content: { [answerType ?? JSON_TYPE]: { schema: described(answer) } } }
  const others = Object.entries(otherAnswers).map(([code, schema]): [string, ApiResponse] => [
    code,
    schema === null
      ? { description: 'Nothing to send' }
      : { description: 'As asked', content: { [JSON_TYPE]: { schema: described(schema, code) } } },
  ])
  return {
    [status]: { description: 'As asked', ...success },
    ...Object.fromEntries(others),
  }
}

/** A status that the route answers with a body of its own keeps that description. */
const problemResponsesBeside = (
  spec: RouteSpec,
  responses: Record<string, ApiResponse>,
): Operation['responses'] =>
  Object.fromEntries(
    Object.entries(problemResponses(spec, responses)).filter(
      ([status]) => !Object.hasOwn(spec.otherAnswers ?? {}, status),
    ),
  ) as Operation['responses']

const securityOf = ({ access }: RouteSpec): readonly object[] =>
  access === 'public' ? [] : access === 'internal' ? [{ internal: [] }, { bearer: [] }] : [{ bearer: [] }]
