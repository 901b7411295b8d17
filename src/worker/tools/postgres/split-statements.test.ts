import { expect, test } from 'vitest'

import { workedMs } from '../../../../test/support/worked-ms.ts'
import { splitStatements } from './split-statements.ts'
import { sqlTokens } from './sql-tokens.ts'

const CASES: readonly [string, string, readonly string[]][] = [
  ['plain statements', 'select 1; select 2', ['select 1', 'select 2']],
  ['no statement', ' ;; -- nothing\n /* here */ ;', []],
  ['strings', `select ';', 'it''s; ok'; select 2`, [`select ';', 'it''s; ok'`, 'select 2']],
  ['a backslash in a plain string', `select '\\'; select 2`, [`select '\\'`, 'select 2']],
  [
    'a backslash in an E string',
    `select E'\\';', e'\\\\'; select 2`,
    [`select E'\\';', e'\\\\'`, 'select 2'],
  ],
  ['a doubled quote in an E string', `select E'a''b;'; select 2`, [`select E'a''b;'`, 'select 2']],
  ['a word that ends in e', `select type'a\\'; select 2`, [`select type'a\\'`, 'select 2']],
  ['names in quotes', `select 1 as "a;""b"; select 2`, [`select 1 as "a;""b"`, 'select 2']],
  ['dollar quotes', `do $$ begin; end $$; select 2`, [`do $$ begin; end $$`, 'select 2']],
  ['tagged dollar quotes', `select $a$ ; $b$ ; $a$; select 2`, [`select $a$ ; $b$ ; $a$`, 'select 2']],
  ['parameters', `select $1; select $2`, ['select $1', 'select $2']],
  ['a dollar in a word', `select a$b$; select c$b$`, ['select a$b$', 'select c$b$']],
  ['line comments', `select 1 -- a; b'\n; select 2 --;`, [`select 1 -- a; b'`, 'select 2 --;']],
  [
    'nested comments',
    `select /* a; /* b; */ c; */ 1; select 2`,
    [`select /* a; /* b; */ c; */ 1`, 'select 2'],
  ],
  ['a comment before code', `-- why\nselect 1;`, ['-- why\nselect 1']],
  ['open quotes', `select 1; select 'a; b`, ['select 1', `select 'a; b`]],
  [
    'rules with several commands',
    'create rule r as on insert to t do (insert into a values (1); delete from b); select 2',
    ['create rule r as on insert to t do (insert into a values (1); delete from b)', 'select 2'],
  ],
  [
    'bodies of functions',
    'create or replace function f() returns int begin atomic select 1; select case when true then 1 end; end; select 2',
    [
      'create or replace function f() returns int begin atomic select 1; select case when true then 1 end; end',
      'select 2',
    ],
  ],
  [
    'a transaction',
    'begin; update t set a = case when b then 1 end; end; select 2',
    ['begin', 'update t set a = case when b then 1 end', 'end', 'select 2'],
  ],
]

test.each(CASES)('knows %s', (_name, text, statements) => {
  expect(splitStatements(text)).toEqual(statements)
})

test('tokens cover the text without gaps', () => {
  for (const [, text] of CASES) {
    const pieces = [...sqlTokens(text)].map(({ start, end }) => text.slice(start, end))
    expect(pieces.join('')).toBe(text)
  }
})

test('a megabyte of quoted text takes no time to speak of', () => {
  const values = `insert into t values ('${"a''b;".repeat(200_000)}'); select 1`
  const startedAt = workedMs()
  expect(splitStatements(values)).toHaveLength(2)
  expect(workedMs() - startedAt).toBeLessThan(1_000)
})
