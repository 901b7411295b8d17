import { describe, expect, test } from 'vitest'
import { useDatabase } from '../../test/support/database.ts'
import type { Column } from './columns.ts'
import { columnParameters, columnsFrom, isPlainText, plainText } from './columns.ts'

interface Row {
  readonly id: string
  readonly text: string | null
  readonly json: unknown
  readonly number: number | null
}

const COLUMNS: readonly Column<Row>[] = [
  { name: 'id', type: 'bigint', of: (row) => row.id },
  { name: 'text', type: 'text', of: (row) => row.text },
  { name: 'json', type: 'json', of: (row) => (row.json === undefined ? null : JSON.stringify(row.json)) },
  { name: 'number', type: 'float8', of: (row) => row.number },
]

const database = useDatabase()

const throughPostgres = async (rows: readonly Row[]): Promise<readonly Row[]> => {
  const answer = await database().query<Row>(
    `select * from ${columnsFrom('t', COLUMNS, 1)} where id is not null order by id`,
    columnParameters(COLUMNS, rows),
  )
  return answer.rows
}

const row = (id: number, parts: Partial<Row> = {}): Row => ({
  id: String(id),
  text: null,
  json: null,
  number: null,
  ...parts,
})

describe('rows arrive as they were given (rule 1)', () => {
  test('none', async () => {
    expect(await throughPostgres([])).toEqual([])
  })

  test.each([
    ['empty text', { text: '' }],
    ['nothing', {}],
    ['the word null', { text: 'null' }],
    ['what arrays use', { text: '{"a,b"}\\' }],
    ['lines, tabs, quotes', { text: `a\nb\tc'd"e\\f` }],
    ['characters outside the basic plane', { text: '🜚é漢' }],
    ['control characters in JSON', { json: { 'a\u001fb': '\u001e\n' } }],
    ['a fraction', { number: 0.008 }],
    ['the largest id', { id: '9223372036854775807' }],
  ])('%s, alone and among others', async (_name, parts) => {
    const alone = row(1, parts)
    expect(await throughPostgres([alone])).toEqual([alone])
    const first = row(-2, { text: 'x', json: [1], number: 1 })
    const second = row(-1)
    expect(await throughPostgres([first, second, alone])).toEqual([first, second, alone])
  })
})

describe('text that a column cannot carry (rule 2)', () => {
  test.each(['\0', '\u001e', '\u001f', '\ud800'])('is told and replaced: %j', async (bad) => {
    expect(isPlainText(`a${bad}b`)).toBe(false)
    expect(plainText(`a${bad}b`)).toBe('a\uFFFDb')
    const replaced = row(1, { text: plainText(`a${bad}b`) })
    expect(await throughPostgres([replaced])).toEqual([replaced])
  })

  test('other text is left alone', () => {
    expect(plainText('a\u0001\n🜚')).toBe('a\u0001\n🜚')
  })
})
