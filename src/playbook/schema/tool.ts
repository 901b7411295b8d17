/* oxlint-disable unicorn/no-thenable -- `then` is a word of JSON Schema and of rules; nothing here is awaited */
/**
 * Tool blocks: one tool, a pipeline of tasks, and the reusable tools of the workbook.
 *
 * 1. `kind` decides which parameters an editor offers; both come from the declarations of the tools. Other parameters are free.
 * 2. A reference to the workbook keeps only its name and input, so nothing else of it is checked.
 * 3. Explicit rules hide `eval`, and `eval` hides `retry`; what is hidden is not checked.
 */
import { TOOL_DECLARATIONS } from '../../contract/tools/all.ts'
import { COMMON_FIELDS } from '../../contract/tools/tool-declaration.ts'
import type { ToolDeclaration } from '../../contract/tools/tool-declaration.ts'
import { OPTIONAL_MAPPING, TEXT, TEXT_LIST, about, at, gives, legacy, optionalList, ref } from './parts.ts'
import type { Schema } from './parts.ts'
import { output } from './step.ts'
import { fieldSchemas } from './tool-field.ts'

const toolKind: Schema = {
  ...about(
    'Tool kind',
    'What runs: an HTTP request, a SQL statement, Python code, another playbook, …',
    'http',
  ),
  enum: TOOL_DECLARATIONS.map(({ kind }) => kind),
  enumDescriptions: TOOL_DECLARATIONS.map(({ description }) => description),
}

const isKind = (kind: string): Schema => at(['kind'], { const: kind })

const NON_EMPTY_LIST: Schema = { type: 'array', minItems: 1 }

const inputWords = about('Input', 'Values for the tool, by name. They win over the input of the step.', {
  limit: '{{ workload.limit }}',
})

const common: Readonly<Record<string, Schema>> = {
  kind: ref('toolKind'),
  name: about('Name', 'Name of the task in a list of tasks; templates and jumps refer to it.', 'fetch'),
  input: inputWords,
  args: { ...inputWords, ...legacy('Write input') },
  ...fieldSchemas(COMMON_FIELDS),
  set: about('Variables to write', 'Written after the task ran: {ctx.name: value}. output is its data.', {
    'ctx.total': '{{ output.total }}',
  }),
  spec: about('Options', 'policy: {rules: […]} decides what happens after the task.', {
    policy: { rules: [{ when: "{{ output.status == 'error' }}", then: { do: 'retry', attempts: 3 } }] },
  }),
  retry: about('Retry', 'Short for one rule: run again after an error.', {
    max_attempts: 3,
    backoff_seconds: 2,
  }),
  eval: {
    ...about('Rules', 'Rules in their older spelling.'),
    ...legacy('Write spec: {policy: {rules: […]}}'),
  },
}

const hasRules = at(['spec', 'policy', 'rules'], NON_EMPTY_LIST)
const hasEval: Schema = { anyOf: [at(['eval'], NON_EMPTY_LIST), at(['spec', 'eval'], {})] }

const checkedTool: Schema = {
  properties: {
    set: ref('taskSet'),
    spec: { properties: { policy: ref('taskPolicy') } },
  },
  if: hasRules,
  else: {
    properties: { eval: optionalList(ref('evalEntry')) },
    if: hasEval,
    else: { properties: { retry: ref('retry') } },
  },
}

/** The parameters of one kind, offered where that kind is written. */
const parametersOf = ({ kind, title, description, fields }: ToolDeclaration): Schema => ({
  if: isKind(kind),
  then: { title, description, properties: fieldSchemas(fields) },
})

/** A tool block wherever it stands. Older playbooks put its kind and parameters below `spec`. */
const toolBlock: Schema = {
  ...about('Tool', 'The tool to run and its parameters.', {
    kind: 'http',
    method: 'GET',
    url: 'https://example.com',
  }),
  type: 'object',
  properties: common,
  anyOf: [{ required: ['kind'] }, at(['spec', 'kind'], ref('toolKind'))],
  allOf: [
    {
      if: isKind('workbook'),
      then: { required: ['name'], properties: { name: TEXT } },
      else: checkedTool,
    },
    ...TOOL_DECLARATIONS.map(parametersOf),
  ],
}

/** `args` are another name for `input`, except for a container, whose argv they are. */
const checkedInput: Schema = {
  if: isKind('workbook'),
  else: {
    properties: { input: OPTIONAL_MAPPING },
    if: at(['kind'], { not: { const: 'container' } }),
    then: { properties: { args: OPTIONAL_MAPPING }, not: { allOf: [gives('input'), gives('args')] } },
  },
}

const task: Schema = { ...about('Task', 'One tool of the step.'), allOf: [ref('toolBlock'), checkedInput] }

const taskItem: Schema = {
  ...about('Task', 'One task of the pipeline: {name, kind, …}, or one name with a tool block below it.', {
    name: 'fetch',
    kind: 'http',
    url: 'https://example.com',
  }),
  type: 'object',
  properties: {
    name: about('Name', 'Name of the task; templates and jumps refer to it.', 'fetch'),
    kind: about('Tool kind', 'What runs.', 'http'),
  },
  if: { required: ['kind'] },
  then: ref('task'),
  else: { minProperties: 1, maxProperties: 1, additionalProperties: ref('task') },
}

const singleTool: Schema = {
  allOf: [
    ref('task'),
    { properties: { output: { properties: output['properties'] ?? {} }, output_select: TEXT_LIST } },
  ],
}

const stepTool: Schema = {
  ...about(
    'Tool',
    'What the step does: one tool {kind, …}, or a list of named tasks that run one after the other. Without a tool the step ' +
      'only routes.',
    { kind: 'python', input: { n: 2 }, code: 'result = n * 2' },
    [{ name: 'fetch', kind: 'http', url: 'https://example.com' }],
  ),
  type: ['object', 'array', 'null'],
  minItems: 1,
  items: ref('taskItem'),
  if: { type: 'object' },
  then: {
    if: at(['kind'], {}),
    then: {
      if: { allOf: [isKind('task_sequence'), at(['tasks'], { type: 'array' })] },
      then: { properties: { tasks: { minItems: 1, items: ref('taskItem') } } },
      else: ref('singleTool'),
    },
    else: {
      if: { minProperties: 1, additionalProperties: at(['kind'], {}) },
      then: { additionalProperties: ref('task') },
      else: ref('singleTool'),
    },
  },
}

const workbookEntry: Schema = {
  ...about('Reusable tool', 'A tool that steps use by name: tool: {kind: workbook, name: score}.', {
    name: 'score',
    tool: { kind: 'python', input: { n: 0 }, code: 'result = n * 2' },
  }),
  type: 'object',
  required: ['name', 'tool'],
  properties: {
    name: { ...about('Name', 'How steps refer to the tool.', 'score'), ...TEXT },
    tool: ref('workbookTool'),
    title: about('Title', 'A heading for readers.'),
    desc: about('Description', 'A note for readers.'),
    description: about('Description', 'A note for readers.'),
    assert: about('Assertions', 'Has no effect.'),
    sink: about('Sink', 'Has no effect; save data with a tool.'),
  },
}

export const toolDefinitions: Readonly<Record<string, Schema>> = {
  toolKind,
  toolBlock,
  task,
  taskItem,
  singleTool,
  stepTool,
  workbookTool: {
    ...about('Tool', 'One tool; a pipeline cannot be reused.', { kind: 'python', code: 'result = 1' }),
    allOf: [ref('toolBlock'), { not: isKind('workbook') }],
  },
  workbookEntry,
}
