import { describe, expect, test } from 'vitest'
import { useDatabase } from '../../test/support/database.ts'
import type { Column } from './columns.ts'
import { columnParameters, columnsFrom, isPlainText, plainText } from './columns.ts'

interface Row {
  readonly id: string
  readonly text: string | null
  readonly json: unknown
  readonly number: number | null
  readonly count: number | null
  readonly flag: boolean | null
  readonly bytes: Buffer | null
  readonly instant: string | null
}

const COLUMNS: readonly Column<Row>[] = [
  { name: 'id', type: 'bigint', of: (row) => row.id },
  { name: 'text', type: 'text', of: (row) => row.text },
  { name: 'json', type: 'json', of: (row) => (row.json === undefined ? null : JSON.stringify(row.json)) },
  { name: 'number', type: 'float8', of: (row) => row.number },
  { name: 'count', type: 'int', of: (row) => row.count },
  { name: 'flag', type: 'boolean', of: (row) => row.flag },
  { name: 'bytes', type: 'bytea', of: (row) => row.bytes },
  { name: 'instant', type: 'timestamptz', of: (row) => row.instant },
]

const database = useDatabase()

const throughPostgres = async (rows: readonly Row[]): Promise<readonly Row[]> => {
  const answer = await database().query<Row>(
    `select * from ${columnsFrom('t', COLUMNS, 1)} order by id`,
    columnParameters(COLUMNS, rows),
  )
  return answer.rows
}

const row = (id: number, parts: Partial<Row> = {}): Row => ({
  id: String(id),
  text: null,
  json: null,
  number: null,
  count: null,
  flag: null,
  bytes: null,
  instant: null,
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
    ['the smallest count', { count: -(2 ** 31) }],
    ['no', { flag: false }],
    ['no bytes', { bytes: Buffer.alloc(0) }],
    ['bytes', { bytes: Buffer.from([0, 1, 255]) }],
    ['an instant', { instant: '2026-11-15T20:00:00.123Z' }],
    ['an instant before 2000', { instant: '1969-07-20T20:17:40.500Z' }],
    ['text longer than what is at hand', { text: 'é漢'.repeat(100_000) }],
  ])('%s, alone and among others', async (_name, parts) => {
    const alone = row(1, parts)
    expect(await throughPostgres([alone])).toEqual([alone])
    const first = row(-2, { text: 'x', json: [1], number: 1 })
    const second = row(-1)
    expect(await throughPostgres([first, second, alone])).toEqual([first, second, alone])
  })
})

test('a column of nulls is one null (rule 2)', () => {
  const parameters = columnParameters(COLUMNS, [row(1, { text: 'a' }), row(2)])
  expect(parameters.map((parameter) => parameter !== null)).toEqual(
    COLUMNS.map(({ name }) => name === 'id' || name === 'text' || name === 'json'),
  )
})

test.each([
  ['an id of more than 64 bits', { id: '9223372036854775808' }],
  ['an id that is no number', { id: 'abc' }],
  ['a count of more than 32 bits', { count: 2 ** 31 }],
  ['a count with a fraction', { count: 0.5 }],
  ['an instant that is none', { instant: 'some day' }],
])('%s is refused instead of cut', (_name, parts) => {
  expect(() => columnParameters(COLUMNS, [row(1, parts)])).toThrow()
})

describe('text that a column cannot carry (rule 3)', () => {
  test.each(['\0', '\ud800'])('is told and replaced: %j', async (bad) => {
    expect(isPlainText(`a${bad}b`)).toBe(false)
    expect(plainText(`a${bad}b`)).toBe('a\uFFFDb')
    const replaced = row(1, { text: plainText(`a${bad}b`) })
    expect(await throughPostgres([replaced])).toEqual([replaced])
  })

  test('other text is left alone', () => {
    expect(plainText('a\u0001\u001f\n🜚')).toBe('a\u0001\u001f\n🜚')
  })
})
