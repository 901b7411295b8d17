import { describe, expect, it } from 'vitest'
import { find, startStep } from './snippets.suite.ts'

/** The broken template ends in `)`, and the diagnosis must point exactly at it. */
const textAt = (keys: string): string => {
  const text = startStep(keys)
  const { line, column } = find(text, 'STEP_WHEN')
  return text.split('\n')[line - 1]?.slice(column - 1) ?? ''
}

describe('the place inside a scalar', () => {
  it.each([
    ['plain', 'when: a + )'],
    ['plain over two lines', 'when: a +\n  b + )'],
    ['double quotes', 'when: "{{ a + ) }}"'],
    ['single quotes', "when: '{{ a + ) }}'"],
    ['escaped single quotes', "when: '{{ ''x'' + ) }}'"],
    ['escapes', String.raw`when: "{{ '\u00e9\t\x41\n' + ) }}"`],
    ['double quotes over lines', 'when: "{{ a +\n  b + ) }}"'],
    ['a continued line', 'when: "{{ a \\\n  + b + ) }}"'],
    ['a literal block', 'when: |\n  {{ a +\n     b + ) }}'],
    ['a literal block with blank lines and a comment', 'when: |- # why\n\n  {{ a +\n\n  b + ) }}'],
    ['a folded block', 'when: >\n  {{ a +\n  b\n\n  + ) }}'],
    ['an anchor', 'when: &w "{{ a + ) }}"'],
    ['characters outside the basic plane', `when: "{{ '😀' + ) }}"`],
  ])('is exact for %s', (_, keys) => {
    expect(textAt(keys)).toMatch(/^\)/)
  })

  it('stays inside the text when the template ends too early', () => {
    expect(textAt('when: "{{ a"')).not.toBe('')
  })

  it('counts columns behind carriage returns', () => {
    const text = startStep('when: "{{ ) }}"').replaceAll('\n', '\r\n')
    expect(find(text, 'STEP_WHEN')).toMatchObject({ line: 6, column: 15 })
  })
})
