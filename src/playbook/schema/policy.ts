/* oxlint-disable unicorn/no-thenable -- `then` is a word of JSON Schema and of rules; nothing here is awaited */
/** Rules: what to do after a task (`spec.policy.rules`), whether to admit a step, and the older spellings of both. */
import {
  FILLED_TEXT,
  OPTIONAL_FLAG,
  TEXT,
  TEXT_LIST,
  about,
  amount,
  at,
  legacy,
  optionalList,
  ref,
  word,
} from './parts.ts'
import type { Schema } from './parts.ts'

const VERBS = word('continue', 'retry', 'jump', 'break', 'fail')

const timing: Readonly<Record<string, Schema>> = {
  attempts: {
    ...about(
      'Attempts',
      'How many times the task may run in all, the first time included.',
      5,
      '{{ workload.attempts }}',
    ),
    ...amount('integer', 1),
    default: 3,
  },
  backoff: {
    ...about(
      'Backoff',
      'How the pause grows: none (no pause), fixed (`delay`), linear (`delay` times the attempt), exponential (doubles).',
      'exponential',
    ),
    ...word('none', 'fixed', 'linear', 'exponential'),
    default: 'none',
  },
  delay: {
    ...about(
      'Delay',
      'Seconds to wait before the next attempt. It has an effect only with a `backoff`.',
      2,
      0.5,
    ),
    ...amount('number', 0),
    default: 1,
  },
}

const verb: Schema = {
  ...about(
    'Action',
    'continue: the next task. retry: this task again. jump: the task named by `to`. break: end the step well. fail: end it with an error.',
    'retry',
  ),
  ...VERBS,
  default: 'continue',
}

/** A jump without a target leads nowhere. */
const jumpNeeds = (key: string): Schema => ({
  if: at(['do'], { const: 'jump' }),
  then: { required: [key], properties: { [key]: TEXT } },
})

const action: Schema = {
  ...about('What to do', 'The action of a rule and the variables it writes.', {
    do: 'retry',
    attempts: 5,
    backoff: 'exponential',
    delay: 2,
  }),
  type: ['object', 'null'],
  properties: {
    do: verb,
    ...timing,
    to: about(
      'Jump target',
      'With do: jump, the name of a task of this step, or previous.',
      'fetch',
      'previous',
    ),
    set: ref(
      'taskSet',
      about('Variables to write', 'Written before the action takes place.', { 'ctx.failed': true }),
    ),
    set_ctx: ref('variables', {
      ...about('ctx variables', 'Variables written to ctx.', { total: 1 }),
      ...legacy('Write set: {ctx.name: value}'),
    }),
    set_iter: ref('variables', {
      ...about('Iteration variables', 'Variables written to iter.', { page: 2 }),
      ...legacy('Write set: {iter.name: value}'),
    }),
  },
  ...jumpNeeds('to'),
}

const condition: Schema = {
  ...about(
    'Condition',
    'When it is true the rule applies, and no later rule is looked at. `output.status` is ok or error; `output.error`, ' +
      '`output.http.status` and `output.data` tell more.',
    "{{ output.status == 'error' and output.http.status == 429 }}",
    true,
  ),
  ...FILLED_TEXT,
}

/** `{when, then}`, `{then}`, `{else: {then}}`, `{else: {…block…}}` and `{else: null, then}`. */
const rule = (block: string, words: Schema): Schema => ({
  ...words,
  type: 'object',
  properties: {
    when: condition,
    then: about('Then', 'What the rule decides when its condition is true.'),
    else: about('Otherwise', 'What is decided when no rule before it applied: else: {then: {…}}.'),
    name: about('Name', 'A name for readers.'),
    desc: about('Description', 'A note for readers.'),
  },
  if: { required: ['else'] },
  then: {
    properties: { when: false },
    if: { properties: { else: { type: 'null' } } },
    then: { properties: { then: ref(block) } },
    else: { properties: { else: { ...elseBlock(block) } } },
  },
  else: { required: ['then'], properties: { then: ref(block) } },
})

const elseBlock = (block: string): Schema => ({
  type: 'object',
  if: { required: ['then'] },
  then: { properties: { then: ref(block) } },
  else: ref(block),
})

const evalAction: Schema = {
  ...about('What to do', 'The action of an eval entry.', { do: 'retry', attempts: 3 }),
  type: ['object', 'null'],
  properties: {
    do: verb,
    ...timing,
    target: about('Jump target', 'With do: jump, the name of a task of this step.', 'fetch'),
    set_vars: ref('taskSet'),
  },
  ...jumpNeeds('target'),
}

const evalEntry: Schema = {
  ...about('Eval entry', 'A rule in its older spelling: {expr, do, …} or {else: {do, …}}.', {
    expr: '{{ x }}',
    do: 'fail',
  }),
  type: 'object',
  properties: {
    expr: { ...about('Condition', 'A template or an expression.', '{{ x > 3 }}'), ...FILLED_TEXT },
  },
  if: { required: ['else'] },
  then: { properties: { else: ref('evalAction') } },
  else: ref('evalAction'),
}

export const policyDefinitions: Readonly<Record<string, Schema>> = {
  action,
  rule: rule(
    'action',
    about('Rule', 'Decides what happens after the task. The first rule whose condition is true wins.', {
      when: "{{ output.status == 'error' }}",
      then: { do: 'retry', attempts: 3, backoff: 'fixed', delay: 1 },
    }),
  ),
  taskPolicy: {
    ...about(
      'Task policy',
      'Rules tried from the top after each run of the task. Without a matching rule an error fails the step and success goes on.',
      { rules: [{ when: "{{ output.status == 'error' }}", then: { do: 'continue' } }] },
    ),
    properties: {
      rules: {
        ...about('Rules', 'Tried from the top; the first that matches wins.'),
        ...optionalList(ref('rule')),
      },
    },
  },
  admission: {
    ...about('Admission', 'Whether the step may run: {allow: true} or {allow: false}.', { allow: false }),
    type: ['object', 'null'],
    properties: {
      allow: { ...about('Allow', 'false skips the step.', false), ...OPTIONAL_FLAG, default: true },
    },
  },
  admitRule: rule(
    'admission',
    about('Admission rule', 'The first rule whose condition is true decides whether the step runs.', {
      when: '{{ workload.enabled }}',
      then: { allow: true },
    }),
  ),
  evalAction,
  evalEntry,
  retry: {
    ...about('Retry', 'Runs the tool again after an error, with a fixed pause.', {
      max_attempts: 3,
      backoff_seconds: 2,
    }),
    properties: {
      max_attempts: {
        ...about('Attempts', 'How many times the tool may run in all.', 3),
        ...amount('integer', 1),
        default: 3,
      },
      backoff_seconds: {
        ...about('Pause', 'Seconds between two attempts.', 2),
        ...amount('number', 0),
        default: 1,
      },
      retry_on: {
        ...about('Causes', 'http status codes, timeout or error. Without it every error is tried again.', [
          503,
          'timeout',
        ]),
        ...TEXT_LIST,
      },
    },
  },
}
