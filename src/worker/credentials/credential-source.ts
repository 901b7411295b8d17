/**
 * Credentials by name, as the control plane knows them. One for the whole worker.
 *
 * 1. A credential is kept for a moment, so that a loop does not ask for it with every iteration.
 * 2. Who asks for what is already being asked for, or made, waits for the same answer. A name that is not known is asked for
 *    anew each time.
 * 3. An answer that fails to come is asked for three times, then the failure is worth another try. A refusal is final.
 * 4. An entry of the keychain that is not there is made by its recipe, and handed to the control plane to be kept. An entry that
 *    needs itself, over however many others, is an error.
 * 5. A credential that the other side refused is not used again as long as there is a recipe for another one.
 * 6. What another worker is about to fetch is waited for, for a few seconds; then it is fetched here as well: the other one may
 *    have died.
 */
import { createHash, randomUUID } from 'node:crypto'

import type { ControlPlane, Credential } from '../../contract/command.ts'
import type { Json } from '../../contract/json.ts'
import type { KeychainRecipe } from '../../contract/keychain.ts'
import { ProblemError } from '../../contract/problem.ts'
import { backoffMs } from '../backoff.ts'
import type { Clock } from '../clock.ts'
import { type Log, silentLog } from '../log.ts'
import { configFailure, ToolFailure } from '../tool-failure.ts'
import { createKeptCredentials } from './kept-credentials.ts'
import type { MadeEntry, ResolveRecipe } from './recipe/resolve-recipe.ts'

export interface CredentialSource {
  /** Null when there is no credential of this name. Rejects with a ToolFailure, or with the reason of the abort. */
  find(executionId: string, alias: string, signal: AbortSignal): Promise<Credential | null>
  /** Asks anew next time: it may have been changed, or it was refused. */
  forget(executionId: string, alias: string): void
  /** Drops everything. */
  clear(): void
}

export interface CredentialSourceOptions {
  readonly controlPlane: Pick<ControlPlane, 'credential'> &
    Partial<Pick<ControlPlane, 'keychainRecipe' | 'keepKeychain'>>
  readonly clock: Clock
  /** Makes entries by their recipes; without it there are only those that are kept. */
  readonly resolve?: ResolveRecipe
  readonly log?: Log
}

const TRIES = 3
const TRY_MS = 10_000
const MOST_REFUSED = 200
/** When to look whether the other worker has done it. */
const LOOKS_MS = [200, 400, 800, 1_600, 2_000] as const
/** It may have been done between our first look and our turn. */
const ONE_LOOK = [0] as const

/** What the lookups of one question have gone through, outermost first. */
type Chain = readonly string[]

