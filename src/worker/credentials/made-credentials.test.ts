/** Credentials that have to be made first: by recipes of the control plane. */
import { describe, expect, test } from 'vitest'

import type { Credential } from '../../contract/command.ts'
import type { Json } from '../../contract/json.ts'
import type { KeychainEntry, KeychainRecipe } from '../../contract/keychain.ts'
import { createHandClock, settle } from '../test-support.ts'
import { ToolFailure } from '../tool-failure.ts'
import { createCredentialSource } from './credential-source.ts'
import type { ResolveRecipe } from './recipe/resolve-recipe.ts'

const { signal } = new AbortController()

interface Bench {
  readonly resolve: ResolveRecipe
  /** Names of the entries that have a recipe, with their scope. */
  readonly declared: Readonly<Record<string, 'local' | 'global'>>
  readonly stored?: Readonly<Record<string, Json>>
  readonly keep?: (entry: KeychainEntry) => Promise<void>
  /** Another worker is at it. */
  readonly isBeingMade?: boolean
}

const bench = ({ resolve, declared, stored = {}, keep, ...turn }: Bench) => {
  const time = createHandClock()
  const kept: KeychainEntry[] = []
  const warnings: string[] = []
  const recipeOf = (executionId: string, name: string): KeychainRecipe | null => {
    const scope = declared[name]
    if (scope === undefined) return null
    const address = { name, catalogId: '7', scope, executionId: scope === 'local' ? executionId : null }
    return { address, entry: { name }, variables: {}, renew: null, ...turn }
  }
  const source = createCredentialSource({
    clock: time.clock,
    resolve,
    log: { debug() {}, info() {}, error() {}, warn: (_fields, message) => void warnings.push(message) },
    controlPlane: {
      credential: ({ alias }) => {
        const data = kept.findLast((entry) => entry.address.name === alias)?.data ?? stored[alias]
        return Promise.resolve(data === undefined ? null : { name: alias, type: 'generic', data })
      },
      keychainRecipe: ({ executionId, alias }) => Promise.resolve(recipeOf(executionId, alias)),
      keepKeychain:
        keep === undefined
          ? ({ entry }) => Promise.resolve(void kept.push(entry))
          : ({ entry }) => keep(entry),
    },
  })
  return { source, kept, warnings, ...time }
}

/** Makes tokens with a number that grows. */
const counting = (keepSeconds: number | null = 60) => {
  const made: string[] = []
  const resolve: ResolveRecipe = async ({ address }) => {
    made.push(address.name)
    return { type: 'keychain', data: { token: `${address.name}-${made.length}` }, keepSeconds }
  }
  return { resolve, made }
}

const tokenOf = (credential: Credential | null): unknown =>
  (credential?.data as { token?: unknown } | null)?.token

describe('an entry that is not there (rule 4)', () => {
  test('is made once for all who wait, and handed over to be kept', async () => {
    const { resolve, made } = counting()
    const { source, kept } = bench({ resolve, declared: { key: 'global' } })
    const found = await Promise.all([
      source.find('1', 'key', signal),
      source.find('1', 'key', signal),
      source.find('2', 'key', signal),
    ])
    expect(found.map(tokenOf)).toEqual(['key-1', 'key-1', 'key-1'])
    expect(made).toEqual(['key'])
    expect(kept[0]).toEqual({
      address: { name: 'key', catalogId: '7', scope: 'global', executionId: null },
      data: { token: 'key-1' },
      expiresInSeconds: 60,
      renewConfig: null,
    })
    source.clear()
  })

  test('belongs to its run where its scope says so', async () => {
    const { resolve, made } = counting(null)
    const { source, kept } = bench({ resolve, declared: { key: 'local' } })
    await Promise.all([source.find('1', 'key', signal), source.find('2', 'key', signal)])
    expect(made).toEqual(['key', 'key'])
    expect(kept).toEqual([])
    source.clear()
  })

  test('is used no longer than it lives', async () => {
    const { resolve, made } = counting(5)
    const { source, advance } = bench({ resolve, declared: { key: 'global' }, keep: () => Promise.resolve() })
    await source.find('1', 'key', signal)
    await advance(4_000)
    await source.find('1', 'key', signal)
    expect(made).toHaveLength(1)
    await advance(1_000)
    await source.find('1', 'key', signal)
    expect(made).toHaveLength(2)
    source.clear()
  })

  test('can be used also when it could not be kept', async () => {
    const { resolve } = counting()
    const { source, warnings } = bench({
      resolve,
      declared: { key: 'global' },
      keep: () => Promise.reject(new Error('full')),
    })
    expect(tokenOf(await source.find('1', 'key', signal))).toBe('key-1')
    expect(warnings).toEqual(['a keychain entry could not be kept'])
    source.clear()
  })

  test('stays away when nothing says how to make it', async () => {
    const { source } = bench({ ...counting(), declared: {} })
    expect(await source.find('1', 'key', signal)).toBeNull()
  })

  test('is tried three times when that may help, and once when it cannot', async () => {
    const tries: string[] = []
    const fail = (name: string, retryable: boolean): never => {
      tries.push(name)
      throw new ToolFailure({ kind: 'x', code: 'X', message: 'no', retryable })
    }
    const { source, advance } = bench({
      declared: { weak: 'global', wrong: 'global' },
      resolve: async ({ address: { name } }) => fail(name, name === 'weak'),
    })
    const weak = source.find('1', 'weak', signal).catch((error: unknown) => error)
    for (let round = 0; round < 4; round += 1) await advance(2_000)
    expect(await weak).toMatchObject({ error: { code: 'X', retryable: true } })
    await source.find('1', 'wrong', signal).catch(() => undefined)
    expect(tries).toEqual(['weak', 'weak', 'weak', 'wrong'])
  })
})

