/**
 * Makes a keychain entry by its recipe.
 *
 * 1. Kinds: `static` (values in `map`), `bearer` (`token`), `credential` / `credential_ref` (a stored credential, its fields
 *    picked by `map`), `secret_manager` / `secrets` (paths of a provider in `map`), `oauth2` and `http` (a request),
 *    `google_id_token`.
 * 2. What costs nothing to make is made each time; what was fetched is worth keeping for as long as it lives, less a tenth (a
 *    minute at most), so that nobody gets a token that dies on the way.
 * 3. An entry that ran out is renewed by its own request if it has one. If that is refused, and the playbook declares the entry,
 *    it is made anew.
 * 4. A failure names the entry and repeats no secret.
 */
import type { Credential } from '../../../contract/command.ts'
import type { Json, JsonObject } from '../../../contract/json.ts'
import { isObject } from '../../../contract/json.ts'
import type { KeychainRecipe } from '../../../contract/keychain.ts'
import { recipeKind } from '../../../contract/keychain.ts'
import { durationMs } from '../../duration.ts'
import { configFailure, toToolError, ToolFailure } from '../../tool-failure.ts'
import { isGiven, textField, textOf } from '../../tools/coerce.ts'
import { credentialMalformed, credentialNotFound } from '../credential-failure.ts'
import { createMasker, type Masker } from '../masker.ts'
import type { SecretProviders } from '../providers/providers.ts'
import { fetchGoogleIdToken } from './google-id-token.ts'
import { renderEntry } from './render-entry.ts'
import { type FetchedToken, fetchToken } from './token-request.ts'

export interface MadeEntry {
  readonly type: string
  readonly data: Json
  /** How long it is worth keeping; null when it is made each time. */
  readonly keepSeconds: number | null
}

export interface RecipeNames {
  /** Another entry or credential; null when there is none. */
  find(alias: string): Promise<Credential | null>
  readonly signal: AbortSignal
}

export type ResolveRecipe = (recipe: KeychainRecipe, names: RecipeNames) => Promise<MadeEntry>

export interface RecipeOptions {
  readonly providers: SecretProviders
  readonly now: () => number
}

const SECRET_SECONDS = 3_600
const MARGIN = { share: 0.1, mostSeconds: 60 }

const keepFor = (seconds: number): number =>
  Math.max(1, Math.floor(seconds - Math.min(MARGIN.mostSeconds, seconds * MARGIN.share)))

const fetched = ({ data, expiresInSeconds }: FetchedToken): MadeEntry => ({
  type: 'keychain',
  data,
  keepSeconds: keepFor(expiresInSeconds),
})

const mapOf = (entry: JsonObject): JsonObject => {
  const map = entry['map'] ?? entry['data'] ?? entry['values']
  if (isObject(map)) return map
  throw configFailure('`map` must be a mapping of fields to values')
}

const mapped = (alias: string, { type, data }: Credential, map: Json | undefined): Json => {
  if (!isGiven(map)) return data
  if (!isObject(map)) throw configFailure('`map` must be a mapping of fields to fields')
  return Object.fromEntries(
    Object.entries(map).map(([field, source]): [string, Json] => {
      const name = textOf(source) ?? ''
      if (isObject(data) && Object.hasOwn(data, name)) return [field, data[name] ?? null]
      throw credentialMalformed(alias, type, `has no field '${name}'`)
    }),
  )
}

type Make = (entry: JsonObject, names: RecipeNames, options: RecipeOptions) => Promise<MadeEntry>

const makeStatic: Make = async (entry) => ({ type: 'keychain', data: mapOf(entry), keepSeconds: null })

const makeBearer: Make = async (entry) => {
  const fields = isObject(entry['map']) ? { ...entry, ...entry['map'] } : entry
  const token = textField(fields, 'token', 'access_token', 'bearer_token')
  if (token === null) throw configFailure('`token` is missing')
  return { type: 'bearer', data: { token }, keepSeconds: null }
}

const needCredential = async (alias: string, { find }: RecipeNames): Promise<Credential> => {
  const credential = await find(alias)
  if (credential === null) throw credentialNotFound(alias)
  return credential
}

const makeCredential: Make = async (entry, names) => {
  const alias = textField(entry, 'credential', 'auth', 'ref', 'credential_name', 'key')
  if (alias === null) throw configFailure('`credential` must name a stored credential')
  // A stored one of its own name would have been found before this entry.
  if (alias === entry['name']) throw credentialNotFound(alias)
  const credential = await needCredential(alias, names)
  return { type: credential.type, data: mapped(alias, credential, entry['map']), keepSeconds: null }
}

