/**
 * Puts credentials in the places of a tool block that name them: `auth`, its synonym `credential`, and the same of
 * both sides of a transfer.
 *
 * 1. A text is a name. A mapping is a credential written out and stays as it is, except where it says
 *    `source: credential, key: name`, or holds several such mappings, one for each connection.
 * 2. Whatever the block itself says beside a name wins over the stored field.
 * 3. A block without names comes back as it is, at once.
 */
import type { Credential } from '../../contract/command.ts'
import type { Json, JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { credentialAsFields } from './credential-fields.ts'

/** Rejects when there is none of this name. */
export type FindCredential = (alias: string) => Promise<Credential>

const FIELDS = ['auth', 'credential'] as const
const SIDES = ['source', 'target'] as const
const SOURCES: ReadonlySet<string> = new Set(['credential', 'credentials', 'keychain', 'catalog', 'noetl'])

interface Named {
  readonly alias: string
  /** What the block says beside the name. */
  readonly own: JsonObject
}

const nameOf = (value: Json | undefined): string | null => {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : null
}

/** `source: credential` with a `key`; among several connections, `credential` or `key` says it alone. */
const namedIn = (value: Json | undefined, isOneOfSeveral: boolean): Named | null => {
  if (!isObject(value)) return null
  const { source, key, credential, ...own } = value
  if (typeof source === 'string' && SOURCES.has(source.toLowerCase())) {
    const alias = nameOf(key) ?? nameOf(credential)
    return alias === null ? null : { alias, own }
  }
  const alias = isOneOfSeveral ? (nameOf(credential) ?? nameOf(key)) : null
  return alias === null || source !== undefined ? null : { alias, own }
}

const namedBy = (value: Json | undefined): Named | null => {
  const alias = nameOf(value)
  return alias === null ? namedIn(value, false) : { alias, own: {} }
}

const hasSeveral = (value: Json | undefined): value is JsonObject =>
  isObject(value) && Object.values(value).some((each) => namedIn(each, true) !== null)

const fieldsThatName = (block: JsonObject): readonly string[] =>
  FIELDS.filter((field) => namedBy(block[field]) !== null || hasSeveral(block[field]))

const sidesThatName = (kind: string, block: JsonObject): readonly string[] =>
  kind === 'transfer'
    ? SIDES.filter((side) => isObject(block[side]) && fieldsThatName(block[side]).length > 0)
    : []

export const namesCredentials = (kind: string, block: JsonObject): boolean =>
  fieldsThatName(block).length > 0 || sidesThatName(kind, block).length > 0

export const withCredentials = async (
  kind: string,
  block: JsonObject,
  find: FindCredential,
): Promise<JsonObject> => {
  const changed: Record<string, Json> = { ...block }
  for (const field of fieldsThatName(block))
    changed[field] = await credentialFor(kind, block[field] ?? null, find)
  for (const side of sidesThatName(kind, block)) {
    const part = block[side] as JsonObject
    changed[side] = await withCredentials(kindOfSide(part), part, find)
  }
  return changed
}

const kindOfSide = (side: JsonObject): string => nameOf(side['type'] ?? side['tool'] ?? side['kind']) ?? ''

const credentialFor = async (kind: string, value: Json, find: FindCredential): Promise<Json> => {
  const named = namedBy(value)
  if (named !== null)
    return { ...credentialAsFields(named.alias, await find(named.alias), kind), ...named.own }
  const several: Record<string, Json> = { ...(value as JsonObject) }
  for (const [name, each] of Object.entries(several)) {
    const one = namedIn(each, true)
    if (one === null) continue
    const own = nameOf(one.own['type'])
    several[name] = { ...credentialAsFields(one.alias, await find(one.alias), own ?? ''), ...one.own }
  }
  return several
}
