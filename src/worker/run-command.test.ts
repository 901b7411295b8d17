import { describe, expect, test } from 'vitest'

import type { JsonObject } from '../contract/json.ts'
import { systemClock } from './clock.ts'
import { createCommandRunner } from './run-command.ts'
import { aCommand } from './test-support.ts'
import { configFailure } from './tool-failure.ts'
import type { Tool, ToolCall } from './tool.ts'
import { noopTool } from './tools/noop.ts'
import { createToolRegistry } from './tools/registry.ts'

const signal = new AbortController().signal

/** Answers what it was called with. */
const echo: Tool = {
  kind: 'echo',
  instant: true,
  run: ({ config, input }) => ({ outcome: 'ok', data: { config, input } }),
}

const toolNamed = (kind: string, run: (call: ToolCall) => ReturnType<Tool['run']>): Tool => ({
  kind,
  instant: false,
  run,
})

const runnerOf = (...tools: Tool[]): ReturnType<typeof createCommandRunner> =>
  createCommandRunner({
    tools: createToolRegistry([noopTool, echo, ...tools]),
    workerId: 'worker-1',
    clock: systemClock,
    uuid: () => 'a-uuid',
  })

const echoed = (
  toolConfig: JsonObject,
  args: JsonObject = {},
  meta: JsonObject = {},
  variables: JsonObject = {},
) =>
  runnerOf({ ...echo, kind: 'container' }).run(
    aCommand({
      toolKind: (toolConfig['kind'] as string | undefined) ?? 'echo',
      meta,
      context: { tool_config: toolConfig, args, render_context: variables },
    }),
    signal,
  )

describe('noop', () => {
  test('answers its result, also when that is null or false', () => {
    const runner = runnerOf()
    expect(runner.run(aCommand({}, { kind: 'noop', result: { a: 1 } }), signal)).toEqual({
      outcome: 'ok',
      data: { a: 1 },
    })
    expect(runner.run(aCommand({}, { kind: 'noop', result: null }), signal)).toEqual({
      outcome: 'ok',
      data: null,
    })
  })

  test('answers a note without one', () => {
    const runner = runnerOf()
    expect(runner.run(aCommand({}, {}), signal)).toEqual({
      outcome: 'ok',
      data: { status: 'ok', message: 'noop' },
    })
    expect(runner.run(aCommand({}, { message: 'hi' }), signal)).toEqual({
      outcome: 'ok',
      data: { status: 'ok', message: 'hi' },
    })
  })
})

describe('preparing a tool block', () => {
  test('step input is a default under the tool’s own input (3)', () => {
    expect(echoed({ kind: 'echo', url: 'x', input: { a: 2 } }, { a: 1, b: 1 })).toEqual({
      outcome: 'ok',
      data: { config: { url: 'x' }, input: { a: 2, b: 1 } },
    })
  })

  test('args is another spelling of input, except where it is an argument vector', () => {
    expect(echoed({ kind: 'echo', args: { a: 2 } }, { b: 1 })).toMatchObject({
      data: { config: {}, input: { a: 2, b: 1 } },
    })
    expect(echoed({ kind: 'container', args: ['-l'] }, { b: 1 })).toMatchObject({
      data: { config: { args: ['-l'] }, input: { b: 1 } },
    })
  })

  test('only the strings named as late are rendered (2)', () => {
    const config = { kind: 'echo', late: '{{ 1 + 1 }}', final: '{{ 1 + 1 }}', list: ['{{ n }}', '{{ n }}'] }
    expect(echoed(config, {}, { late: [['late'], ['list', 1], ['not', 'there']] }, { n: 5 })).toMatchObject({
      data: { config: { late: 2, final: '{{ 1 + 1 }}', list: ['{{ n }}', 5] } },
    })
  })

  test('late templates see the command, the input, the variables and ctx', () => {
    const config = {
      kind: 'echo',
      input: { who: '{{ name }}', none: null },
      text: '{{ execution_id }} {{ step }} {{ worker_id }} {{ who }} {{ input.who }} {{ ctx.name }} {{ job.uuid }}',
      hidden: '{{ none }}',
    }
    const meta = { late: [['text'], ['hidden'], ['input', 'who']] }
    expect(echoed(config, {}, meta, { name: 'Ada', none: 'below', step: 'no' })).toEqual({
      outcome: 'ok',
      data: {
        config: { text: '1000 try_it worker-1 Ada Ada Ada 1000', hidden: null },
        input: { who: 'Ada', none: null },
      },
    })
  })

  test('the command itself is never changed', () => {
    const config = Object.freeze({ kind: 'echo', nested: Object.freeze({ late: '{{ 2 }}' }) })
    expect(echoed(config, {}, { late: [['nested', 'late']] })).toMatchObject({
      data: { config: { nested: { late: 2 } } },
    })
    expect(config.nested.late).toBe('{{ 2 }}')
  })
})

