/** Whatever is sent to the routes of secrets, variables, results and runtimes, the server answers, never with a 500. */
import { beforeAll, expect, test } from 'vitest'
import { INTERNAL_TOKEN } from '../../../test/support/api-server.ts'
import { single } from '../../../test/support/playbooks.ts'
import { useApiServer } from '../../../test/support/server-file.ts'

const server = useApiServer()
let catalogId: string

beforeAll(async () => {
  catalogId = await server().register(single('tests/hostile'))
})

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

/** Values for any place in a body, as JSON text. */
const VALUES: readonly string[] = [
  'null',
  'true',
  '""',
  '"\\u0000"',
  '"\\ud800"',
  '"a\\udfff\\u0000b"',
  '-0',
  '1e400',
  '-1e400',
  '1e-400',
  '123456789012345678901234567890',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775809',
  '0.1',
  '[]',
  '{}',
  '{"":{"":""}}',
  '{"\\u0000":"\\ud800"}',
  '{"__proto__":{"a":1}}',
  '{"constructor":{"prototype":1}}',
  '"2026-13-45T99:99:99Z"',
  '"0000-01-01T00:00:00Z"',
  '"9999-12-31T23:59:59+14:00"',
  nested(400),
  nested(5000),
  JSON.stringify('x'.repeat(100_000)),
  JSON.stringify(Array.from({ length: 10_000 }, (_, n) => n)),
]

const KEYS: readonly string[] = [
  'name',
  'type',
  'data',
  'schema',
  'meta',
  'tags',
  'description',
  'scope_type',
  'execution_id',
  'expires_at',
  'expires_in',
  'cache_type',
  'renew_config',
  'auto_renew',
  'variables',
  'var_type',
  'source_step',
  'scope',
  'ttl',
  'uri',
  'media_type',
  'kind',
  'labels',
  'capabilities',
  'capacity',
  'runtime',
  'status',
  'registration',
  'batch_size',
  'max_batches',
  'ref',
]

const places = (): readonly (readonly ['POST' | 'PUT' | 'DELETE', string])[] => [
  ['POST', '/api/credentials'],
  ['POST', `/api/keychain/${catalogId}/token`],
  ['POST', '/api/vars/77'],
  ['PUT', '/api/result/77'],
  ['PUT', '/api/temp/77'],
  ['POST', '/api/result/resolve'],
  ['POST', '/api/worker/pool/register'],
  ['POST', '/api/worker/pool/heartbeat'],
  ['POST', '/api/worker/pool/deregister'],
  ['DELETE', '/api/worker/pool/deregister'],
  ['POST', '/api/internal/wallet/rotate-kek'],
]

const sendAll = async (bodies: readonly string[]): Promise<readonly string[]> => {
  const broken: string[] = []
  for (const [method, path] of places()) {
    const answers = await Promise.all(
      bodies.map(async (body) => ({
        ...(await server().send(method, path, body, { authorization: `Bearer ${INTERNAL_TOKEN}` })),
        sent: body,
      })),
    )
    for (const { status, sent, text } of answers)
      if (status >= 500) broken.push(`${method} ${path} ${sent.slice(0, 120)} -> ${text}`)
  }
  return broken
}

test('a body that is only a hostile value', async () => {
  expect(await sendAll([...VALUES, '', '{', '{"a":1,"a":2}', 'nul', '\ud800'])).toEqual([])
})

test.each(KEYS)('a hostile value for %s beside sound ones', async (key) => {
  const sound: Readonly<Record<string, unknown>> = {
    name: 'n',
    data: {},
    variables: [],
    ref: 'noetl://execution/1/result/n/1',
  }
  const others = Object.entries(sound)
    .filter(([name]) => name !== key)
    .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
  expect(await sendAll(VALUES.map((value) => `{${[...others, `"${key}":${value}`].join()}}`))).toEqual([])
})

test('hostile paths and queries', async () => {
  const words = [
    '%00',
    '%ED%A0%80',
    '%FF',
    '..',
    '%2e%2e%2f',
    '%',
    'x'.repeat(3000),
    '9223372036854775808',
    '-1',
    "'",
    '%25',
    '%22%3B--',
    '__proto__',
    'NaN',
    '0x10',
    '1e3',
  ]
  const paths = words.flatMap((word) => [
    `/api/credentials/${word}`,
    `/api/credentials/${word}?include_data=true&execution_id=1`,
    `/api/credentials/${word}/sealed?worker_id=${word}`,
    `/api/credentials?type=${word}&q=${word}`,
    `/api/keychain/${word}/${word}`,
    `/api/keychain/${catalogId}/${word}?scope_type=${word}&execution_id=${word}`,
    `/api/keychain/catalog/${word}`,
    `/api/vars/${word}`,
    `/api/vars/1/${word}`,
    `/api/result/${word}/list`,
    `/api/result/1/${word}`,
    `/api/result/1/list?step_name=${word}&limit=${word}`,
    `/api/result/resolve?ref=${word}`,
    `/api/result/resolve?ref=noetl://execution/${word}/result/${word}/${word}`,
    `/api/result/resolve?ref=noetl://a/b/results/1/${word}/0/0/0`,
    `/api/worker/pools?kind=${word}`,
    `/api/worker/pools?name=${word}&status=${word}`,
    `/api/runtime/shard-info?execution_id=${word}&shard_count=${word}`,
  ])
  const broken: string[] = []
  for (const path of paths) {
    for (const method of ['GET', 'DELETE'] as const) {
      const { status, text } = await server().send(method, path)
      if (status >= 500) broken.push(`${method} ${path.slice(0, 120)} -> ${text}`)
    }
  }
  expect(broken).toEqual([])
})

test('ten thousand variables at once are fine, one more is not', async () => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`v${n}`, n]))
  expect((await server().post('/api/vars/78', many(10_000))).body).toMatchObject({ variables_set: 10_000 })
  expect((await server().post('/api/vars/78', many(10_001))).status).toBe(422)
})
