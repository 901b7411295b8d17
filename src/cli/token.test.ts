import { expect, test } from 'vitest'
import type { TokenRequest, Tokens } from '../client/access.ts'
import type { TokenAnswer } from '../contract/answers-access.ts'
import { createRecordingTerminal } from './testing/recording-terminal.ts'
import { parseExpiry, runToken } from './token.ts'

const A_TOKEN: TokenAnswer = {
  id: '3',
  name: 'ci',
  role: 'operator',
  status: 'active',
  created_at: '2026-01-02T03:04:05.000Z',
  created_by: 'local',
  expires_at: null,
  last_used_at: '2026-02-03T04:05:06.000Z',
  revoked_at: null,
  revoked_by: null,
}

const tokens = (list: readonly TokenAnswer[] = [A_TOKEN], asked: TokenRequest[] = []): Tokens => ({
  create: async (request) => {
    asked.push(request)
    return { ...A_TOKEN, token: 'noetl_3_secret' }
  },
  list: async () => list,
  revoke: async () => ({ ...A_TOKEN, status: 'revoked' }),
})

test.each([
  ['90d', 7_776_000],
  ['12H', 43_200],
  ['30m', 1800],
  ['45s', 45],
  ['2w', 1_209_600],
])('%s is %i seconds', (text, seconds) => {
  expect(parseExpiry(text)).toBe(seconds)
})

test.each(['', '90', 'd', '0d', '-1d', '1y', '1.5d', '99999d', 'tomorrow'])(
  '%j is refused as an expiry',
  (text) => {
    expect(() => parseExpiry(text)).toThrow(/such as 90d/)
  },
)

test('a new token is shown, with what it is', async () => {
  const terminal = createRecordingTerminal()
  const asked: TokenRequest[] = []
  const flags = { verb: 'create', name: 'ci', role: 'operator', expires: '1h', json: false } as const
  expect(await runToken(flags, tokens([], asked), terminal)).toBe(0)
  expect(asked).toEqual([{ name: 'ci', role: 'operator', expiresInSeconds: 3600 }])
  expect(terminal.written()).toBe(
    "Token 3, 'ci' (operator), does not expire. It is shown this once:\nnoetl_3_secret\n",
  )
})

test('tokens are listed in columns', async () => {
  const terminal = createRecordingTerminal()
  await runToken({ verb: 'list', includeRevoked: false, json: false }, tokens(), terminal)
  expect(terminal.written()).toBe(
    [
      'id  name  role      status  created     expires  last used',
      '3   ci    operator  active  2026-01-02  never    2026-02-03 04:05',
      '',
    ].join('\n'),
  )
})

test('where there are none, it is said how to make one', async () => {
  const terminal = createRecordingTerminal()
  await runToken({ verb: 'list', includeRevoked: false, json: false }, tokens([]), terminal)
  expect(terminal.written()).toContain('noetl token create')
})

test('with --json there is one document (2)', async () => {
  const terminal = createRecordingTerminal()
  await runToken({ verb: 'revoke', id: '3', json: true }, tokens(), terminal)
  expect(JSON.parse(terminal.written())).toMatchObject({ id: '3', status: 'revoked' })
})
