import { describe, expect, test } from 'vitest'

import type { ControlPlane, Credential } from '../../contract/command.ts'
import { ProblemError } from '../../contract/problem.ts'
import { createHandClock } from '../test-support.ts'
import type { ToolFailure } from '../tool-failure.ts'
import { createCredentialSource } from './credential-source.ts'
import { createVault } from './test-support.ts'

const { signal } = new AbortController()

const KEY = { type: 'bearer', data: { token: 'abc' } }

describe('keeping', () => {
  test('a credential is asked for once in half a minute, then dropped also if nobody asks (rule 1)', async () => {
    const { clock, advance, timerCount } = createHandClock()
    const { source, asked } = createVault({ key: KEY }, clock)
    expect(await source.find('1', 'key', signal)).toEqual({ name: 'key', ...KEY })
    await source.find('1', 'key', signal)
    expect(asked).toEqual(['key'])
    expect(timerCount()).toBe(1)
    await advance(30_001)
    expect(timerCount()).toBe(0)
    await source.find('1', 'key', signal)
    expect(asked).toEqual(['key', 'key'])
    source.clear()
    expect(timerCount()).toBe(0)
  })

  test('another execution asks for itself, and so does who was told to forget', async () => {
    const { source, asked } = createVault({ key: KEY })
    await source.find('1', 'key', signal)
    await source.find('2', 'key', signal)
    source.forget('1', 'key')
    await source.find('1', 'key', signal)
    await source.find('2', 'key', signal)
    expect(asked).toHaveLength(3)
    source.clear()
  })

  test('at most 200 are kept, the newest', async () => {
    const stored = Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`k${index}`, KEY]))
    const { source, asked } = createVault(stored)
    for (const alias of Object.keys(stored)) await source.find('1', alias, signal)
    await source.find('1', 'k200', signal)
    expect(asked).toHaveLength(201)
    await source.find('1', 'k0', signal)
    expect(asked).toHaveLength(202)
    source.clear()
  })

  test('who asks meanwhile waits for the same answer; an unknown name is asked for each time (rule 2)', async () => {
    const { source, asked } = createVault({ key: KEY })
    await Promise.all([source.find('1', 'key', signal), source.find('1', 'key', signal)])
    expect(asked).toEqual(['key'])
    expect(await source.find('1', 'nope', signal)).toBeNull()
    expect(await source.find('1', 'nope', signal)).toBeNull()
    expect(asked).toEqual(['key', 'nope', 'nope'])
    source.clear()
  })
})

describe('an answer that does not come', () => {
  const failing = (answer: (tries: number) => Promise<Credential | null>) => {
    const time = createHandClock()
    let tries = 0
    const controlPlane: Pick<ControlPlane, 'credential'> = { credential: () => answer((tries += 1)) }
    const source = createCredentialSource({ controlPlane, clock: time.clock })
    return { ...time, source, tries: () => tries }
  }
  const broken = new ProblemError('unavailable', 'No answer from http://server')

  test('is asked for three times, then the failure is worth another try (rule 3)', async () => {
    const { source, advance, tries } = failing(() => Promise.reject(broken))
    const found = source.find('1', 'key', signal).catch((error: unknown) => error)
    await advance(0)
    await advance(1000)
    await advance(1000)
    expect(tries()).toBe(3)
    expect((await found) as ToolFailure).toMatchObject({
      error: {
        kind: 'connection',
        code: 'CREDENTIAL_UNAVAILABLE',
        message: "The credential 'key' could not be fetched: No answer from http://server",
        retryable: true,
      },
    })
  })

  test('may come with a later try', async () => {
    const { source, advance } = failing((tries) =>
      tries < 3 ? Promise.reject(broken) : Promise.resolve({ name: 'key', ...KEY }),
    )
    const found = source.find('1', 'key', signal)
    await advance(0)
    await advance(1000)
    await advance(1000)
    expect(await found).toMatchObject(KEY)
    source.clear()
  })

  test('is given up after ten seconds each', async () => {
    const { source, advance } = failing(() => new Promise(() => undefined))
    const found = source.find('1', 'key', signal).catch((error: unknown) => error)
    for (let round = 0; round < 5; round += 1) await advance(10_000)
    expect(String(await found)).toContain('no answer within 10 seconds')
  })

  test('does not hold up who is aborted', async () => {
    const { source } = failing(() => new Promise(() => undefined))
    const controller = new AbortController()
    const found = source.find('1', 'key', controller.signal).catch((error: unknown) => error)
    controller.abort(new Error('enough'))
    expect(await found).toEqual(new Error('enough'))
  })

  test('is not waited for when it is a refusal', async () => {
    const { source, tries } = failing(() => Promise.reject(new ProblemError('bad_request', 'Not for you')))
    const found = await source.find('1', 'key', signal).catch((error: unknown) => error)
    expect(tries()).toBe(1)
    expect(found).toMatchObject({ error: { kind: 'auth', code: 'CREDENTIAL_REFUSED', retryable: false } })
  })
})
