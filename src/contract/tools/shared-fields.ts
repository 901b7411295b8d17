/** Fields that several kinds share, word for word. */
import type { ToolField, ToolFields } from './tool-declaration.ts'

const SILENT_NAMES = ['queries', 'sql', 'cmd', 'cmds'] as const
const ENCODED_NAMES = ['command', 'commands', ...SILENT_NAMES]

/** SQL under its names; all mean the same. */
export const statementFields: ToolFields = {
  query: {
    title: 'Statement',
    type: 'texts',
    description: 'The SQL to run: a text, in which ; separates statements, or a list of texts.',
    aliases: ['command', 'commands'],
    also: SILENT_NAMES,
    examples: ['SELECT id, name FROM items', ['CREATE TABLE t (id int)', 'SELECT * FROM t']],
  },
  query_b64: {
    title: 'Statement in base64',
    type: 'texts',
    description: 'The SQL, encoded.',
    also: ['query_base64', ...ENCODED_NAMES.flatMap((name) => [`${name}_b64`, `${name}_base64`])],
    examples: ['U0VMRUNUIDE='],
  },
  params: {
    title: 'Parameters',
    type: ['list', 'mapping'],
    description: 'With one statement: a list for $1, $2, … or a mapping for :name.',
    examples: [['{{ workload.id }}'], { id: 7 }],
  },
  as_objects: {
    title: 'Rows as objects',
    type: 'flag',
    description: 'true: rows are objects by column; false: lists.',
    examples: [true],
  },
}

/** Code that is loaded instead of written in the playbook. */
export const script: ToolField = {
  title: 'Script',
  type: ['text', 'mapping'],
  description:
    'Where the code comes from when it is not written here: a path, or {uri, source: {type: file | http | inline}}.',
  examples: [{ uri: 'scripts/score.py', source: { type: 'file' } }],
}

export const env: ToolField = {
  title: 'Environment',
  type: 'mapping',
  description: 'Environment variables for the program.',
  examples: [{ LOG_LEVEL: 'info' }],
}

export const cwd: ToolField = {
  title: 'Working directory',
  type: 'text',
  description: 'Directory the program runs in.',
  examples: ['/tmp'],
}

/** What every kind with statements says about its rows. */
export const ROWS_DATA: Readonly<Record<string, string>> = {
  rows: 'of the last statement that has rows',
  row_count: 'how many',
  columns: 'their names, also without rows',
  affected_rows: 'rows that a statement changed',
  statement_count: 'statements that were given',
  'command_0, command_1, …': 'the same fields for each statement',
}
