/**
 * How a keychain entry that is not there can be made, and keeping one that was. Secrets are made by workers: this side only says
 * what the playbook declares, and stores what comes back.
 *
 * 1. An entry that ran out and knows its renewal brings both; one that the playbook declares brings the declaration; one that is
 *    neither has no recipe.
 * 2. An entry is shared as widely as it says. Without a word, one that reads the run belongs to the run, any other one to all runs
 *    of the playbook.
 * 3. A shared entry belongs to the parent of the run, where its siblings find it.
 * 4. Of several workers that ask for a recipe at once and say who they are, one is to follow it; the others are told that it is at it. Only
 *    for what has to be fetched: the rest costs nothing.
 */
import type { KeychainScope } from '../contract/api-secrets.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import type { KeychainAddress, KeychainEntry, KeychainRecipe } from '../contract/keychain.ts'
import { isFetched } from '../contract/keychain.ts'
import { ProblemError } from '../contract/problem.ts'
import type { Wallet } from '../lib/envelope.ts'
import { exactJson, parseJson } from '../lib/exact-json.ts'
import type { ExecutionRow } from '../store/executions.ts'
import { readExecution } from '../store/executions.ts'
import { claimKeychain, endKeychainClaim } from '../store/keychain-claims.ts'
import type { KeychainRow } from '../store/keychain.ts'
import { accessKeychain, cacheKeyOf, upsertKeychainEntry } from '../store/keychain.ts'
import { collectTemplates } from '../template/render.ts'
import { compileTemplate } from '../template/template.ts'
import type { Core } from './core.ts'
import { openEnvelope } from './secret-access.ts'
import { loadState } from './state-loader.ts'

const SCOPES: Readonly<Record<string, KeychainScope>> = {
  local: 'local',
  global: 'global',
  catalog: 'global',
  shared: 'shared',
}

/** Root names that the templates of an entry read, but the keychain itself. */
const readsOf = (entry: JsonObject): ReadonlySet<string> => {
  const roots = collectTemplates(entry).flatMap(({ text }) => {
    try {
      return [...compileTemplate(text).roots]
    } catch {
      // Reported at registration; whoever renders it will say so.
      return []
    }
  })
  return new Set(roots.filter((root) => root !== 'keychain'))
}

const scopeOf = (entry: JsonObject, reads: ReadonlySet<string>): KeychainScope => {
  const word = typeof entry['scope'] === 'string' ? entry['scope'].toLowerCase() : ''
  return SCOPES[word] ?? (reads.size > 0 ? 'local' : 'global')
}

const addressOf = (name: string, scope: KeychainScope, execution: ExecutionRow): KeychainAddress => {
  const { catalog_id: catalogId, execution_id: own, parent_execution_id: parent } = execution
  const executionId = scope === 'global' ? null : scope === 'shared' ? (parent ?? own) : own
  return { name, catalogId, scope, executionId }
}

/** The places where an execution looks for an entry, from the narrowest to the widest. */
export const keychainKeys = (
  name: string,
  execution: Pick<ExecutionRow, 'execution_id' | 'catalog_id'>,
  parent: string | null,
): readonly string[] => {
  const at = { name, catalogId: execution.catalog_id }
  const executionId = execution.execution_id
  return [
    cacheKeyOf({ ...at, scope: 'local', executionId }),
    cacheKeyOf({ ...at, scope: 'shared', executionId }),
    ...(parent === null ? [] : [cacheKeyOf({ ...at, scope: 'shared', executionId: parent })]),
    cacheKeyOf({ ...at, scope: 'global', executionId: null }),
  ]
}

const declaredEntry = async (core: Core, catalogId: string, name: string): Promise<JsonObject | null> => {
  try {
    const { graph } = await core.playbooks.byId(catalogId)
    return graph.playbook.keychain.find((entry) => entry['name'] === name) ?? null
  } catch (error) {
    // An execution that came from elsewhere may have no playbook here.
    if (error instanceof ProblemError && (error.code === 'not_found' || error.code === 'invalid')) return null
    throw error
  }
}

const variablesOf = async (
  core: Core,
  execution: ExecutionRow,
  reads: ReadonlySet<string>,
): Promise<JsonObject> => {
  if (reads.size === 0) return {}
  const { execution_id: id, catalog_id, path } = execution
  const loaded = await loadState(core.shards.of(id), id, core.sealer)
  return { ...loaded?.state.workload, execution_id: id, catalog_id, path }
}

/** Null for an entry that nobody taught how to be renewed. */
const renewalOf = (row: KeychainRow | null, wallet: Wallet): KeychainRecipe['renew'] => {
  if (row === null || !row.auto_renew || row.renew_config_encrypted === null) return null
  const opened = (envelope: string): Json =>
    parseJson(openEnvelope(wallet, envelope, `Keychain entry '${row.keychain_name}'`)) as Json
  const config = opened(row.renew_config_encrypted)
  return isObject(config) ? { config, data: opened(row.data_encrypted) } : null
}

export const keychainRecipe = async (
  core: Core,
  wallet: Wallet,
  {
    executionId,
    alias,
    holder,
  }: { readonly executionId: string; readonly alias: string; readonly holder?: string },
): Promise<KeychainRecipe | null> => {
  const execution = await readExecution(core.shards.of(executionId), executionId)
  if (!execution) return null
  const entry = await declaredEntry(core, execution.catalog_id, alias)
  const keys = keychainKeys(alias, execution, execution.parent_execution_id)
  const row = await accessKeychain(core.shards.cluster, keys)
  const renew = renewalOf(row, wallet)
  if (entry === null && renew === null) return null
  const reads = readsOf(entry ?? renew?.config ?? {})
  const address =
    entry === null && row
      ? { name: alias, catalogId: row.catalog_id, scope: row.scope_type, executionId: row.execution_id }
      : addressOf(alias, scopeOf(entry ?? {}, reads), execution)
  const recipe = { address, entry, variables: await variablesOf(core, execution, reads), renew }
  if (holder === undefined || !isFetched(recipe)) return recipe
  const cacheKey = cacheKeyOf(address)
  return { ...recipe, isBeingMade: !(await claimKeychain(core.shards.cluster, { cacheKey, holder })) }
}

export const keepKeychain = async (core: Core, wallet: Wallet, made: KeychainEntry): Promise<void> => {
  const { address, data, expiresInSeconds, renewConfig } = made
  const row = await upsertKeychainEntry(core.shards.cluster, {
    ...address,
    parentExecutionId: null,
    credentialType: null,
    cacheType: 'token',
    dataEncrypted: wallet.seal(exactJson(data)),
    renewConfigEncrypted: renewConfig === null ? null : wallet.seal(exactJson(renewConfig)),
    autoRenew: renewConfig !== null,
    expiresAt: null,
    expiresInSeconds,
  })
  if (!row) throw new ProblemError('not_found', `Catalog entry not found: ${address.catalogId}`)
  await endKeychainClaim(core.shards.cluster, row.cache_key)
}
