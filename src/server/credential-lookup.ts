/**
 * Finds a credential for whoever names it: by id, by name, and for an execution also among the keychain entries of its
 * playbook, from the narrowest scope to the widest.
 */
import { parseId } from '../contract/ids.ts'
import type { Json } from '../contract/json.ts'
import { exactJson, parseJson } from '../lib/exact-json.ts'
import type { Wallet } from '../lib/envelope.ts'
import type { CredentialRow } from '../store/credentials.ts'
import { findCredential } from '../store/credentials.ts'
import { readExecution } from '../store/executions.ts'
import { accessKeychain } from '../store/keychain.ts'
import type { Shards } from '../store/shards.ts'
import { keychainKeys } from './keychain-recipe.ts'
import { openEnvelope } from './secret-access.ts'

/** On the wire; keys without a value are left out. */
export interface CredentialAnswer {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly meta?: Json
  readonly tags?: readonly string[]
  readonly description?: string
  readonly data?: Json
  /** Seconds it lives; absent when nobody knows an end. */
  readonly expires_in?: number
  readonly created_at: string
  readonly updated_at: string
}

export const credentialAnswer = (row: CredentialRow, data?: Json): CredentialAnswer => ({
  id: row.id,
  name: row.name,
  type: row.type,
  ...(row.meta === null ? {} : { meta: row.meta }),
  ...(row.tags === null ? {} : { tags: row.tags }),
  ...(row.description === null ? {} : { description: row.description }),
  ...(data === undefined ? {} : { data }),
  created_at: row.created_at,
  updated_at: row.updated_at,
})

export interface CredentialWanted {
  readonly identifier: string
  readonly executionId: string | null
  readonly parentExecutionId: string | null
}

/** With its data; null when there is none. */
export const lookUpCredential = async (
  shards: Shards,
  wallet: Wallet,
  wanted: CredentialWanted,
): Promise<CredentialAnswer | null> => {
  const row = await findCredential(shards.cluster, wanted.identifier, parseId(wanted.identifier))
  if (!row) return lookUpKeychain(shards, wallet, wanted)
  return credentialAnswer(
    row,
    parseJson(openEnvelope(wallet, row.data_encrypted, `Credential '${row.name}'`)) as Json,
  )
}

const lookUpKeychain = async (
  shards: Shards,
  wallet: Wallet,
  { identifier, executionId, parentExecutionId }: CredentialWanted,
): Promise<CredentialAnswer | null> => {
  if (executionId === null) return null
  const execution = await readExecution(shards.of(executionId), executionId)
  if (!execution) return null
  const parent = parentExecutionId ?? execution.parent_execution_id
  const entry = await accessKeychain(shards.cluster, keychainKeys(identifier, execution, parent))
  if (!entry || entry.expired) return null
  return {
    id: '0',
    name: identifier,
    type: 'keychain',
    description: 'resolved from keychain provider',
    data: parseJson(openEnvelope(wallet, entry.data_encrypted, `Keychain entry '${identifier}'`)) as Json,
    expires_in: entry.ttl_seconds,
    created_at: entry.created_at,
    updated_at: entry.created_at,
  }
}

/** What is sealed for a worker. */
export const credentialText = (credential: CredentialAnswer): string => exactJson(credential)
