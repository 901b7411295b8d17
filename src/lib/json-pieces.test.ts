import { expect, test } from 'vitest'
import { jsonPieces, type JsonPiece } from './json-pieces.ts'

const piecesOf = (text: string, sliceBytes: number, maxDepth?: number): readonly JsonPiece[] => [
  ...jsonPieces(Buffer.from(text), { sliceBytes, ...(maxDepth === undefined ? {} : { maxDepth }) }),
]

test('a small document is one piece', () => {
  expect(piecesOf(' {"a": [1, 2]} ', 100)).toEqual([{ kind: 'whole', value: { a: [1, 2] } }])
  expect(piecesOf('"text"', 1)).toEqual([{ kind: 'whole', value: 'text' }])
})

test('a container is opened where a cut falls into it, and its neighbours stay whole (rule 3)', () => {
  expect(piecesOf('{"a":1,"rows":[10,20,30,40],"b":[1,2]}', 12)).toEqual([
    { kind: 'open', isList: false, key: null },
    { kind: 'members', members: { a: 1 } },
    { kind: 'open', isList: true, key: 'rows' },
    { kind: 'members', members: [10] },
    { kind: 'members', members: [20, 30, 40] },
    { kind: 'close' },
    { kind: 'members', members: { b: [1, 2] } },
    { kind: 'close' },
  ])
})

test('nothing below the depth is opened (rule 3)', () => {
  const text = JSON.stringify([[['a', 'b', 'c', 'd', 'e']], 'f'])
  const opened = piecesOf(text, 1, 2).filter(({ kind }) => kind === 'open')
  expect(opened).toHaveLength(2)
  expect(piecesOf(text, 1, 2)).toContainEqual({ kind: 'members', members: [['a', 'b', 'c', 'd', 'e']] })
})

test.each([
  '{"a": [1, 2',
  '[1, 2,, 3]',
  '[1, 2, 3,]',
  '{"a" 1, "b": 2}',
  '{"a": [1, 2, 3, 4] "b": 2}',
  '[[1, 2, 3] [4, 5, 6]]',
  '[[1, 2, 3] [4, 5, 6], 7]',
  '[1, 2, 3}',
  '{"a": [1, 2, 3, 4}]',
  '{[1, 2, 3]: 4}',
  '{1: [1, 2, 3]}',
  '["a" [1, 2, 3]]',
  '[1, 2, 3] x',
  '[1, 2, 3] [4]',
  '1, 2',
  ']',
  '',
])('text that is no JSON throws, however it is cut: %s (rule 1)', (text) => {
  for (const size of [0, 1, 3, 1000]) expect(() => piecesOf(text, size)).toThrow(SyntaxError)
})
