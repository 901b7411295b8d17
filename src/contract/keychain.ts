/**
 * Keychain entries that have to be made before they can be used: what a worker is told to make one, and what it hands back
 * to be kept.
 */
import type { Json, JsonObject } from './json.ts'

/** Where an entry is kept, and so who shares it. */
export interface KeychainAddress {
  readonly name: string
  readonly catalogId: string
  readonly scope: 'local' | 'global' | 'shared'
  /** The execution it belongs to; null in the global scope. */
  readonly executionId: string | null
}

/** How to make an entry that is not there, or not any more. At least one of `entry` and `renew` is there. */
export interface KeychainRecipe {
  readonly address: KeychainAddress
  /** The entry as its playbook declares it, with its templates; null for one that came through the API. */
  readonly entry: JsonObject | null
  /** What templates of the entry read besides other entries. */
  readonly variables: JsonObject
  /** How to renew an entry that ran out, and what it was. */
  readonly renew: { readonly config: JsonObject; readonly data: Json } | null
  /** True while another worker is at it; false when it is for the one who asked; absent when it costs nothing to make. */
  readonly isBeingMade?: boolean
}

/** An entry that does not say what it is, is what its fields are for. */
export const recipeKind = (entry: JsonObject): string => {
  const word = [entry['kind'], entry['type']].find((each) => typeof each === 'string' && each !== '')
  if (typeof word === 'string') return word.toLowerCase()
  const has = (field: string): boolean => entry[field] !== undefined && entry[field] !== null
  if (has('endpoint')) return 'oauth2'
  if (has('provider')) return 'secret_manager'
  return has('map') ? 'static' : 'credential'
}

const FETCHED: ReadonlySet<string> = new Set([
  'oauth2',
  'http',
  'google_id_token',
  'secret_manager',
  'secrets',
  'secret',
])

/** Whether making it means asking others, so that one should do it for all. */
export const isFetched = ({ entry, renew }: Pick<KeychainRecipe, 'entry' | 'renew'>): boolean =>
  renew !== null || (entry !== null && FETCHED.has(recipeKind(entry)))

/** An entry that was made. */
export interface KeychainEntry {
  readonly address: KeychainAddress
  readonly data: Json
  readonly expiresInSeconds: number
  /** Kept with it, for the next time it runs out. */
  readonly renewConfig: JsonObject | null
}
