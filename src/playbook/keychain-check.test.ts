import { describe, expect, test } from 'vitest'

import { parsePlaybook } from './parse.ts'

const parse = (keychain: string, start = '{kind: noop}') =>
  parsePlaybook(`apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: t, path: t}
workload: {shop: main}
keychain:
${keychain}
workflow:
  - step: start
    tool: ${start}
`)

const problemsOf = (result: ReturnType<typeof parse>) => (result.ok ? result.warnings : result.problems)

test('entries that read the workload and each other are fine', () => {
  const result = parse(`
  - {name: client, kind: credential, credential: "{{ workload.shop }}_client"}
  - {name: token, kind: oauth2, endpoint: "https://x/{{ shop }}", data: {id: "{{ keychain.client.id }}"}, auto_renew: true,
     renew_config: {endpoint: "https://x/renew", data: {refresh_token: "{{ keychain.token.refresh_token }}"}}}`)
  expect(problemsOf(result)).toEqual([])
})

test('a template that does not compile is an error at its place (rule 1)', () => {
  const result = parse('  - {name: a, kind: static, map: {x: "{{ 1 + }}"}}')
  expect(result).toMatchObject({
    ok: false,
    problems: [{ code: 'KEYCHAIN_TEMPLATE', line: 6, severity: 'error' }],
  })
})

test.each([
  ['{name: a, kind: static, map: {x: "{{ start.token }}"}}', 'keychain-scope', "reads the step 'start'"],
  ['{name: a, kind: static, map: {x: "{{ shpo }}"}}', 'unknown-name', "'shpo' is not defined"],
  ['{name: a, kind: outh2, endpoint: "https://x"}', 'keychain-kind', 'oauth2'],
  ['{name: a, kind: oauth2}', 'keychain-endpoint', "no 'endpoint'"],
])('%s is worth a word (rules 1 and 2)', (entry, code, message) => {
  const result = parse(`  - ${entry}`)
  expect(result.ok).toBe(true)
  expect(problemsOf(result)).toMatchObject([{ code, message: expect.stringContaining(message) as string }])
})

test('a circle is an error, told once (rule 3)', () => {
  const result = parse(`
  - {name: a, kind: static, map: {x: "{{ keychain.b.x }}"}}
  - {name: b, kind: static, map: {x: "{{ keychain.c.x }}"}}
  - {name: c, kind: static, map: {x: "{{ keychain.a.x }}"}}
  - {name: d, kind: static, map: {x: "{{ keychain.a.x }}"}}`)
  expect(problemsOf(result)).toMatchObject([
    { code: 'KEYCHAIN_CYCLE', message: "The keychain entry 'a' needs itself: a → b → c → a" },
  ])
})

test('a circle of one, beside long chains without any', () => {
  const chain = Array.from(
    { length: 5000 },
    (_, n) => `  - {name: e${n}, kind: static, map: {x: "{{ keychain.e${n + 1}.x }}"}}`,
  )
  const result = parse(`${chain.join('\n')}\n  - {name: own, kind: static, map: {x: "{{ keychain.own.x }}"}}`)
  expect(problemsOf(result)).toMatchObject([{ message: "The keychain entry 'own' needs itself: own → own" }])
})

describe('secrets in the input of another playbook', () => {
  const KEY = '  - {name: k, kind: bearer, token: x}'

  test.each([
    '{kind: playbook, path: child, input: {token: "{{ keychain.k.token }}"}}',
    '{kind: playbook, path: child, payload: {deep: [{token: "Bearer {{ keychain.k.token }}"}]}}',
    '[{call: {kind: playbook, path: child, input: {token: "{{ keychain.k.token }}"}}}]',
  ])('are refused with what to do instead: %s', (tool) => {
    const result = parse(KEY, tool)
    expect(result).toMatchObject({ ok: false, problems: [{ code: 'KEYCHAIN_IN_PLAYBOOK', line: 9 }] })
    expect(problemsOf(result)[0]?.message).toContain('auth: k')
  })

  test('are refused also when the step brings the input', () => {
    const result = parse(KEY, '{kind: playbook, path: child}\n    input: {token: "{{ keychain.k.token }}"}')
    expect(result).toMatchObject({ ok: false, problems: [{ code: 'KEYCHAIN_IN_PLAYBOOK', line: 10 }] })
  })

  test('other input is fine', () => {
    expect(parse(KEY, '{kind: playbook, path: child, input: {shop: "{{ workload.shop }}"}}').ok).toBe(true)
  })
})
