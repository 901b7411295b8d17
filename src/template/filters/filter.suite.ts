/** How filters are tested: every filter of a file has cases, each an expression and its value. */
import { describe, expect, test } from 'vitest'
import { errorOf, valueOf } from '../evaluating.suite.ts'

export const DATA = {
  rows: [
    { a: 1, g: 'x', n: { k: [7] } },
    { a: 3, g: 'y', n: { k: [8] } },
    { a: 2, g: 'x', n: { k: [9] } },
  ],
  nothing: null,
  yes: true,
}

export type FilterCases = Readonly<Record<string, readonly (readonly [expression: string, value: unknown])[]>>

/** The cases of these filters, which are all that a file has: none is forgotten. */
export const testFilters = (filters: Iterable<readonly [string, unknown]>, cases: FilterCases): void => {
  describe.each(Object.keys(cases))('filter %s', (name) => {
    test.each(cases[name] ?? [])('%s', (expression, expected) => {
      expect(valueOf(expression, DATA)).toEqual(expected)
    })
  })

  test('every filter is covered by a case', () => {
    expect(Object.keys(cases).toSorted()).toEqual([...filters].map(([name]) => name).toSorted())
  })
}

/** Expressions that fail, each with words of its reason. */
export const testFilterErrors = (
  errors: readonly (readonly [expression: string, reason: string])[],
): void => {
  test.each(errors)('%s is an error: %s', (expression, reason) => {
    expect(errorOf(`{{ ${expression} }}`, { name: 'uper', test: 'eq' }).reason).toContain(reason)
  })
}
