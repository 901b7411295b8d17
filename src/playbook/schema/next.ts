/* oxlint-disable unicorn/no-thenable -- `then` is a word of JSON Schema and of rules; nothing here is awaited */
/** `next` of a step: a name, a list of names, a list of targets, or a router with arcs. */
import { OPTIONAL_FILLED_TEXT, OPTIONAL_TEXT, TEXT, about, legacy, optionalList, ref } from './parts.ts'
import type { Schema } from './parts.ts'

const arc: Schema = {
  ...about('Arc', 'Leads to a step when its guard is true.', {
    step: 'report',
    when: '{{ output.count > 0 }}',
  }),
  type: 'object',
  required: ['step'],
  properties: {
    step: { ...about('Target', 'The name of the step the arc leads to.', 'report'), ...TEXT },
    when: {
      ...about(
        'Guard',
        'Condition of the arc; without one it always fires. A guard that reads output, error or the name of the step also ' +
          'sees failures, and handles them when it fires.',
        '{{ output.count > 0 }}',
        "{{ output.status == 'error' }}",
      ),
      ...OPTIONAL_FILLED_TEXT,
    },
    set: ref(
      'flowSet',
      about('Variables to write', 'Written when the arc fires, before the target runs.', { 'ctx.page': 2 }),
    ),
    args: ref('variables', {
      ...about('Arguments', 'Variables for the target.', { page: 2 }),
      ...legacy('Write set: {ctx.name: value}'),
    }),
    spec: about('Options', 'Options of the arc; none has an effect.'),
    desc: about('Description', 'A note for readers.'),
    description: about('Description', 'A note for readers.'),
  },
}

const EITHER_CASE = String.raw`^\s*(?:[eE][xX][cC][lL][uU][sS][iI][vV][eE]|[iI][nN][cC][lL][uU][sS][iI][vV][eE])\s*$`

const router: Schema = {
  ...about('Router', 'Arcs tried in order.', { spec: { mode: 'exclusive' }, arcs: [{ step: 'report' }] }),
  type: 'object',
  required: ['arcs'],
  properties: {
    spec: {
      ...about('Options', 'How the arcs are chosen.', { mode: 'inclusive' }),
      type: ['object', 'null'],
      properties: {
        mode: {
          ...about(
            'Mode',
            'exclusive: the first arc whose guard is true. inclusive: every such arc.',
            'inclusive',
          ),
          anyOf: [{ enum: ['exclusive', 'inclusive', null] }, { type: 'string', pattern: EITHER_CASE }],
          default: 'exclusive',
        },
        on_no_match: about('Without a match', 'Has no effect: the branch ends where no arc fires.'),
        policy: about('Policy', 'Has no effect.'),
      },
    },
    arcs: { ...about('Arcs', 'Where the step may lead.', [{ step: 'report' }]), ...optionalList(ref('arc')) },
  },
}

export const nextDefinitions: Readonly<Record<string, Schema>> = {
  arc,
  router,
  singleTarget: ref('arc', legacy('Write next: {arcs: [{step: name}]}')),
  next: {
    ...about(
      'What runs next',
      'The name of a step, a list of names (all of them run), a list of {step, when}, or {spec: {mode}, arcs: [{step, when, ' +
        'set}]}. Without next the branch ends here.',
      'report',
      ['left', 'right'],
      { arcs: [{ step: 'retry_later', when: "{{ output.status == 'error' }}" }, { step: 'report' }] },
    ),
    type: ['string', 'number', 'boolean', 'object', 'array', 'null'],
    allOf: [
      {
        if: { type: 'array' },
        then: {
          if: { items: { type: 'object' } },
          then: { items: ref('arc') },
          else: { items: OPTIONAL_TEXT },
        },
      },
      {
        if: { type: 'object' },
        then: {
          if: { required: ['step'], not: { required: ['arcs'] } },
          then: ref('singleTarget'),
          else: ref('router'),
        },
      },
    ],
  },
}
