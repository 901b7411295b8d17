import { expect, test } from 'vitest'

import { createOutputBuffer } from './output-buffer.ts'

const filled = (
  maxBytes: number,
  text: string,
  chunkBytes: number,
): ReturnType<typeof createOutputBuffer> => {
  const buffer = createOutputBuffer(maxBytes)
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += chunkBytes) buffer.add(bytes.subarray(at, at + chunkBytes))
  return buffer
}

test.each([1, 3, 7, 100])('keeps everything up to the limit, whatever the chunks: %i', (chunk) => {
  const buffer = filled(10, '0123456789', chunk)
  expect([buffer.text(), buffer.truncated]).toEqual(['0123456789', false])
})

test.each([1, 3, 7, 100])('keeps the start and the end beyond it (rule 1): %i', (chunk) => {
  const buffer = filled(10, `start${'x'.repeat(80)}endin`, chunk)
  expect([buffer.text(), buffer.truncated]).toEqual(['start\n[80 bytes of output were dropped]\nendin', true])
})

test('leaves out characters that the cut went through (rule 3)', () => {
  expect(filled(10, 'é'.repeat(50), 3).text()).toBe('éé\n[90 bytes of output were dropped]\néé')
})

test('puts characters together that arrive in pieces (rule 3)', () => {
  const buffer = createOutputBuffer(100)
  expect([...Buffer.from('é!')].map((byte) => buffer.add(Buffer.from([byte])))).toEqual(['', 'é', '!'])
})

test('keeps nothing with a limit of zero (rule 2)', () => {
  expect(filled(0, 'much', 2).text()).toBe('')
})
