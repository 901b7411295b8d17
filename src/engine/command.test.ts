/* oxlint-disable unicorn/no-thenable -- policy rules have a `then` */
/** What a command carries: the rendered configuration, the input, and only those variables that are still needed. */
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../contract/json.ts'
import { started } from './testing/inputs.ts'
import { aPlaybook } from './testing/playbook.ts'
import { createSimulation, runThrough } from './testing/simulation.ts'

interface Built {
  readonly context: JsonObject
  readonly meta: JsonObject
}

const commandOf = (step: string, payload: JsonObject = {}, name = 'start'): Built => {
  const simulation = createSimulation(aPlaybook(`  - {step: start, ${step}}`))
  simulation.tell(started(payload))
  const { context, meta } = simulation.issued(name)
  return { context: context as JsonObject, meta }
}

describe('the configuration', () => {
  it('is rendered with types, once (rule 1)', () => {
    const { context, meta } = commandOf(
      "tool: {kind: http, url: '{{ base }}/x', params: {n: '{{ n }}', t: '{{ n }}0', raw: '{{ raw }}'}}",
      {
        base: 'http://h',
        n: 5,
        raw: '{{ 7 * 7 }}',
      },
    )
    expect(context['tool_config']).toEqual({
      kind: 'http',
      url: 'http://h/x',
      params: { n: 5, t: '50', raw: '{{ 7 * 7 }}' },
    })
    expect(context['render_context']).toEqual({})
    expect(meta['late']).toBeUndefined()
  })

  it('case 112: leaves templates that read secrets to the worker, and tells where they are (rule 1)', () => {
    const { context, meta } = commandOf(
      "tool: {kind: http, url: '{{ u }}', headers: {X-A: ['{{ u }}', 'Bearer {{ keychain.api.key }} {{ user }}'], X-B: plain}}",
      { u: 'U', user: 'me', secret: 'not needed' },
    )
    expect(context['tool_config']).toEqual({
      kind: 'http',
      url: 'U',
      headers: { 'X-A': ['U', 'Bearer {{ keychain.api.key }} {{ user }}'], 'X-B': 'plain' },
    })
    expect(meta['late']).toEqual([['headers', 'X-A', 1]])
    expect(context['render_context']).toEqual({ user: 'me' })
  })

  it('leaves program text alone where its braces are no template', () => {
    const code = (text: string): Json =>
      (
        commandOf(`tool: {kind: python, code: ${JSON.stringify(text)}}`, { n: 3 }).context[
          'tool_config'
        ] as JsonObject
      )['code'] ?? null
    expect(code('result = {{ n }}')).toBe('result = 3')
    expect(code('x = {{ n n }}; y = {{1: {2: 3}}}')).toBe('x = {{ n n }}; y = {{1: {2: 3}}}')
  })

  it('leaves program text alone where its braces read names that nobody knows', () => {
    const code = (text: string): Json =>
      (
        commandOf(`tool: {kind: python, code: ${JSON.stringify(text)}}`, { n: 3, none: null }).context[
          'tool_config'
        ] as JsonObject
      )['code'] ?? null
    expect(code('print(f"{{ value }} {{n}}")')).toBe('print(f"{{ value }} {{n}}")')
    expect(code('print("{{ n }} {{ none }}")')).toBe('print("3 None")')
    expect(code('{% for x in [1, 2] %}{{ x }}{{ n }};{% endfor %}')).toBe('13;23;')
    expect(code('x = "{{ n / 0 }}"')).toBe('x = "{{ n / 0 }}"')
    expect(code('x = "{{ ctx.n }}"')).toBe('x = "3"')
  })

  it('leaves program text that reads secrets to the worker as it is', () => {
    const { context, meta } = commandOf(
      'tool: {kind: python, code: \'k = "{{ keychain.k }}" + "{{ n }}"\'}',
      { n: 3 },
    )
    expect(context['tool_config']).toEqual({ kind: 'python', code: 'k = "{{ keychain.k }}" + "{{ n }}"' })
    expect(meta['late']).toEqual([['code']])
    expect(context['render_context']).toEqual({ n: 3 })
  })
})

