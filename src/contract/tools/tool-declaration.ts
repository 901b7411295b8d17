/**
 * What a kind of tool takes, said once as data. From it come the check of a rendered block before the tool runs, the
 * advice at registration, completion in editors (docs/playbook.schema.json) and the reference (docs/tools.md).
 *
 * 1. A field that is not declared is never an error: another version of the tool may know it.
 * 2. Null and empty text mean "not given", for every type.
 * 3. Types are as wide as the tools are: a number may come as its digits, a text as any scalar.
 */
import type { Json, JsonObject } from '../json.ts'

export type FieldType =
  /** Any scalar. */
  | 'text'
  /** A text or a list of texts. */
  | 'texts'
  | 'integer'
  | 'number'
  /** A boolean or its word: true, yes, on, 1. */
  | 'flag'
  /** Seconds, or text such as `30s`. */
  | 'duration'
  | 'mapping'
  | 'list'
  | 'any'

export interface ToolField {
  readonly title: string
  /** Several types are alternatives. */
  readonly type: FieldType | readonly FieldType[]
  readonly description: string
  /** Other spellings of the same field. */
  readonly aliases?: readonly string[]
  /** Spellings that are kept for existing playbooks only: editors strike them through. */
  readonly older?: readonly string[]
  /** Spellings that are understood and not offered. */
  readonly also?: readonly string[]
  readonly required?: boolean
  /** The only texts that the tool takes, in any case of letters. */
  readonly words?: readonly string[]
  /** Least number of an integer; 0 when not given. */
  readonly least?: number
  readonly examples?: readonly Json[]
}

export type ToolFields = Readonly<Record<string, ToolField>>

export interface ToolDeclaration {
  readonly kind: string
  readonly title: string
  /** What it does and what its data is, in a sentence or two. */
  readonly description: string
  readonly fields: ToolFields
  /** Groups of fields of which at least one must be given, with what to say when none is. */
  readonly oneOf?: readonly { readonly fields: readonly string[]; readonly message?: string }[]
  /** True when the tool takes names that nobody can list; then no name is unknown. */
  readonly open?: boolean
  /** Whole blocks without `kind`, as a playbook has them. */
  readonly examples: readonly JsonObject[]
  /** Fields of its data, for the reference. */
  readonly data?: Readonly<Record<string, string>>
  /** Further notes for the reference: errors, defaults, limits. */
  readonly notes?: readonly string[]
  /**
   * Set for a kind that the worker of this project does not run: what it needs, and what to use instead. The kind
   * stays valid, since another worker may have it.
   */
  readonly unavailable?: string
}

/** Fields of every kind. The language itself reads `kind`, `name`, `input`, `args`, `set`, `eval` and `retry`. */
export const COMMON_FIELDS: ToolFields = {
  auth: {
    title: 'Credential',
    type: ['text', 'mapping'],
    description:
      'Name of a stored credential or of a keychain entry. The worker looks it up when the tool runs.',
    older: ['credential'],
    examples: ['pg_main', '{{ workload.pg_auth }}'],
  },
  timeout: {
    title: 'Time limit',
    type: 'duration',
    description: 'Seconds, or a duration such as 5m. Passing it is an error.',
    examples: [30, '5m'],
  },
  timeout_seconds: {
    title: 'Time limit',
    type: 'duration',
    description: 'Seconds the tool may take.',
    examples: [30],
  },
  output: {
    title: 'Output',
    type: 'any',
    description: 'Which fields of a large result stay readable: {output_select: […]}.',
    examples: [{ output_select: ['id'] }],
  },
  output_select: {
    title: 'Selected fields',
    type: 'any',
    description: 'Top-level fields of a large result that stay readable.',
    examples: [['id', 'count']],
  },
}

/** Names that no tool sees or minds: words of the language, and notes for readers. */
export const LANGUAGE_NAMES: readonly string[] = [
  'kind',
  'name',
  'input',
  'args',
  'set',
  'eval',
  'retry',
  'spec',
  'sink',
  'desc',
  'description',
  'title',
]

/** Every name a field has, its own first. */
export const namesOf = (
  name: string,
  { aliases = [], older = [], also = [] }: ToolField,
): readonly string[] => [name, ...aliases, ...older, ...also]

/** The field of a name or of one of its other spellings. */
export const fieldNamed = (fields: ToolFields, wanted: string): ToolField | null => {
  const own = Object.hasOwn(fields, wanted) ? fields[wanted] : undefined
  if (own !== undefined) return own
  return Object.entries(fields).find(([name, field]) => namesOf(name, field).includes(wanted))?.[1] ?? null
}

/** Every name that the block of a kind may have. */
export const knownNames = ({ fields }: ToolDeclaration): readonly string[] => [
  ...[...Object.entries(fields), ...Object.entries(COMMON_FIELDS)].flatMap(([name, field]) =>
    namesOf(name, field),
  ),
  ...LANGUAGE_NAMES,
]