const makeSecrets: Make = async (entry, names, { providers }) => {
  const provider = providers.get(textField(entry, 'provider') ?? 'credential', (alias) => names.find(alias))
  const alias = textField(entry, 'auth', 'credential')
  const auth = alias === null ? null : (await needCredential(alias, names)).data
  const options = { ...entry, ...(auth === null ? {} : { auth }) }
  const path = textField(entry, 'path', 'secret', 'secret_name')
  const ask = (each: string): Promise<Json> => provider({ path: each, options, signal: names.signal })
  const data =
    !isGiven(entry['map']) && path !== null
      ? await ask(path)
      : Object.fromEntries(
          await Promise.all(
            Object.entries(mapOf(entry)).map(
              async ([field, each]) => [field, await ask(textOf(each) ?? '')] as const,
            ),
          ),
        )
  const seconds = (durationMs(entry['ttl'] ?? entry['ttl_seconds'], 'ttl') ?? SECRET_SECONDS * 1000) / 1000
  return { type: 'keychain', data: isObject(data) ? data : { value: data }, keepSeconds: keepFor(seconds) }
}

const makeToken: Make = async (entry, { signal }, { providers: { fetch } }) =>
  fetched(await fetchToken(entry, { fetch, signal }))

const makeGoogleToken: Make = async (entry, names, { now, providers: { fetch } }) => {
  const alias = textField(entry, 'auth', 'credential')
  const account = alias === null ? null : (await needCredential(alias, names)).data
  return fetched(await fetchGoogleIdToken(entry, account, now(), { fetch, signal: names.signal }))
}

const KINDS: Readonly<Record<string, Make>> = {
  static: makeStatic,
  bearer: makeBearer,
  credential: makeCredential,
  credential_ref: makeCredential,
  secret_manager: makeSecrets,
  secrets: makeSecrets,
  secret: makeSecrets,
  oauth2: makeToken,
  http: makeToken,
  google_id_token: makeGoogleToken,
}

const makeDeclared = async (
  { address, entry, variables }: KeychainRecipe,
  names: RecipeNames,
  options: RecipeOptions,
): Promise<MadeEntry> => {
  if (entry === null) throw credentialNotFound(address.name)
  const kind = recipeKind(entry)
  const make = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined
  if (make === undefined) {
    throw configFailure(`there is no kind "${kind}". There are: ${Object.keys(KINDS).join(', ')}.`)
  }
  const { renew_config: _renewal, ...own } = entry
  return make(await renderEntry(own, { variables, find: (alias) => names.find(alias) }), names, options)
}

/** The entry's own old data is what its name stands for; what the answer does not repeat stays. */
const renew = async (
  recipe: KeychainRecipe,
  names: RecipeNames,
  { fetch }: SecretProviders,
): Promise<MadeEntry> => {
  const { config, data } = recipe.renew ?? { config: {}, data: null }
  const { name } = recipe.address
  const find = (alias: string): Promise<Credential | null> =>
    alias === name ? Promise.resolve({ name, type: 'keychain', data }) : names.find(alias)
  const rendered = await renderEntry(config, { variables: recipe.variables, find })
  const token = await fetchToken(rendered, { fetch, signal: names.signal })
  return fetched({ ...token, data: { ...(isObject(data) ? data : {}), ...token.data } })
}

/** Refusals; an answer that fails to come is worth another try instead. */
const isFinal = (thrown: unknown): boolean => thrown instanceof ToolFailure && !thrown.error.retryable

const named = (thrown: unknown, name: string, masker: Masker): ToolFailure => {
  const error = toToolError(thrown)
  const { traceback: _traceback, ...told } = error
  const message = masker.text(`The keychain entry '${name}' could not be made: ${error.message}`)
  return new ToolFailure({ ...told, message }, { cause: thrown })
}

export const createRecipeResolver = (options: RecipeOptions): ResolveRecipe => {
  const make = async (recipe: KeychainRecipe, names: RecipeNames): Promise<MadeEntry> => {
    if (recipe.renew === null) return makeDeclared(recipe, names, options)
    try {
      return await renew(recipe, names, options.providers)
    } catch (thrown) {
      if (recipe.entry === null || !isFinal(thrown)) throw thrown
      return makeDeclared(recipe, names, options)
    }
  }
  return async (recipe, names) => {
    const masker = createMasker()
    masker.hide(recipe.renew?.data ?? null)
    const find = async (alias: string): Promise<Credential | null> => {
      const credential = await names.find(alias)
      masker.hide(credential?.data ?? null)
      return credential
    }
    try {
      return await make(recipe, { ...names, find })
    } catch (thrown) {
      throw named(thrown, recipe.address.name, masker)
    }
  }
}