describe('the input', () => {
  it('case 23: of the step is a default under that of the tool', () => {
    const { context } = commandOf(
      "input: {k: '{{ a }}', both: step}, tool: {kind: noop, input: {both: tool}}",
      { a: 1 },
    )
    expect(context['args']).toEqual({ k: 1, both: 'tool' })
  })

  it('case 36: keeps all digits of a long id', () => {
    const { context } = commandOf("tool: {kind: noop, input: {id: '{{ id }}'}}", { id: '123456789012345678' })
    expect(context['args']).toEqual({ id: '123456789012345678' })
  })

  it('that reads secrets travels beside the configuration, for the worker to render', () => {
    const { context, meta } = commandOf(
      "input: {key: '{{ keychain.a }}', n: '{{ n }}'}, tool: {kind: python, code: 'x', input: {deep: {t: '{{ keychain.b }} {{ n }}', u: '{{ n }}'}}}",
      { n: 1 },
    )
    expect(context['args']).toEqual({ n: 1 })
    expect(context['tool_config']).toEqual({
      kind: 'python',
      code: 'x',
      input: { key: '{{ keychain.a }}', deep: { t: '{{ keychain.b }} {{ n }}', u: 1 } },
    })
    expect(meta['late']).toEqual([
      ['input', 'key'],
      ['input', 'deep', 't'],
    ])
    expect(context['render_context']).toEqual({ n: 1 })
  })
})

describe('the variables', () => {
  it('are all there when code asks for the context (rule 2)', () => {
    const graph = aPlaybook(
      `
  - {step: start, tool: {kind: noop}, set: {ctx.v: 1}, next: b}
  - {step: b, tool: {kind: python, code: 'def main(context): return context'}}`,
      'workload: {w: 2}',
    )
    const simulation = runThrough(graph, () => ({ n: 1 }), started())
    expect(simulation.issued('b').context).toMatchObject({
      render_context: {
        path: 'tests/test',
        w: 2,
        v: 1,
        start: { n: 1 },
        execution_id: '500',
        catalog_id: '7',
      },
    })
  })

  it('are all there when a late template reads ctx as a whole (rule 2)', () => {
    const { context } = commandOf("tool: {kind: http, url: '{{ keychain.k }}{{ ctx }}'}", { w: 2 })
    expect(context['render_context']).toEqual({
      path: 'tests/test',
      w: 2,
      execution_id: '500',
      catalog_id: '7',
    })
  })

  it('are those that a late template reads, by bare name or as a member of ctx (rule 2)', () => {
    const { context, meta } = commandOf(
      "tool: {kind: http, url: '{{ keychain.k }}{{ ctx.a.x }}{{ b[0] }}{{ ctx.none }}'}",
      { a: { x: 1, y: 2 }, b: [3], c: 4 },
    )
    expect(context['render_context']).toEqual({ a: { x: 1, y: 2 }, b: [3] })
    expect(meta['step_results']).toEqual({})
  })

  it('are all there when it cannot be told which member of ctx is read (rule 2)', () => {
    for (const template of [
      '{{ ctx[name] }}',
      '{{ ctx.get(name) }}',
      '{% for k in ctx.keys() %}{% endfor %}',
    ]) {
      const { context } = commandOf(`tool: {kind: http, url: "{{ keychain.k }}${template}"}`, {
        name: 'a',
        a: 1,
      })
      expect(context['render_context']).toMatchObject({ name: 'a', a: 1, execution_id: '500' })
    }
  })

  it('tell which of them are results of steps, and of which shape', () => {
    const graph = aPlaybook(
      `
  - {step: start, tool: {kind: noop}, next: each}
  - {step: each, loop: {in: [1], iterator: item}, tool: {kind: noop}, next: pipe}
  - {step: pipe, tool: [{one: {kind: noop}}, {two: {kind: noop}}], next: hidden}
  - {step: hidden, tool: {kind: noop}, set: {ctx.hidden: 1}, next: late}
  - {step: late, tool: {kind: http, url: '{{ keychain.k }}{{ start }}{{ each }}{{ ctx.pipe }}{{ hidden }}{{ w }}'}, next: all}
  - {step: all, tool: {kind: python, code: 'result = context'}}`,
      'workload: {w: 1}',
    )
    const simulation = runThrough(graph, () => ({ n: 1 }), started())
    const shapes = { start: 'data', each: 'loop', pipe: ['one', 'two'] }
    expect(simulation.issued('late').meta['step_results']).toEqual(shapes)
    expect(simulation.issued('all').meta['step_results']).toEqual({ ...shapes, late: 'data' })
    expect(simulation.issued('start').meta['step_results']).toBeUndefined()
  })

  it('do not grow with the execution (rule 2)', () => {
    const steps = Array.from(
      { length: 30 },
      (_, index) =>
        `  - {step: s${index}, tool: {kind: noop, input: {x: '{{ workload.w }}'}}, next: s${index + 1}}`,
    )
    const graph = aPlaybook(
      `  - {step: start, tool: {kind: noop}, next: s0}\n${steps.join('\n')}\n  - {step: s30, tool: {kind: noop}}`,
      'workload: {w: 2}',
    )
    const simulation = runThrough(graph, () => ({ big: 'x'.repeat(1000) }), started())
    const size = (name: string): number => JSON.stringify(simulation.issued(name)).length
    expect(size('s29') - size('s5')).toBeLessThan(20)
  })
})