describe('failures are results (1)', () => {
  test('an unknown kind names the kinds there are', () => {
    const runner = runnerOf()
    expect(runner.isInstant(aCommand({ toolKind: 'fax' }))).toBe(true)
    expect(runner.run(aCommand({ toolKind: 'fax' }), signal)).toEqual({
      outcome: 'error',
      error: {
        kind: 'config',
        code: 'TOOL_NOT_FOUND',
        message: 'This worker has no tool of kind "fax". It has: echo, noop.',
        retryable: false,
      },
    })
  })

  test('a template that fails names its place', () => {
    const result = echoed({ kind: 'echo', url: '{{ 1 / }}' }, {}, { late: [['url']] })
    expect(result).toMatchObject({
      outcome: 'error',
      error: { kind: 'template', code: 'TEMPLATE', retryable: false },
    })
    expect((result as { error: { message: string } }).error.message).toMatch(/^Template in url failed: /)
  })

  test('input that is not a mapping, and a block that is not one', () => {
    expect(echoed({ kind: 'echo', input: 'text' })).toMatchObject({ error: { code: 'CONFIG' } })
    const command = aCommand({ context: { tool_config: 'text', args: {}, render_context: {} } })
    expect(runnerOf().run(command, signal)).toMatchObject({ outcome: 'error', error: { code: 'CONFIG' } })
  })

  test('what a tool throws, of its own or by mistake', async () => {
    const runner = runnerOf(
      toolNamed('strict', () => {
        throw configFailure('no url')
      }),
      toolNamed('broken', async () => Promise.reject(new TypeError('x is undefined'))),
    )
    expect(await runner.run(aCommand({ toolKind: 'strict' }), signal)).toMatchObject({
      error: { kind: 'config', message: 'no url' },
    })
    expect(await runner.run(aCommand({ toolKind: 'broken' }), signal)).toMatchObject({
      outcome: 'error',
      error: { kind: 'internal', exception: 'TypeError', message: 'x is undefined' },
    })
  })
})

describe('time limits', () => {
  const stubborn = toolNamed('stubborn', () => new Promise(() => undefined))
  const polite = toolNamed(
    'polite',
    ({ signal }) =>
      new Promise((resolve) =>
        signal.addEventListener('abort', () =>
          resolve({ outcome: 'error', stdout: 'so far', error: signal.reason.error }),
        ),
      ),
  )

  test.each([
    [{ timeout: 0.02 }, {}],
    [{ timeout_seconds: '0.02' }, {}],
    [{ timeout: '20ms' }, {}],
    [{ timeout: 60 }, { timeout_ms: 20 }],
    [{}, { timeout_ms: 20 }],
  ])('%j with %j ends the tool, whose own answer counts', async (config, meta) => {
    const result = await runnerOf(polite).run(aCommand({ toolKind: 'polite', meta }, config), signal)
    expect(result).toEqual({
      outcome: 'error',
      stdout: 'so far',
      error: { kind: 'timeout', code: 'TIMEOUT', message: 'Timed out after 0.02 seconds', retryable: true },
    })
  })

  test('a limit that is no duration is a configuration error', async () => {
    const result = await runnerOf(polite).run(aCommand({ toolKind: 'polite' }, { timeout: 'soon' }), signal)
    expect(result.error).toMatchObject({
      code: 'CONFIG',
      message: 'timeout must be a number of seconds or a text such as "30s", not "soon"',
    })
  })

  test('a tool that does not answer the abort is left behind after the grace', async () => {
    const waits: number[] = []
    const hasty = {
      ...systemClock,
      after(delayMs: number, callback: () => void) {
        waits.push(delayMs)
        return systemClock.after(1, callback)
      },
    }
    const runner = createCommandRunner({
      tools: createToolRegistry([stubborn]),
      workerId: 'w',
      clock: hasty,
      uuid: () => '',
    })
    const result = await runner.run(aCommand({ toolKind: 'stubborn' }, { timeout: 60 }), signal)
    expect(result.error?.code).toBe('TIMEOUT')
    expect(waits).toEqual([60_000, 5_000])
  })
})
