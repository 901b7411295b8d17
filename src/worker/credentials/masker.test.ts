import { describe, expect, test } from 'vitest'

import type { Json } from '../../contract/json.ts'
import { createMasker, maskFields } from './masker.ts'
import { createNeedleScanner } from './needle-scanner.ts'

const SECRET = 's3cr3t/+? wörd'

const maskerOf = (data: Json) => {
  const masker = createMasker()
  masker.hide(data)
  return masker
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

describe('what is hidden', () => {
  test.each<[string, string]>([
    ['as it is', `a ${SECRET} b`],
    ['in an address', `a ${encodeURIComponent(SECRET)} b`],
    ['in a path', `a ${encodeURIComponent(SECRET).replaceAll('%2F', '/')} b`],
    ['in a form', `a ${new URLSearchParams({ x: SECRET }).toString().slice(2)} b`],
    ['in base64', `a ${Buffer.from(SECRET).toString('base64').replace(/=+$/, '')} b`],
    ['in base64 of addresses', `a ${Buffer.from(SECRET).toString('base64url')} b`],
  ])('a secret %s', (_form, text) => {
    expect(maskerOf({ password: SECRET }).text(text)).toBe('a [REDACTED] b')
  })

  test('a secret with line ends, also as text in JSON', () => {
    const key = '-----BEGIN KEY-----\nabc\ndef\n-----END KEY-----\n'
    const masker = maskerOf({ key })
    expect(masker.text(`<${JSON.stringify({ key })}>`)).toBe('<{"key":"[REDACTED]"}>')
    expect(masker.text(`<${key.trim()}>`)).toBe('<[REDACTED]>')
  })

  test.each(['', 'u', 'us', 'usr'])('base64 of a secret behind "%s" (rule 4)', (user) => {
    const secret = 'correct-horse-battery'
    const masked = maskerOf({ password: secret }).text(`Basic ${base64(`${user}:${secret}!`)}`)
    expect(masked).toContain('[REDACTED]')
    const left = masked.replace('Basic ', '').replace('[REDACTED]', '')
    // What is left at the edges shares its letters with its neighbours.
    expect(left.length).toBeLessThanOrEqual(base64(`${user}:!`).length + 2)
  })

  test('secrets at any depth, from six characters on (rule 1)', () => {
    const masker = maskerOf({ a: [{ b: 'deep-secret' }], short: 'abcde', six: 'abcdef' })
    expect(masker.text('deep-secret abcde abcdeX abcdef')).toBe('[REDACTED] abcde abcdeX [REDACTED]')
  })

  test('numbers whose name tells that they are secret, as numbers and inside of texts (rule 1)', () => {
    const masker = maskerOf({
      pin: 12345678,
      password: 87654321,
      account_id: 1234567,
      expires_at: 1794789333,
    })
    const said = {
      pin: 12345678,
      text: 'PIN 12345678',
      list: [87654321],
      account: 1234567,
      until: 1794789333,
    }
    const hidden = { pin: '[REDACTED]', text: 'PIN [REDACTED]', list: ['[REDACTED]'] }
    expect(masker.value(said)).toEqual({ ...said, ...hidden })
  })

  test('not where to connect, and not the user beside a password (rule 2)', () => {
    const masker = maskerOf({
      type: 'postgres',
      db_host: 'localhost',
      user: 'postgres',
      database: 'analytics',
      password: 'hunter22',
    })
    expect(masker.text('postgres@localhost/analytics hunter22')).toBe(
      'postgres@localhost/analytics [REDACTED]',
    )
    expect(maskerOf({ username: 'key-in-place-of-user' }).text('key-in-place-of-user')).toBe('[REDACTED]')
  })

  test('not the address of a server, but one that may carry a secret (rule 2)', () => {
    const masker = maskerOf({
      url: 'nats://bus.example.com:4222',
      base_url: 'https://api.example.com/v2',
      webhook: 'https://hooks.example.com/T01/B02',
      login: 'https://ada:sesame-7@example.com',
      signed: 'https://files.example.com/?sig=abc',
    })
    for (const text of ['nats://bus.example.com:4222', 'https://api.example.com/v2/items?page=2'])
      expect(masker.text(text)).toBe(text)
    expect(masker.text('https://hooks.example.com/T01/B02')).toBe('[REDACTED]')
    expect(masker.text('at https://ada:sesame-7@example.com')).not.toContain('sesame-7')
    expect(masker.text('https://files.example.com/?sig=abc')).toBe('[REDACTED]')
  })

  test('the password inside of an address (rule 3)', () => {
    const masker = maskerOf({ dsn: 'postgresql://me:p%40ssword@host/db' })
    expect(masker.text('with p@ssword and with p%40ssword')).toBe('with [REDACTED] and with [REDACTED]')
  })

  test('secrets that overlap or touch leave nothing between them', () => {
    const masker = maskerOf(['abcdefgh', 'efghijkl'])
    expect(masker.text('-abcdefghijkl-')).toBe('-[REDACTED]-')
    expect(masker.text('-abcdefghefghijkl-')).toBe('-[REDACTED]-')
  })
})

describe('values', () => {
  test('are masked in members, keys and lists, and are the same objects when there is nothing to hide', () => {
    const masker = maskerOf({ key: 'top-secret' })
    const clean = { a: [1, null, 'x'], b: { c: true } }
    expect(masker.value(clean)).toBe(clean)
    expect(masker.value({ ...clean, 'is top-secret': ['top-secret'] })).toEqual({
      ...clean,
      'is [REDACTED]': ['[REDACTED]'],
    })
    expect(clean).toEqual({ a: [1, null, 'x'], b: { c: true } })
  })

  test('cost nothing while no secret is known', () => {
    const masker = createMasker()
    masker.hide({ port: 5432, host: 'localhost', short: 'abc' })
    expect(masker.isActive).toBe(false)
    const value = { a: 'localhost' }
    expect(masker.value(value)).toBe(value)
  })

  test('of a log are masked, errors included', () => {
    const masker = maskerOf({ key: 'top-secret' })
    const err = new TypeError('no top-secret')
    const masked = maskFields(masker, { err, n: 1, when: 'top-secret' })
    expect(masked).toMatchObject({
      err: { type: 'TypeError', message: 'no [REDACTED]' },
      n: 1,
      when: '[REDACTED]',
    })
    expect(JSON.stringify(masked)).not.toContain('top-secret')
  })
})

describe('a stream', () => {
  const shown = (data: Json, chunks: readonly string[]): string[] => {
    const emitted: string[] = []
    const stream = maskerOf(data).stream((text) => emitted.push(text))
    for (const chunk of chunks) stream.write(chunk)
    stream.flush()
    return emitted
  }

  test('hides a secret however it is cut', () => {
    const text = 'before top-secret after top-secret'
    for (let size = 1; size <= text.length; size += 1) {
      const chunks = text.match(new RegExp(`.{1,${size}}`, 'g')) ?? []
      expect(shown({ key: 'top-secret' }, chunks).join('')).toBe('before [REDACTED] after [REDACTED]')
    }
  })

  test('holds back only what may be the beginning of a secret', () => {
    expect(shown({ key: 'top-secret' }, ['hello', ' top', '-hai', ' to'])).toEqual([
      'hello',
      ' ',
      'top-hai',
      ' ',
      'to',
    ])
  })

  test('leaves no end of a secret when a longer one did not come', () => {
    const data = ['abcdefgh', 'efghijkl']
    for (const chunks of [
      ['-abcdefgh', 'ij', 'XX'],
      ['-abcd', 'efgh', 'ijkl-'],
      ['-abcdefghij', 'kl', '-'],
    ]) {
      const text = shown(data, chunks).join('')
      expect(text).toMatch(/^-\[REDACTED\](?:ijXX|-)$/)
    }
  })

  test('agrees with masking the whole text, for any texts and cuts', () => {
    let seed = 7
    const random = (below: number): number => {
      seed = (seed * 1103515245 + 12345) % 2147483648
      return Math.floor((seed / 2147483648) * below)
    }
    const word = (length: number): string => Array.from({ length }, () => 'ab'[random(2)]).join('')
    for (let round = 0; round < 500; round += 1) {
      const secrets = [word(6 + random(3)), word(6 + random(6))]
      const text = word(60)
      const chunks: string[] = []
      for (let at = 0; at < text.length;) {
        const size = 1 + random(9)
        chunks.push(text.slice(at, at + size))
        at += size
      }
      const whole = maskerOf(secrets).text(text)
      expect(whole).toBe(naive(text, secrets))
      expect(
        shown(secrets, chunks)
          .join('')
          .replaceAll(/(?:\[REDACTED\])+/g, '[REDACTED]'),
      ).toBe(whole)
    }
  })
})

/** Marks every character that belongs to some secret. */
const naive = (text: string, secrets: readonly string[]): string => {
  const starts = createNeedleScanner(secrets)
  const hidden = Array.from({ length: text.length }, () => false)
  for (const secret of secrets) {
    for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1))
      hidden.fill(true, at, at + secret.length)
  }
  expect(starts.spans(text).length).toBe(hidden.filter((each, at) => each && hidden[at - 1] !== true).length)
  return Array.from(text, (letter, at) => (hidden[at] === true ? '#' : letter))
    .join('')
    .replaceAll(/#+/g, '[REDACTED]')
}