describe('entries that need each other (rule 4)', () => {
  /** Each entry needs the ones named here. */
  const needing =
    (needs: Readonly<Record<string, readonly string[]>>): ResolveRecipe =>
    async ({ address: { name } }, { find }) => {
      for (const each of needs[name] ?? []) await find(each)
      return { type: 'keychain', data: { token: name }, keepSeconds: 60 }
    }

  test('are made from the inside out', async () => {
    const resolve = needing({ token: ['client'], client: ['stored'] })
    const { source, kept } = bench({
      resolve,
      declared: { token: 'global', client: 'global' },
      stored: { stored: { token: 's' } },
    })
    expect(tokenOf(await source.find('1', 'token', signal))).toBe('token')
    expect(kept.map(({ address }) => address.name)).toEqual(['client', 'token'])
    source.clear()
  })

  test('in a circle are an error that shows it, whoever asks and however many at once', async () => {
    const { source } = bench({
      resolve: needing({ a: ['b'], b: ['a'] }),
      declared: { a: 'global', b: 'global' },
    })
    const asking = ['a', 'b'].map((alias) => source.find('1', alias, signal).catch((error: unknown) => error))
    const [first, second] = await Promise.all(asking)
    expect(first).toMatchObject({ error: { code: 'KEYCHAIN_CYCLE', message: 'It needs itself: a → b → a' } })
    expect(second).toMatchObject({ error: { code: 'KEYCHAIN_CYCLE', message: 'It needs itself: b → a → b' } })
  })
})

describe('a credential that was refused (rule 5)', () => {
  test('is made anew, once for all who were refused the same', async () => {
    const { resolve, made } = counting()
    const { source } = bench({ resolve, declared: { key: 'global' } })
    await source.find('1', 'key', signal)
    await source.find('2', 'key', signal)
    source.forget('1', 'key')
    expect(tokenOf(await source.find('1', 'key', signal))).toBe('key-2')
    source.forget('2', 'key')
    // Somebody has made another one meanwhile: that one is tried first.
    expect(tokenOf(await source.find('2', 'key', signal))).toBe('key-2')
    expect(made).toHaveLength(2)
    source.clear()
  })

  test('is used all the same when there is no recipe for another', async () => {
    const { source } = bench({ ...counting(), declared: {}, stored: { key: { token: 'fixed' } } })
    await source.find('1', 'key', signal)
    source.forget('1', 'key')
    expect(tokenOf(await source.find('1', 'key', signal))).toBe('fixed')
    source.clear()
    await settle()
  })
})

describe('an entry that another worker is about to make (rule 6)', () => {
  const waiting = (stored: Record<string, Json>) => {
    const { resolve, made } = counting()
    const time = bench({ resolve, declared: { key: 'global' }, stored, isBeingMade: true })
    const found = time.source.find('1', 'key', signal)
    return { ...time, made, found }
  }

  test('is taken over as soon as it is there', async () => {
    const stored: Record<string, Json> = {}
    const { found, made, advance } = waiting(stored)
    await settle()
    await advance(200)
    stored['key'] = { token: 'theirs' }
    await advance(400)
    expect(tokenOf(await found)).toBe('theirs')
    expect(made).toEqual([])
  })

  test('is made here after all when it does not come', async () => {
    const { found, made, advance } = waiting({})
    for (const _ of Array.from({ length: 6 })) {
      await settle()
      await advance(2_000)
    }
    expect(tokenOf(await found)).toBe('key-1')
    expect(made).toEqual(['key'])
  })
})
