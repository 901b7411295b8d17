import { describe, expect, test } from 'vitest'
import type { UiField } from './ui-schema.ts'
import { uiSchemaOf } from './ui-schema.ts'

const workload = (lines: string): readonly UiField[] =>
  uiSchemaOf(`metadata: { name: x }\nworkload:\n${lines}workflow: []\n`).fields

const field = (line: string): UiField | undefined => workload(`  ${line}\n`)[0]

describe('fields (rule 1)', () => {
  test('come in the order of the document, with everything they do not have as null', () => {
    expect(workload('  zebra: 1\n  ape: two\n')).toEqual([
      {
        name: 'zebra',
        kind: 'integer',
        default: 1,
        description: null,
        secret: false,
        credential_glob: null,
        options: null,
        children: null,
      },
      expect.objectContaining({ name: 'ape', kind: 'string', default: 'two' }),
    ])
  })

  test.each([
    ['a: true', 'boolean', true],
    ['a: yes', 'string', 'yes'],
    ['a: -12', 'integer', -12],
    ['a: 0x1F', 'integer', 31],
    ['a: 1.0', 'number', 1],
    ['a: 1e3', 'number', 1000],
    ['a: .nan', 'number', null],
    ['a: -.inf', 'number', null],
    ['a: "12"', 'string', '12'],
    ['a: ".inf"', 'string', '.inf'],
    ['a: 12345678901234567890', 'integer', '12345678901234567890'],
    ['a:', 'null', null],
    ['a: ~', 'null', null],
    ['a: [1, b]', 'array', [1, 'b']],
    ['a: "{{ now() }}"', 'string', '{{ now() }}'],
    ['a: |\n    two\n    lines', 'string', 'two\nlines\n'],
  ])('%s is of kind %s', (line, kind, value) => {
    expect(field(line)).toMatchObject({ kind, default: value, children: null })
  })

  test('of a mapping are its children, at any depth', () => {
    const [database] = workload('  database:\n    host: local\n    pool: { size: 5 }\n')
    expect(database).toMatchObject({
      kind: 'object',
      default: { host: 'local', pool: { size: 5 } },
      children: [
        { name: 'host', kind: 'string', default: 'local', children: null },
        { name: 'pool', kind: 'object', children: [{ name: 'size', kind: 'integer', default: 5 }] },
      ],
    })
  })

  test.each(['', 'workload:\n', 'workload: [1]\n', 'workload: text\n'])('are none for %j', (lines) => {
    expect(uiSchemaOf(`metadata: { name: x }\n${lines}`).fields).toEqual([])
  })
})

describe('directives (rule 2)', () => {
  test.each([
    ['a: x # ui:secret', { secret: true, kind: 'string' }],
    ['a: 5 #ui:secret', { secret: true, kind: 'integer' }],
    ['a: x # ui:enum=[x, "y z", \'\', w]', { kind: 'enum', options: ['x', 'y z', 'w'] }],
    ['a: x # ui:enum=only', { kind: 'enum', options: ['only'] }],
    ['a: x # ui:enum="only"', { kind: 'enum', options: ['only'] }],
    ['a: 5 # ui:enum=[1,5]', { kind: 'enum', default: 5, options: ['1', '5'] }],
    ['a: x # ui:credential=pg_*', { credential_glob: 'pg_*' }],
    ['a: x # ui:description=The name, in full', { description: 'The name, in full' }],
    ['a: x # ui:description="In quotes "', { description: 'In quotes ' }],
    ['a: x # ui:secret # ui:description=two of them', { secret: true, description: 'two of them' }],
    ['a: x # ui:description=until # here', { description: 'until' }],
    ['a: # ui:secret', { secret: true, kind: 'null' }],
    ['a : x # ui:secret', { secret: true }],
    ['a: | # ui:secret\n    text', { secret: true, default: 'text\n' }],
    ['a: { b: 1 } # ui:secret', { secret: true, kind: 'object' }],
    ['a: x # ui:colour=red', { kind: 'string', options: null, description: null }],
    ['a: x # secret', { secret: false }],
    ['a: "# ui:secret"', { secret: false, default: '# ui:secret' }],
    ['a: x#ui:secret', { secret: false, default: 'x#ui:secret' }],
    ['"a": x # ui:secret', { secret: false }],
  ])('%s', (line, expected) => {
    expect(field(line)).toMatchObject(expected)
  })

  test('belong to the key of their own line', () => {
    const fields = workload('  # ui:secret\n  a: 1\n  b: 2 # ui:secret\n\n  # ui:secret\n  c: 3\n')
    expect(fields.map(({ secret }) => secret)).toEqual([false, true, false])
  })

  test('are not for children, for other sections, or for keys without indentation', () => {
    expect(workload('  a:\n    b: 1 # ui:secret\n')[0]).toMatchObject({
      secret: false,
      children: [{ name: 'b', secret: false }],
    })
    expect(uiSchemaOf('workload: { a: 1 } # ui:secret\n').fields[0]).toMatchObject({ secret: false })
    expect(uiSchemaOf('other:\n  a: 1 # ui:secret\nworkload:\n  a: 1\n').fields[0]).toMatchObject({
      secret: false,
    })
  })
})

test('title and description are those of the metadata', () => {
  const text = 'metadata: { name: Import, description: "*Reads* files", exposed_in_ui: true }\n'
  expect(uiSchemaOf(text)).toEqual({
    title: 'Import',
    description: '*Reads* files',
    exposedInUi: true,
    fields: [],
  })
  expect(uiSchemaOf('metadata: { name: 5, exposed_in_ui: "yes" }\n')).toMatchObject({
    title: null,
    description: null,
    exposedInUi: false,
  })
})

test.each(['', 'a: [1,\nb: {', 'just words', '- a\n- b\n', 'a: 1\n---\nb: 2\n', '\t'])(
  'a text such as %j has no fields and is no error (rule 3)',
  (text) => {
    expect(uiSchemaOf(text)).toEqual({ title: null, description: null, exposedInUi: false, fields: [] })
  },
)
