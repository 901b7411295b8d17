/** A plausible value for a schema, for people to start from. */
import { rawInteger } from '../../lib/exact-json.ts'
import type { JsonSchema } from './components.ts'
import { typesOf } from './schema-view.ts'
import type { Resolve } from './schema-view.ts'

const AN_ID = '338921234567890123'
const AN_INSTANT = '2026-01-31T12:00:00.000Z'
const MAX_DEPTH = 5

/** What fields of this name usually hold. */
const BY_NAME: Readonly<Record<string, unknown>> = {
  path: 'examples/hello',
  worker_id: 'worker-1',
  name: 'example',
  node_name: 'fetch',
  node_id: 'fetch',
  step: 'fetch',
  step_name: 'fetch',
  current_step: 'fetch',
  var_name: 'region',
  keychain_name: 'api_token',
  identifier: 'my_database',
  event_type: 'command.completed',
  action: 'http',
  lease_token: '1',
  ref: `noetl://execution/${AN_ID}/result/fetch/${AN_ID}`,
  content: 'apiVersion: noetl.io/v2\nkind: Playbook\n…',
  payload: { city: 'Vienna' },
  version: 1,
  pool: 'shared',
}

/** Requests show what must be given; answers show everything. */
export const exampleOf = (
  schema: JsonSchema,
  resolve: Resolve,
  { everything, name = '', depth = 0 }: { everything: boolean; name?: string; depth?: number },
): unknown => {
  const { schema: found } = resolve(schema)
  const [given] = (found['examples'] ?? []) as readonly unknown[]
  if (given !== undefined) return given
  if (found['const'] !== undefined) return found['const']
  if (Array.isArray(found['enum'])) return found['default'] ?? found['enum'][0]
  const [option] = (found['anyOf'] ?? found['oneOf'] ?? []) as readonly JsonSchema[]
  if (option) return exampleOf(option, resolve, { everything, name, depth })
  const [type] = typesOf(found)
  if (type === 'object') return objectOf(found, resolve, everything, name, depth)
  if (type === 'array') {
    const items = found['items'] as JsonSchema | undefined
    return items && depth < MAX_DEPTH
      ? [exampleOf(items, resolve, { everything, name, depth: depth + 1 })]
      : []
  }
  return scalarOf(found, type, name)
}

const objectOf = (
  schema: JsonSchema,
  resolve: Resolve,
  everything: boolean,
  name: string,
  depth: number,
): unknown => {
  const properties = (schema['properties'] ?? {}) as Record<string, JsonSchema>
  const entries = Object.entries(properties)
  if (entries.length === 0) return BY_NAME[name] ?? {}
  if (depth >= MAX_DEPTH) return {}
  const required = (schema['required'] ?? []) as readonly string[]
  const aliased = new Set(Object.keys(schema['x-aliases'] ?? {}))
  const named = new Set(Object.values((schema['x-aliases'] ?? {}) as Record<string, string>))
  const needed = (key: string): boolean =>
    required.includes(key) || ((key === 'path' || named.has(key)) && !everything)
  return Object.fromEntries(
    entries
      .filter(([key]) => !aliased.has(key) && (everything || needed(key)))
      .map(([key, item]) => [key, exampleOf(item, resolve, { everything, name: key, depth: depth + 1 })]),
  )
}

const scalarOf = (schema: JsonSchema, type: string | undefined, name: string): unknown => {
  if (schema['default'] !== undefined) return schema['default']
  if (schema['format'] === 'int64') return type === 'integer' ? rawInteger(AN_ID) : AN_ID
  if (schema['format'] === 'date-time') return AN_INSTANT
  if (type === 'string') return name.endsWith('_id') && schema['pattern'] ? AN_ID : textOf(name)
  if (type === 'integer' || type === 'number') return schema['minimum'] ?? 1
  if (type === 'boolean') return true
  if (type === 'null') return null
  return Object.hasOwn(BY_NAME, name) ? BY_NAME[name] : { any: 'value' }
}

const textOf = (name: string): unknown => {
  const known = Object.hasOwn(BY_NAME, name) ? BY_NAME[name] : undefined
  return typeof known === 'string' ? known : '…'
}

/** What stands in a path for a parameter. */
export const pathExample = (name: string): string => {
  const known = name.endsWith('_id') ? AN_ID : textOf(name)
  return typeof known === 'string' && known !== '…' ? known : name
}
