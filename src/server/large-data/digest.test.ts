import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../contract/json.ts'
import { exactJson, parseJson } from '../../lib/exact-json.ts'
import { jsonPieces } from '../../lib/json-pieces.ts'
import { redact } from '../../contract/sensitive.ts'
import { SEAL_HEAD, SEAL_TAIL } from '../../lib/sealer.ts'
import { dataOutline, digestJson, outlineJson, redactJson } from './digest.ts'
import { openEnvelope } from './envelope.ts'

const SIZES = [0, 5, 40, 500, 1_000_000]

/** The same numbers every time. */
const createRandom = (seed: number): ((below: number) => number) => {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state % below
  }
}

const KEYS = ['a', 'rows', 'password', 'token', 'name', 'x y', '7', 'deep', '_type', '_context_updates', '']

const randomJson = (random: (below: number) => number, depth: number): Json => {
  const kind = random(depth > 9 ? 5 : 9)
  if (kind === 0) return random(1000) - 500
  if (kind === 1) return ['', 'ü😀', 'Bearer abcdefgh', 'x'.repeat(600), '\ud800 "\\', '1e5'][random(6)] ?? ''
  if (kind === 2) return [null, true, 1e20, -0.5][random(4)] ?? null
  if (kind === 3) return `text ${random(100)}`
  if (kind < 7) return Array.from({ length: random(6) }, () => randomJson(random, depth + 1))
  return Object.fromEntries(
    Array.from({ length: random(7) }, () => [KEYS[random(KEYS.length)] ?? '', randomJson(random, depth + 1)]),
  )
}

const SELECTED = [
  'a',
  'rows[0]',
  'rows[2].name',
  'deep.a.rows',
  'name',
  'rows',
  'a[1][0]',
  'password',
  '_type',
]

const textOf = (room: Buffer): string => room.subarray(SEAL_HEAD, room.length - SEAL_TAIL).toString()

/** In pieces a preview writes large numbers as the stored text does, also where something is hidden. */
const expectedOutline = (data: Json): object => ({
  ...dataOutline(data, exactJson(data), SELECTED),
  preview: exactJson(redact(data)).slice(0, 1000).toWellFormed(),
})

test.each(SIZES)('is that of the whole data, in pieces of %i bytes (rules 1 and 2)', (sliceBytes) => {
  const random = createRandom(sliceBytes + 1)
  for (let round = 0; round < 300; round += 1) {
    const data = randomJson(random, 0)
    const text = exactJson(data)
    const json = Buffer.from(random(2) === 0 ? text : JSON.stringify(data, null, 1))
    const { room, bytes, sha256, outline } = digestJson(json, SELECTED, { sliceBytes })
    expect(textOf(room)).toBe(text)
    expect(bytes).toBe(Buffer.byteLength(text))
    expect(sha256).toBe(createHash('sha256').update(text).digest('hex'))
    expect(outline).toEqual(expectedOutline(data))
    expect(outlineJson(json, SELECTED, { sliceBytes })).toEqual(outline)
    expect(redactJson(json, { sliceBytes }).toString()).toBe(exactJson(redact(data)))
  }
})

test('many keys are summarised as those of the whole are', () => {
  for (const length of [1, 2]) {
    const data = Object.fromEntries(
      Array.from({ length: 9000 }, (_, n) => [String.fromCodePoint(0x4e00 + n).repeat(length), '']),
    )
    const json = Buffer.from(JSON.stringify(data))
    expect(digestJson(json, [], { sliceBytes: 1000 }).outline).toEqual(dataOutline(data, exactJson(data), []))
  }
})

test('keys that come twice, or that objects order by themselves, are those of the whole', () => {
  for (const text of ['{"b":[1,2,3],"a":1,"b":[4,5,6]}', '{"z":[1,2,3],"10":[1,2],"9":[1,2,3]}']) {
    const digest = digestJson(Buffer.from(text), ['b[2]'], { sliceBytes: 1 })
    expect(textOf(digest.room)).toBe(JSON.stringify(JSON.parse(text)))
    expect(digest.outline).toEqual(
      dataOutline(JSON.parse(text) as Json, JSON.stringify(JSON.parse(text)), ['b[2]']),
    )
  }
})

test('variables for the execution are whole, however many they are', () => {
  const updates = { list: Array.from({ length: 50 }, (_, n) => ({ n })), map: { a: [1, 2, 3] } }
  const json = Buffer.from(JSON.stringify({ rows: [1, 2, 3], _context_updates: updates, end: 1 }))
  expect(digestJson(json, [], { sliceBytes: 10 }).outline.updates).toEqual(updates)
})

describe('the body of a request that stores', () => {
  const read = (text: string, sliceBytes: number) => {
    const envelope = openEnvelope(jsonPieces(Buffer.from(text), { sliceBytes, parse: parseJson }))
    const pieces = [...envelope.data]
    return { pieces, facts: envelope.facts(), hasData: envelope.hasData() }
  }

  test.each(SIZES)('is told apart from its data, in pieces of %i bytes', (sliceBytes) => {
    const data = { rows: [1, [2, 3], { data: 4 }], data: { name: 'inner' } }
    const body = { name: 'it', data, other: [1, 2, 3], scope: 'step' }
    const { pieces, facts, hasData } = read(JSON.stringify(body), sliceBytes)
    expect(hasData).toBe(true)
    expect(facts).toMatchObject({ name: 'it', scope: 'step' })
    expect(facts).not.toHaveProperty('data')
    const opened = pieces.filter(({ kind }) => kind === 'open').length
    expect(pieces.filter(({ kind }) => kind === 'close')).toHaveLength(opened)
    expect(pieces[0]).toMatchObject(
      opened === 0 ? { kind: 'whole', value: data } : { kind: 'open', key: null },
    )
  })

  test.each([
    ['{"name":"x","other":[1,2,3]}', { name: 'x' }, false],
    ['[{"data":1},{"data":[1,2,3]}]', null, false],
    ['"text"', null, false],
    ['{"data":null,"a":[1,2,3]}', {}, true],
  ])('may have none: %s', (text, facts, hasData) => {
    const found = read(text, 1)
    if (facts === null) expect(found.facts).toBeNull()
    else expect(found.facts).toMatchObject(facts)
    expect(found.hasData).toBe(hasData)
  })
})
