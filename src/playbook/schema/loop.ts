/* oxlint-disable unicorn/no-thenable -- `then` is a word of JSON Schema and of rules; nothing here is awaited */
/** `loop` of a step: over a collection (`in`), or over rows that a cursor claims; never both. */
import { FILLED_TEXT, OPTIONAL_TEXT, TEXT, about, amount, at, gives, legacy, ref, word } from './parts.ts'
import type { Schema } from './parts.ts'

const collection: Schema = {
  ...about(
    'Collection',
    'What the loop runs over: a template that gives a list, a literal list, a mapping (its entries as {key, value}) or a ' +
      'number (0 to n-1).',
    '{{ ctx.items }}',
    [1, 2, 3],
    10,
  ),
}

const loopSpec: Schema = {
  ...about('Options', 'How the loop runs.', { mode: 'parallel', max_in_flight: 5 }),
  type: ['object', 'null'],
  properties: {
    mode: {
      ...about(
        'Mode',
        'sequential: one after the other. parallel: several at once. cursor: rows that a statement claims until none is left.',
        'parallel',
      ),
      ...word('sequential', 'parallel', 'cursor'),
      default: 'sequential',
    },
    max_in_flight: {
      ...about(
        'At once',
        'How many iterations of a parallel loop may run at the same time; without it all of them.',
        5,
      ),
      ...amount('integer', 1),
    },
    on_error: {
      ...about(
        'On error',
        'fail: an iteration that fails stops the loop and the step. continue or collect: the loop goes on and counts it in stats.failed.',
        'continue',
      ),
      ...word('fail', 'continue', 'collect'),
      default: 'fail',
    },
    frame: about('Frame', 'With a cursor: how many rows one claim takes.', {
      max_rows: 20,
      row_concurrency: 4,
    }),
    policy: about('Policy', 'Has no effect.'),
  },
}

const frame: Schema = {
  type: ['object', 'null'],
  properties: {
    max_rows: {
      ...about('Rows', 'Rows of one claim; the claim reads it as __frame_max_rows.', 20),
      ...amount('integer', 1),
      default: 1,
    },
    row_concurrency: {
      ...about('Rows at once', 'Rows of one claim that are processed at the same time.', 4),
      ...amount('integer', 1),
      default: 1,
    },
    process: about('Unit', 'Rows are processed one by one: row.', 'row'),
    max_seconds: about('Seconds', 'Has no effect; the claim statement decides how long a row is leased.'),
    max_bytes: about('Bytes', 'Has no effect.'),
    lease_seconds: about('Lease', 'Has no effect; the claim statement decides how long a row is leased.'),
    heartbeat_seconds: about('Heartbeat', 'Has no effect.'),
  },
}

const cursor: Schema = {
  ...about('Cursor', 'Where the rows come from.', {
    kind: 'postgres',
    auth: 'pg_main',
    claim:
      'UPDATE jobs SET state = 1 WHERE id IN (SELECT id FROM jobs LIMIT {{ __frame_max_rows }}) RETURNING id',
  }),
  type: 'object',
  required: ['claim'],
  properties: {
    kind: {
      ...about('Tool', 'The tool that runs the claim.', 'postgres'),
      ...OPTIONAL_TEXT,
      default: 'postgres',
    },
    auth: about('Credential', 'Name of the credential for the claim.', 'pg_main'),
    credential: { ...about('Credential', 'Another name for auth.', 'pg_main'), ...legacy('Write auth') },
    claim: {
      ...about(
        'Claim',
        'The statement that leases rows and returns them. The loop ends when it returns none.',
        'UPDATE … RETURNING id',
      ),
      ...TEXT,
    },
    options: about('Options', 'Options of the tool.'),
  },
}

export const loopDefinitions: Readonly<Record<string, Schema>> = {
  cursor,
  frame: { ...about('Frame', 'How rows are claimed and processed.', { max_rows: 20 }), ...frame },
  loop: {
    ...about(
      'Loop',
      'Runs the tool once for each element. The result of the step is {results: […], stats: {total, success, failed}}.',
      { in: '{{ ctx.items }}', iterator: 'item', spec: { mode: 'parallel', max_in_flight: 5 } },
    ),
    type: ['object', 'null'],
    required: ['iterator'],
    properties: {
      in: collection,
      iterator: {
        ...about('Iterator', 'Name of the variable that holds the element: iter.item and item.', 'item'),
        ...FILLED_TEXT,
      },
      spec: loopSpec,
      cursor: about('Cursor', 'Instead of in: rows that a statement claims, as in {kind, auth, claim}.'),
      desc: about('Description', 'A note for readers.'),
      description: about('Description', 'A note for readers.'),
    },
    if: gives('cursor'),
    then: {
      properties: {
        in: { type: 'null' },
        cursor: ref('cursor'),
        spec: { properties: { mode: { enum: ['cursor', null] }, frame: ref('frame') } },
      },
    },
    else: {
      required: ['in'],
      not: at(['spec', 'mode'], { const: 'cursor' }),
      properties: { in: { type: ['string', 'number', 'array', 'object'], pattern: String.raw`\S` } },
    },
  },
}