describe('a pipeline', () => {
  it('leaves auth to the worker where it reads secrets or what the tasks themselves have, and says so', () => {
    const late = (auth: string): unknown => {
      const { context, meta } = commandOf(
        `tool: [{login: {kind: noop, set: {ctx.made: 1}}}, {use: {kind: http, url: u, input: {own: 1}, auth: ${auth}}}]`,
        { who: 'me' },
      )
      const [, second] = context['tool_config'] as { use?: { auth: unknown } }[]
      return [second?.use?.auth, meta['late'] ?? null]
    }
    expect(late("'{{ who }}'")).toEqual(['me', null])
    for (const template of [
      '{{ login.token }}',
      '{{ made }}',
      '{{ ctx.made }}',
      '{{ _prev.token }}',
      '{{ own }}',
      '{{ keychain.k.v }}',
    ]) {
      expect(late(`{token: '${template}'}`)).toEqual([{ token: template }, [[1, 'use', 'auth']]])
    }
  })

  it('travels as an ordered list of labelled tasks, rendered by the worker except for auth', () => {
    const { context, meta } = commandOf(
      `input: {base: '{{ b }}'}, tool: [{first: {kind: http, url: '{{ u }}', auth: '{{ who }}', input: {x: 1}}},
        {second: {kind: python, code: 'r = 1', set: {ctx.total: '{{ output.n }}'}, spec: {policy: {rules: [
          {when: '{{ first.ok and limit }}', then: {do: jump, to: first, set: {iter.page: 2}}}, {else: {then: {do: retry, attempts: 3}}}]}}}}]`,
      { u: 'U', who: 'me', b: 'B', limit: 4, unused: 1 },
    )
    expect(context['tool_config']).toEqual([
      { first: { kind: 'http', url: '{{ u }}', auth: 'me', input: { base: '{{ b }}', x: 1 } } },
      {
        second: {
          kind: 'python',
          code: 'r = 1',
          input: { base: '{{ b }}' },
          set: { 'ctx.total': '{{ output.n }}' },
          spec: {
            policy: {
              rules: [
                {
                  when: '{{ first.ok and limit }}',
                  then: {
                    do: 'jump',
                    attempts: expect.anything(),
                    backoff: expect.anything(),
                    delay: expect.anything(),
                    to: 'first',
                    set: { 'iter.page': 2 },
                  },
                },
                {
                  when: true,
                  then: { do: 'retry', attempts: 3, backoff: expect.anything(), delay: expect.anything() },
                },
              ],
            },
          },
        },
      },
    ])
    expect(meta).toMatchObject({ tool_kind: 'task_sequence' })
    expect(meta['unwrap']).toBeUndefined()
    expect(context['args']).toEqual({})
    expect(context['render_context']).toEqual({ b: 'B', u: 'U', who: 'me', limit: 4 })
  })

  it('a single tool with policy rules is a pipeline of one whose data is the data of the step', () => {
    const { meta, context } = commandOf(
      'tool: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue}}}]}}}',
    )
    expect(meta).toMatchObject({ tool_kind: 'task_sequence', unwrap: true })
    expect(context['tool_config']).toMatchObject([{ start_task: { kind: 'noop' } }])
  })

  it('on_error: retry tries every task three times, unless it has rules of its own', () => {
    const rules = (step: string): Json =>
      (commandOf(`${step}, spec: {on_error: retry}`).context['tool_config'] as JsonObject[]).map(
        (task) => (Object.values(task)[0] as { spec: { policy: { rules: Json } } }).spec.policy.rules,
      )
    const retry = [
      {
        when: "{{ output.status == 'error' }}",
        then: { do: 'retry', attempts: 3, backoff: 'none', delay: 0 },
      },
    ]
    expect(rules('tool: {kind: noop}')).toEqual([retry])
    const own = "{kind: noop, spec: {policy: {rules: [{when: '{{ true }}', then: {do: continue}}]}}}"
    expect(rules(`tool: [{a: {kind: noop}}, {b: ${own}}]`)).toMatchObject([
      retry,
      [{ when: '{{ true }}', then: { do: 'continue' } }],
    ])
    const { meta } = commandOf('tool: {kind: noop}, spec: {on_error: retry}')
    expect(meta).toMatchObject({ tool_kind: 'task_sequence', unwrap: true })
  })

  it('in a loop gets the iteration as input and, where templates read it, as variables', () => {
    const { context } = commandOf(
      "loop: {in: [a], iterator: item}, tool: [{t: {kind: python, code: 'r = item', input: {x: '{{ iter.item }}'}}}]",
      {},
      'start#0',
    )
    expect(context).toMatchObject({
      args: { item: 'a', _index: 0, _total: 1 },
      render_context: { iter: { item: 'a' } },
    })
  })

  it('a task whose template does not compile is left to the worker', () => {
    const { context } = commandOf('tool: [{t: {kind: python, code: \'f"{{literal} {x}}"\'}}]')
    expect(context['tool_config']).toEqual([{ t: { kind: 'python', code: 'f"{{literal} {x}}"', input: {} } }])
  })
})

describe('the metadata', () => {
  it('names execution, step and issuing event (rule 3)', () => {
    const simulation = createSimulation(
      aPlaybook('  - {step: start, spec: {timeout: 30s}, tool: {kind: shell, command: ls}}'),
    )
    simulation.tell(started())
    const event = simulation.issued('start')
    expect(event.meta).toEqual({
      emitted_by: 'orchestrator',
      command_id: `500:start:${event.eventId}`,
      step: 'start',
      tool_kind: 'shell',
      max_attempts: 3,
      attempt: 1,
      execution_id: '500',
      catalog_id: '7',
      actionable: true,
      timeout_ms: 30_000,
    })
    expect(event).toMatchObject({ nodeType: 'shell', status: 'PENDING' })
  })

  it('a loop over a step without a tool cannot be built', () => {
    const graph = aPlaybook('  - {step: start, loop: {in: [1], iterator: i}}')
    expect(runThrough(graph, () => null, started()).state().error).toBe(
      "Orchestrator evaluate failed: Step 'start': has no tool to run",
    )
  })
})
