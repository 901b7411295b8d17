import { expect, test } from 'vitest'
import type { Json } from '../../contract/json.ts'
import { createCommandSecrets, runMasked } from '../credentials/command-secrets.ts'
import { createMasker } from '../credentials/masker.ts'
import { maskLarge } from './mask-large.ts'

const SECRET = 'correct-horse"battery'

const masker = createMasker()
masker.hide({ password: SECRET })

const maskedText = async (text: string): Promise<string> =>
  Buffer.from((await maskLarge(masker, { json: new TextEncoder().encode(text) })).json).toString()

test('large data is masked like any other: in texts, in keys and in the forms a secret travels in', async () => {
  const data: Json = {
    [SECRET]: [`a ${SECRET} b`, `Basic ${Buffer.from(`user:${SECRET}`).toString('base64')}`],
    rows: Array.from({ length: 30_000 }, (_, id) => ({
      id,
      text: id % 7000 === 6999 ? SECRET : 'x'.repeat(60),
    })),
  }
  const masked = await maskedText(JSON.stringify(data))
  expect(masked).toBe(JSON.stringify(masker.value(data)))
  expect(masked).not.toContain('correct-horse')
})

test('a result with large data leaves the worker masked, and what cannot be masked does not leave it', async () => {
  const source = {
    find: () => Promise.resolve({ name: 'db', type: 'postgres', data: { password: SECRET } }),
    forget: () => undefined,
    clear: () => undefined,
  }
  const run = (text: string) => {
    const secrets = createCommandSecrets(source, '1')
    return runMasked(
      secrets,
      () => undefined,
      async () => {
        await secrets.load(['db'], new AbortController().signal)
        return { outcome: 'ok', large: { json: new TextEncoder().encode(text) }, stdout: `it is ${SECRET}` }
      },
    )
  }
  const { large, stdout } = await run(JSON.stringify([SECRET, 'x']))
  expect(Buffer.from(large?.json ?? []).toString()).toBe('["[REDACTED]","x"]')
  expect(stdout).toBe('it is [REDACTED]')
  expect(await run(`[${JSON.stringify(SECRET)}`)).toMatchObject({ outcome: 'error' })
  expect(JSON.stringify(await run(`[${JSON.stringify(SECRET)}`))).not.toContain('correct-horse')
})