export const createCredentialSource = (options: CredentialSourceOptions): CredentialSource => {
  const { controlPlane, clock, resolve, log = silentLog } = options
  const kept = createKeptCredentials(clock)
  const asked = new Map<string, Promise<Credential | null>>()
  const making = new Map<string, Promise<MadeEntry>>()
  const holder = randomUUID()
  /** Fingerprints of what the other side refused, by name. */
  const refused = new Map<string, string>()

  const within = <Value>(ask: (signal: AbortSignal) => Promise<Value>): Promise<Value> =>
    new Promise((settle, reject) => {
      const controller = new AbortController()
      const cancel = clock.after(TRY_MS, () => {
        reject(new Error(`no answer within ${TRY_MS / 1000} seconds`))
        controller.abort()
      })
      ask(controller.signal).then(settle, reject).finally(cancel)
    })

  const persistently = async <Value>(alias: string, ask: () => Promise<Value>): Promise<Value> => {
    for (let failures = 1; ; failures += 1) {
      try {
        return await ask()
      } catch (error) {
        if (error instanceof ToolFailure && !error.error.retryable) throw error
        if (isRefusal(error)) throw refusedFailure(alias, error)
        if (failures >= TRIES) throw error instanceof ToolFailure ? error : unavailable(alias, error)
        await new Promise<void>((wake) => void clock.after(backoffMs(failures), wake))
      }
    }
  }

  const make = (recipe: KeychainRecipe, executionId: string, chain: Chain): Promise<MadeEntry> =>
    persistently(recipe.address.name, () =>
      (resolve as ResolveRecipe)(recipe, {
        find: (alias) => findInChain(executionId, alias, chain),
        signal: neverAborted,
      }),
    )

  /** Only outermost questions share: inner ones could wait for each other in a circle. */
  const makeShared = (recipe: KeychainRecipe, executionId: string, chain: Chain): Promise<MadeEntry> => {
    if (chain.length > 1) return make(recipe, executionId, chain)
    const key = JSON.stringify(recipe.address)
    const known = making.get(key)
    if (known !== undefined) return known
    const started = make(recipe, executionId, chain).finally(() => making.delete(key))
    making.set(key, started)
    return started
  }

  const keepAtServer = async ({ address, renew, entry }: KeychainRecipe, made: MadeEntry): Promise<void> => {
    if (made.keepSeconds === null || controlPlane.keepKeychain === undefined) return
    const renewConfig = renew?.config ?? renewConfigOf(entry)
    const toKeep = { address, data: made.data, expiresInSeconds: made.keepSeconds, renewConfig }
    try {
      await within(async (signal) => controlPlane.keepKeychain?.({ entry: toKeep, signal }))
    } catch (error) {
      // It can be used all the same; whoever needs it next makes another.
      log.warn({ err: error, keychain: address.name }, 'a keychain entry could not be kept')
    }
  }

  const lookUp = (executionId: string, alias: string): Promise<Credential | null> =>
    persistently(alias, () => within((signal) => controlPlane.credential({ executionId, alias, signal })))

  /** Whether the other side has not refused it. */
  const isUsable = (executionId: string, alias: string, found: Credential | null): found is Credential =>
    found !== null && fingerprint(found.data) !== refused.get(keyOf(executionId, alias))

  const fromOthers = async (
    executionId: string,
    alias: string,
    { isBeingMade }: KeychainRecipe,
  ): Promise<Credential | null> => {
    if (isBeingMade === undefined) return null
    for (const lookMs of isBeingMade ? LOOKS_MS : ONE_LOOK) {
      if (lookMs > 0) await new Promise<void>((wake) => void clock.after(lookMs, wake))
      const found = await lookUp(executionId, alias)
      if (isUsable(executionId, alias, found)) return found
    }
    return null
  }

  const fromRecipe = async (executionId: string, alias: string, chain: Chain): Promise<Credential | null> => {
    if (resolve === undefined || controlPlane.keychainRecipe === undefined) return null
    const recipe = await persistently(alias, () =>
      within(
        async (signal) =>
          (await controlPlane.keychainRecipe?.({ executionId, alias, holder, signal })) ?? null,
      ),
    )
    if (recipe === null) return null
    const others = await fromOthers(executionId, alias, recipe)
    if (others !== null) return others
    const made = await makeShared(recipe, executionId, chain)
    await keepAtServer(recipe, made)
    refused.delete(keyOf(executionId, alias))
    const lives = made.keepSeconds === null ? {} : { expiresInSeconds: made.keepSeconds }
    return { name: alias, type: made.type, data: made.data, ...lives }
  }

  const ask = async (executionId: string, alias: string, chain: Chain): Promise<Credential | null> => {
    const stored = await lookUp(executionId, alias)
    if (isUsable(executionId, alias, stored)) return stored
    return (await fromRecipe(executionId, alias, chain)) ?? stored
  }

  const findInChain = async (
    executionId: string,
    alias: string,
    chain: Chain,
  ): Promise<Credential | null> => {
    if (chain.includes(alias)) {
      throw configFailure(`It needs itself: ${[...chain, alias].join(' → ')}`, 'KEYCHAIN_CYCLE')
    }
    const key = keyOf(executionId, alias)
    const known = kept.get(key)
    if (known !== undefined) return known
    const found = await ask(executionId, alias, [...chain, alias])
    if (found !== null) kept.set(key, found)
    return found
  }

  const askShared = (key: string, executionId: string, alias: string): Promise<Credential | null> => {
    const known = asked.get(key)
    if (known !== undefined) return known
    const asking = ask(executionId, alias, [alias])
    asked.set(key, asking)
    const over = (): boolean => asked.get(key) === asking && asked.delete(key)
    asking.then(
      // What was forgotten while it was on its way may be the old one.
      (credential) => over() && credential !== null && kept.set(key, credential),
      over,
    )
    return asking
  }

  const remember = (key: string, credential: Credential): void => {
    refused.delete(key)
    refused.set(key, fingerprint(credential.data))
    const [oldest] = refused.keys()
    if (refused.size > MOST_REFUSED && oldest !== undefined) refused.delete(oldest)
  }

  return {
    async find(executionId, alias, signal) {
      signal.throwIfAborted()
      const key = keyOf(executionId, alias)
      return kept.get(key) ?? unlessAborted(askShared(key, executionId, alias), signal)
    },
    forget(executionId, alias) {
      const key = keyOf(executionId, alias)
      const known = kept.get(key)
      if (known !== undefined) remember(key, known)
      kept.delete(key)
      asked.delete(key)
    },
    clear() {
      kept.clear()
      asked.clear()
      refused.clear()
    },
  }
}

const neverAborted = new AbortController().signal

/** What a name means depends on the execution: its playbook may have a keychain. */
const keyOf = (executionId: string, alias: string): string => `${executionId}/${alias}`

/** Tells one secret from another without holding on to it. */
const fingerprint = (data: Json): string => createHash('sha256').update(JSON.stringify(data)).digest('base64')

const renewConfigOf = (entry: KeychainRecipe['entry']): KeychainRecipe['entry'] => {
  const config = entry?.['auto_renew'] === true ? entry['renew_config'] : null
  return typeof config === 'object' && config !== null && !Array.isArray(config)
    ? (config as KeychainRecipe['entry'])
    : null
}

const unlessAborted = <Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })

/** The control plane answered, and would answer the same again. */
const isRefusal = (error: unknown): error is ProblemError =>
  error instanceof ProblemError && error.code !== 'unavailable' && error.code !== 'internal'

const refusedFailure = (alias: string, problem: ProblemError): ToolFailure =>
  new ToolFailure(
    {
      kind: 'auth',
      code: 'CREDENTIAL_REFUSED',
      message: `The credential '${alias}' was refused: ${problem.message}`,
      retryable: false,
    },
    { cause: problem },
  )

const unavailable = (alias: string, error: unknown): ToolFailure =>
  new ToolFailure(
    {
      kind: 'connection',
      code: 'CREDENTIAL_UNAVAILABLE',
      message: `The credential '${alias}' could not be fetched: ${error instanceof Error ? error.message : String(error)}`,
      retryable: true,
    },
    { cause: error },
  )
