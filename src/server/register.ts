/**
 * Registering a document: a playbook is checked whole before it becomes a version of its path.
 *
 * 1. What is refused leaves nothing behind.
 * 2. Two that register the same path at once get two versions.
 */
import { isObject } from '../contract/json.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { ProblemError } from '../contract/problem.ts'
import { storableJson, storableText } from '../lib/exact-json.ts'
import { readDocument } from '../playbook/document.ts'
import { parsePlaybook } from '../playbook/parse.ts'
import { subscriptionProblems } from '../playbook/subscription.ts'
import type { Diagnostic } from '../playbook/problem.ts'
import type { CatalogRow } from '../store/catalog.ts'
import { insertCatalogEntry } from '../store/catalog.ts'
import type { Core } from './core.ts'
import { playbookProblem } from './playbooks.ts'

export interface Registration {
  readonly row: CatalogRow
  readonly warnings: readonly Diagnostic[]
}

/** As long as a path may be to fit into an index. */
const MAX_PATH = 512

/** With `onlyAs` a document of another path is refused. */
export const registerDocument = async (
  core: Core,
  given: string,
  resourceType: string,
  { onlyAs = null }: { readonly onlyAs?: string | null } = {},
): Promise<Registration> => {
  const content = storableText(decodeContent(given))
  const document = readMapping(content)
  const kind = (typeof document['kind'] === 'string' ? document['kind'] : resourceType).toLowerCase()
  // Anything that says it is a playbook, or says nothing, is held to the language.
  const warnings = kind === 'playbook' || !OTHER_KINDS.has(kind) ? checkPlaybook(content) : []
  if (kind === 'subscription') checkSubscription(document)
  const metadata = document['metadata']
  if (!isObject(metadata)) throw new ProblemError('invalid', "Missing 'metadata' section")
  const path = textOf(metadata['path']) ?? textOf(metadata['name'])
  if (!path) throw new ProblemError('invalid', "Missing 'path' or 'name' in metadata")
  if (path.length > MAX_PATH)
    throw new ProblemError('invalid', `The path in metadata is longer than ${MAX_PATH} characters`)
  if (onlyAs !== null && path !== onlyAs)
    throw new ProblemError('invalid', `The text is of '${path}', not of '${onlyAs}'; register it by itself`)
  const row = await insertCatalogEntry(core.shards.cluster, {
    catalogId: core.nextId(),
    path,
    kind,
    content,
    layout: optionalJson(document['workflow']),
    payload: optionalJson(document['workload']),
    meta: optionalJson(metadata['labels']),
    agent: kind === 'agent' || metadata['agent'] === true,
    capabilities: textsOf(metadata['capabilities']),
  })
  return { row, warnings }
}

const OTHER_KINDS = new Set(['credential', 'mcp', 'agent', 'memory', 'subscription'])

const checkSubscription = (document: JsonObject): void => {
  const problems = subscriptionProblems(document)
  if (problems.length > 0)
    throw new ProblemError('invalid', problems.join('; '), { details: { problems: [...problems] } })
}

const checkPlaybook = (content: string): readonly Diagnostic[] => {
  const result = parsePlaybook(content)
  if (!result.ok) throw playbookProblem(result.kind, result.problems)
  return result.warnings
}

/** The text itself, or base64 of it. */
export const decodeContent = (given: string): string => {
  const compact = given.replaceAll(/\s+/g, '')
  if (compact.length === 0 || compact.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(compact))
    return given
  const decoded = Buffer.from(compact, 'base64')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(decoded)
  } catch {
    return given
  }
}

const readMapping = (content: string): JsonObject => {
  const result = readDocument(content)
  if (!result.ok) throw playbookProblem(result.kind, result.problems)
  return result.document
}

const textOf = (value: Json | undefined): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : null

const textsOf = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string').map(storableText) : []

const optionalJson = (value: Json | undefined): string | null =>
  value === undefined || value === null ? null : storableJson(value)
