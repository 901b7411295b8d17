/** What an editor knows about one kind of tool, and the fields that several kinds share. */
import { about, legacy } from './parts.ts'
import type { Schema } from './parts.ts'

export interface KindNotes {
  readonly title: string
  readonly description: string
  readonly fields: Readonly<Record<string, Schema>>
}

export const kind = (title: string, description: string, fields: KindNotes['fields'] = {}): KindNotes => ({
  title,
  description,
  fields,
})

/** A statement under its names; all mean the same. */
export const statement: KindNotes['fields'] = {
  query: about(
    'Statement',
    'The SQL to run; several statements are separated by ;',
    'SELECT id, name FROM items',
  ),
  command: about('Statement', 'Another name for query.', 'SELECT 1'),
  commands: about('Statements', 'A list of statements, or one text with several.', [
    'CREATE TABLE t (id int)',
    'SELECT * FROM t',
  ]),
  params: about('Parameters', 'Values of $1, $2, … in the statement.', ['{{ workload.id }}']),
  as_objects: about('Rows as objects', 'true: rows are objects by column; false: lists.', true),
}

/** Code that is loaded instead of written in the playbook. */
export const script: Schema = about('Script', 'Where the code comes from when it is not written here.', {
  uri: 'scripts/score.py',
  source: { type: 'file' },
})

export const older = (instead: string, field: Schema): Schema => ({ ...field, ...legacy(instead) })
