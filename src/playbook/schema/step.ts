/* oxlint-disable unicorn/no-thenable -- `then` is a word of JSON Schema and of rules; nothing here is awaited */
/** One element of `workflow`. */
import {
  FILLED_TEXT,
  OPTIONAL_FILLED_TEXT,
  OPTIONAL_MAPPING,
  OPTIONAL_TEXT,
  TEXT_LIST,
  about,
  legacy,
  optionalList,
  ref,
  word,
} from './parts.ts'
import type { Schema } from './parts.ts'

const DURATION = String.raw`^\s*(?:\d+(?:\.\d+)?|(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+)\s*$`

const admit: Schema = {
  ...about('Admission', 'Rules that decide whether the step runs. Without a matching rule it does.', {
    rules: [{ when: '{{ workload.enabled }}', then: { allow: true } }, { else: { then: { allow: false } } }],
  }),
  type: ['object', 'array', 'null'],
  items: ref('admitRule'),
  properties: {
    mode: about('Mode', 'The first rule that matches decides.', 'exclusive'),
    rules: { ...about('Rules', 'Tried from the top.'), ...optionalList(ref('admitRule')) },
  },
}

const stepSpec: Schema = {
  ...about('Options', 'Time limit, behaviour on error, admission.', { timeout: '5m', on_error: 'continue' }),
  type: ['object', 'null'],
  properties: {
    timeout: {
      ...about(
        'Time limit',
        'A duration such as 30s, 5m, 1h30m, 250ms, or plain seconds. Passing it is an error.',
        '30s',
        90,
      ),
      type: ['string', 'number', 'null'],
      exclusiveMinimum: 0,
      pattern: DURATION,
    },
    on_error: {
      ...about(
        'On error',
        'fail: only arcs whose guard reads the outcome can follow. continue: every arc can. retry: the command is issued again.',
        'continue',
      ),
      ...word('fail', 'continue', 'retry'),
      default: 'fail',
    },
    next_mode: {
      ...about('Routing mode', 'exclusive or inclusive, where next has no mode of its own.', 'inclusive'),
      ...OPTIONAL_TEXT,
      ...legacy('Write next: {spec: {mode: inclusive}, arcs: […]}'),
    },
    policy: { ...about('Policy', 'Admission of the step.'), ...OPTIONAL_MAPPING, properties: { admit } },
  },
}

const inputWords = about('Input', 'Values every task of the step gets, unless it has its own of that name.', {
  limit: '{{ workload.limit }}',
})

/** Fields of a result that stay readable when the result is stored apart. */
export const output: Schema = {
  ...about('Output', 'Which fields of a large result stay readable without loading it.', {
    output_select: ['id', 'count'],
  }),
  properties: {
    output_select: {
      ...about('Selected fields', 'Top-level fields that stay readable.', ['id', 'count']),
      ...TEXT_LIST,
    },
    select: { ...about('Selected fields', 'Another name for output_select.', ['id']), ...TEXT_LIST },
    store: about('Store', 'Where a large result is kept; the engine decides by size.'),
  },
}

export const stepDefinitions: Readonly<Record<string, Schema>> = {
  step: {
    ...about('Step', 'One unit of work: a name, a tool to run, and what comes next.', {
      step: 'fetch',
      tool: { kind: 'http', url: 'https://example.com/items' },
      next: 'report',
    }),
    type: 'object',
    required: ['step'],
    properties: {
      step: {
        ...about(
          'Name',
          'Unique name of the step. Templates read its result by this name, so use letters, digits and _. The run starts at start.',
          'start',
          'fetch_items',
        ),
        ...FILLED_TEXT,
      },
      desc: { ...about('Description', 'A note for readers.', 'Loads the items'), ...OPTIONAL_TEXT },
      description: about('Description', 'Another name for desc.', 'Loads the items'),
      when: {
        ...about(
          'Enable guard',
          'The step runs only when this is true; otherwise it is skipped and its arcs are followed at once.',
          '{{ workload.enabled }}',
        ),
        ...OPTIONAL_FILLED_TEXT,
      },
      input: { ...inputWords, ...OPTIONAL_MAPPING },
      args: { ...inputWords, ...OPTIONAL_MAPPING, ...legacy('Write input') },
      with: { ...inputWords, ...OPTIONAL_MAPPING, ...legacy('Write input') },
      loop: ref('loop'),
      tool: ref('stepTool'),
      set: ref(
        'flowSet',
        about(
          'Variables to write',
          'Written after the step succeeded and before its arcs are followed. output is the data of the step.',
          { 'ctx.total': '{{ output.total }}' },
        ),
      ),
      next: ref('next'),
      spec: stepSpec,
      output,
      vars: ref('variables', {
        ...about('Variables', 'Variables to write.', { n: '{{ output.n }}' }),
        ...legacy('Write set: {ctx.name: value}'),
      }),
      case: false,
    },
  },
}
