import { describe, expect, test } from 'vitest'
import { heapSizeAbout } from './heap-size.ts'

const rows = (count: number) =>
  Array.from({ length: count }, (_, id) => ({ id, name: `row ${id % 10}`, tags: ['a', 'b'] }))

/** Counts how often anything is read of a value. */
const counted = <Value extends object>(value: Value): { value: Value; reads: () => number } => {
  let reads = 0
  const watch = (each: unknown): unknown =>
    typeof each === 'object' && each !== null
      ? new Proxy(each, {
          get: (target, key) => {
            reads += 1
            return watch(Reflect.get(target, key))
          },
        })
      : each
  return { value: watch(value) as Value, reads: () => reads }
}

describe('the size of a value in memory', () => {
  test('is that of its texts, two bytes a character where one is not enough', () => {
    expect(heapSizeAbout('x'.repeat(1000))).toBeCloseTo(1000, -2)
    expect(heapSizeAbout('ж'.repeat(1000))).toBeCloseTo(2000, -2)
  })

  test.each([undefined, null, true, 17])('%j needs nothing but its place', (value) => {
    expect(heapSizeAbout(value)).toBe(0)
  })

  test('a few items stand for a list (1)', () => {
    const one = heapSizeAbout(rows(1))
    expect(heapSizeAbout(rows(100_000)) / one).toBeGreaterThan(60_000)
    expect(heapSizeAbout(rows(100_000)) / one).toBeLessThan(100_001)
    expect(heapSizeAbout(Array.from({ length: 100_000 }, (_, index) => index))).toBeCloseTo(800_000, -3)
  })

  test('every field of an object counts, and a few of a very large one stand for all (1)', () => {
    const fields = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`f${index}`, index]))
    expect(heapSizeAbout({ ...fields, text: 'x'.repeat(5000) })).toBeGreaterThan(5000)
    const table = Object.fromEntries(
      Array.from({ length: 1000 }, (_, index) => [`k${index}`, 'x'.repeat(100)]),
    )
    expect(heapSizeAbout(table)).toBeGreaterThan(100_000)
    expect(heapSizeAbout(table)).toBeLessThan(300_000)
  })

  test('a large branch does not hide the others (2)', () => {
    const deep = { a: rows(1000), b: { c: { text: 'x'.repeat(50_000) } } }
    expect(heapSizeAbout(deep)).toBeGreaterThan(heapSizeAbout(deep.a) * 0.5 + 50_000)
  })

  test('looking costs the same for a hundred thousand items as for ten thousand (2)', () => {
    const looks = (count: number): number => {
      const { value, reads } = counted({ rows: rows(count) })
      heapSizeAbout(value)
      return reads()
    }
    expect(looks(100_000)).toBe(looks(10_000))
    expect(looks(10_000)).toBeLessThan(1000)
  })

  test('looking into a deep and wide tree ends soon (2)', () => {
    const tree = (depth: number): unknown =>
      depth === 0 ? 'leaf' : Array.from({ length: 6 }, () => ({ child: tree(depth - 1) }))
    const { value, reads } = counted({ root: tree(6) })
    expect(heapSizeAbout(value)).toBeGreaterThan(0)
    expect(reads()).toBeLessThan(2000)
  })

  test('a chain of a hundred thousand objects does not exhaust the stack', () => {
    let chain: object = {}
    for (let depth = 0; depth < 100_000; depth += 1) chain = { chain }
    expect(heapSizeAbout(chain)).toBeGreaterThan(0)
  })
})
