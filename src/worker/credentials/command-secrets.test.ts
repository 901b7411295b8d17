/** Commands with secrets, run by the real runner and real tools; only the control plane is a stand-in. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { Json, JsonObject } from '../../contract/json.ts'
import { collectTemplates } from '../../template/render.ts'
import { createHastyClock, createWarnings, error, ok, toolOf, when } from '../pipeline/test-support.ts'
import { type Clock, systemClock } from '../clock.ts'
import type { Log } from '../log.ts'
import { createCommandRunner } from '../run-command.ts'
import { aCommand } from '../test-support.ts'
import type { Tool, ToolResult } from '../tool.ts'
import { createHttpTool } from '../tools/http.ts'
import { startTestServer, type TestServer } from '../tools/http/test-server.ts'
import { noopTool } from '../tools/noop.ts'
import { createPythonTool } from '../tools/python.ts'
import { createToolRegistry } from '../tools/registry.ts'
import { createShellTool } from '../tools/shell.ts'
import { createCredentialSource } from './credential-source.ts'
import { createVault, type Stored } from './test-support.ts'

const TOKEN = 'tok-3141592653'
const PASSWORD = 'correct horse/battery'

const STORED: Stored = {
  api: { type: 'bearer', data: { token: TOKEN } },
  login: { type: 'basic', data: { username: 'ada', password: PASSWORD } },
  keys: { type: 'generic', data: { key: TOKEN, other: PASSWORD, port: 5432 } },
}

const python = createPythonTool({ env: process.env, python: process.env['NOETL_PYTHON'] ?? 'python3' })
const http = createHttpTool()
const shell = createShellTool({ env: process.env })
let web: TestServer
beforeAll(async () => {
  web = await startTestServer()
})
afterAll(async () => {
  await Promise.all([python.close(), http.close(), web.close()])
})

const { signal } = new AbortController()

/** Answers what the tool got. */
const echo: Tool = toolOf('echo', ({ config, input }) => ok({ config, input }))

const bench = (tools: readonly Tool[] = [], more: { stored?: Stored; log?: Log } = {}) => {
  const vault = createVault(more.stored ?? STORED)
  const live: string[] = []
  const runner = createCommandRunner({
    tools: createToolRegistry([noopTool, python, http, shell, echo, ...tools]),
    workerId: 'worker-1',
    clock: systemClock,
    uuid: () => 'a-uuid',
    credentials: vault.source,
    onOutput: (_command, stream, text) => live.push(`${stream}: ${text}`),
    ...(more.log === undefined ? {} : { log: more.log }),
  })
  /** As the control plane issues it: what reads the keychain is left to the worker. */
  const single = (block: JsonObject, variables: JsonObject = {}) => {
    const late = collectTemplates(block).map(({ path }) => path)
    return aCommand({
      toolKind: block['kind'] as string,
      context: { tool_config: block, args: {}, render_context: variables },
      meta: { late },
    })
  }
  const run = async (block: JsonObject, variables: JsonObject = {}): Promise<ToolResult> =>
    runner.run(single(block, variables), signal)
  const pipeline = async (tasks: Json, meta: JsonObject = {}): Promise<ToolResult> =>
    runner.run(
      aCommand({
        toolKind: 'task_sequence',
        meta,
        context: { tool_config: tasks, args: {}, render_context: {} },
      }),
      signal,
    )
  return { ...vault, runner, single, run, pipeline, live }
}

/** What a tool saw, seen from inside: what comes out is masked. */
const spy = (kind = 'spy', answer: () => ToolResult = () => ok()) => {
  const seen: JsonObject[] = []
  const tool = toolOf(kind, ({ config, input }) => {
    seen.push({ ...config, ...(Object.keys(input).length === 0 ? {} : { input }) })
    return answer()
  })
  return { tool, seen }
}

describe('the credential of a tool', () => {
  test('is looked up by name just before the tool runs, under what the block itself says', async () => {
    const { tool, seen } = spy()
    const { run, asked } = bench([tool])
    await run({ kind: 'spy', auth: 'api', url: 'x' })
    expect(seen).toEqual([{ auth: { type: 'bearer', token: TOKEN }, url: 'x' }])
    expect(asked).toEqual(['api'])
  })

  test('written out is passed on as it is, and nothing is asked for', async () => {
    const { run, asked, runner, single } = bench()
    const auth = { type: 'bearer', token: 'mine' }
    expect((await run({ kind: 'echo', auth })).data).toEqual({ config: { auth }, input: {} })
    expect(asked).toEqual([])
    expect(runner.isInstant(single({ kind: 'noop', auth }))).toBe(true)
    expect(runner.isInstant(single({ kind: 'noop', auth: 'api' }))).toBe(false)
    expect(runner.isInstant(single({ kind: 'noop', result: '{{ keychain.keys.key }}' }))).toBe(false)
    expect(runner.isInstant(single({ kind: 'noop', result: '{{ 1 }}' }))).toBe(true)
  })

  test('that nobody knows fails the command at once, naming it (case 101)', async () => {
    const { tool, seen } = spy()
    const { run } = bench([tool])
    expect(await run({ kind: 'spy', auth: 'no_such_alias' })).toEqual({
      outcome: 'error',
      error: {
        kind: 'auth',
        code: 'CREDENTIAL_NOT_FOUND',
        message: "There is no credential 'no_such_alias'. Store one under this name, or correct the name.",
        retryable: false,
      },
    })
    expect(seen).toEqual([])
  })

  test('that a server refused is looked up anew with the next try', async () => {
    const answers = [error('401', { kind: 'auth' }), ok(1)]
    const { tool, seen } = spy('spy', () => answers.shift() ?? ok())
    const { pipeline, credentials } = bench([
      tool,
      toolOf('renew', () => {
        credentials.set('api', { type: 'bearer', data: { token: 'the-new-token' } })
        return ok()
      }),
    ])
    const again = { policy: { rules: [when('output.error.kind == "auth"', { do: 'jump', to: 'renew' })] } }
    const result = await pipeline([
      { first: { kind: 'noop' } },
      { ask: { kind: 'spy', auth: 'api', spec: again } },
      { end: { kind: 'noop', spec: { policy: { rules: [when('true', { do: 'break' })] } } } },
      { renew: { kind: 'renew', spec: { policy: { rules: [when('true', { do: 'jump', to: 'ask' })] } } } },
    ])
    expect(result.outcome).toBe('ok')
    expect(seen.map(({ auth }) => (auth as JsonObject)['token'])).toEqual([TOKEN, 'the-new-token'])
  })
})

describe('keychain in late templates', () => {
  test('gives the real value to the tool, each name being asked for once', async () => {
    const { tool, seen } = spy()
    const { run, asked } = bench([tool])
    await run(
      {
        kind: 'spy',
        headers: { a: 'Bearer {{ keychain.keys.key }}', b: '{{ keychain["keys"].port }}' },
        input: { both: '{{ keychain.keys.key ~ user }}' },
        auth: { type: 'basic', username: 'x', password: '{{ keychain.login.password }}' },
      },
      { user: '/ada', keychain: { keys: { key: 'forged' } } },
    )
    expect(seen).toEqual([
      {
        headers: { a: `Bearer ${TOKEN}`, b: 5432 },
        auth: { type: 'basic', username: 'x', password: PASSWORD },
        input: { both: `${TOKEN}/ada` },
      },
    ])
    expect(asked.toSorted()).toEqual(['keys', 'login'])
  })

  test.each<[string, string, Json]>([
    ['is defined', '{{ keychain.nope.key is defined }}', false],
    ['is undefined', '{{ keychain.nope is undefined }}', true],
    ['default', '{{ keychain.nope.key | default("none") }}', 'none'],
    ['if', '{{ "a" if keychain.nope.key else "b" }}', 'b'],
    ['not', '{{ not keychain.nope }}', true],
    ['or', '{{ keychain.nope.key or "b" }}', 'b'],
    ['equality', '{{ keychain.nope.key == "a" }}', false],
    ['in', '{{ "key" in keychain.nope }}', false],
    ['a field that is missing', '{{ keychain.keys.nope is defined }}', false],
    ['a field that is there', '{{ keychain.keys.key is defined }}', true],
    ['in, of a known one', '{{ ["key" in keychain.keys, "nope" in keychain.keys] }}', [true, false]],
    ['get', '{{ keychain.keys.get("nope", 7) }}', 7],
    ['the whole keychain', '{{ keychain }}', { keys: '[REDACTED]', nope: '[REDACTED]' }],
  ])('a guard holds: %s', async (_what, template, expected) => {
    const { run } = bench()
    const block = {
      kind: 'noop',
      result: template,
      more: '{{ keychain.keys.port }}{{ keychain.nope is defined }}',
    }
    expect((await run(block)).data).toEqual(expected)
  })

  test.each([
    ['{{ keychain.nope.key }}', 'CREDENTIAL_NOT_FOUND', "There is no credential 'nope'"],
    ['Bearer {{ keychain.nope.key }}', 'CREDENTIAL_NOT_FOUND', "'nope'"],
    ['{{ keychain.nope.key | upper }}', 'CREDENTIAL_NOT_FOUND', "'nope'"],
    ['{{ {"a": keychain.nope} | tojson }}', 'CREDENTIAL_NOT_FOUND', "'nope'"],
    ['{{ keychain.keys.nope }}', 'CREDENTIAL_MALFORMED', "'keys' of type generic has no field 'nope'"],
    ['{{ keychain[which].key }}', 'CONFIG', "name the credential 'keys' itself"],
  ])('what is missing fails the command where it would be used: %s', async (template, code, message) => {
    const { run } = bench()
    const { outcome, error: why } = await run({ kind: 'noop', result: template }, { which: 'keys' })
    expect({ outcome, code: why?.code, retryable: why?.retryable }).toEqual({
      outcome: 'error',
      code,
      retryable: false,
    })
    expect(why?.message).toContain(message)
  })

  test('in program text it fails too, instead of being left as braces', async () => {
    const { pipeline } = bench()
    const { error: why } = await pipeline([{ a: { kind: 'python', code: 'k = "{{ keychain.nope.key }}"' } }])
    expect(why?.code).toBe('CREDENTIAL_NOT_FOUND')
  })
})

describe('pipelines', () => {
  test('every task has its own credential and its own secrets; those of tasks that do not run are not asked for', async () => {
    const { tool, seen } = spy()
    const { pipeline, asked } = bench([tool])
    const rules = [when('keychain.keys.port == 5432', { do: 'break' })]
    await pipeline([
      { a: { kind: 'spy', auth: 'login' } },
      { b: { kind: 'spy', auth: 'api', header: '{{ keychain.keys.key }}', spec: { policy: { rules } } } },
      { c: { kind: 'spy', auth: 'never' } },
    ])
    expect(seen).toEqual([
      { auth: { type: 'basic', username: 'ada', password: PASSWORD } },
      { auth: { type: 'bearer', token: TOKEN }, header: TOKEN },
    ])
    expect(asked).toEqual(['login', 'keys', 'api'])
  })

  test('a credential that is missing is an error of its task, which the policy sees', async () => {
    const { pipeline } = bench()
    const rules = [when('output.error.code == "CREDENTIAL_NOT_FOUND"', { do: 'continue' })]
    const { outcome, data } = await pipeline([
      { a: { kind: 'echo', auth: 'nope', spec: { policy: { rules } } } },
      { b: { kind: 'noop', result: 2 } },
    ])
    expect({ outcome, data }).toEqual({ outcome: 'ok', data: { a: null, b: 2 } })
  })

  test('a credential written out is rendered only where the command says so: other braces are data', async () => {
    const { tool, seen } = spy()
    const { pipeline, asked } = bench([tool])
    const auth = { type: 'bearer', token: '{{ keychain.keys.key }}' }
    const tasks = [{ a: { kind: 'spy', auth } }, { b: { kind: 'spy', auth } }]
    await pipeline(tasks, { late: [[1, 'b', 'auth', 'token']] })
    expect(seen).toEqual([{ auth }, { auth: { type: 'bearer', token: TOKEN } }])
    expect(asked).toEqual(['keys'])
  })

  test('secrets are hidden in data, variables, output, errors and the log, and whole between tasks', async () => {
    const { log, warnings } = createWarnings()
    const { tool, seen } = spy()
    const { pipeline, live } = bench([tool], { log })
    const rules = [when('output.nope.nope() == keychain.keys.key', { do: 'fail' })]
    const result = await pipeline([
      {
        a: {
          kind: 'python',
          input: { key: '{{ keychain.keys.key }}' },
          code: 'print("a", key, flush=True); result = {"key": key}',
          set: { 'ctx.found': '{{ output.key }}' },
          spec: { policy: { rules } },
        },
      },
      { b: { kind: 'spy', key: '{{ a.key }}', again: '{{ found }}' } },
      { c: { kind: 'python', input: { key: '{{ found }}' }, code: 'raise ValueError("bad " + key)' } },
    ])
    expect(seen).toEqual([{ key: TOKEN, again: TOKEN }])
    expect(result).toMatchObject({
      outcome: 'error',
      data: { a: { key: '[REDACTED]' } },
      contextUpdates: { found: '[REDACTED]' },
      stdout: 'a [REDACTED]\n',
      error: { code: 'PY_ValueError', message: 'ValueError: bad [REDACTED]' },
    })
    expect(live.join('')).toContain('stdout: a [REDACTED]')
    expect(warnings).toHaveLength(1)
    expect(JSON.stringify([result, live, warnings])).not.toContain(TOKEN)
  })
})

describe('real tools', () => {
  test('http: a keychain value is sent in a header and a credential as authorization; the echo is masked', async () => {
    const { run } = bench()
    const { data } = await run({
      kind: 'http',
      url: `${web.url}/echo`,
      params: { key: '{{ keychain.keys.other }}' },
      headers: { 'x-key': '{{ keychain.keys.key }}' },
      auth: 'login',
    })
    const { headers, search } = (data as { data: { headers: JsonObject; search: string } }).data
    expect(headers['x-key']).toBe('[REDACTED]')
    expect(search).toBe('?key=[REDACTED]')
    expect(headers['authorization']).toMatch(/^Basic \S*\[REDACTED\]\S{0,4}$/)
    expect(JSON.stringify(data)).not.toContain(PASSWORD)
  })

  test('http: the real value arrives', async () => {
    const { run } = bench()
    const arrived: string[] = []
    const server = createServer((request, response) => {
      arrived.push(String(request.headers['x-key']), String(request.headers.authorization))
      response.end('{}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await run({
      kind: 'http',
      url: `http://127.0.0.1:${port}/`,
      headers: { 'x-key': '{{ keychain.keys.key }}' },
      auth: 'api',
    })
    server.close()
    expect(arrived).toEqual([TOKEN, `Bearer ${TOKEN}`])
  })

  test('python: result, traceback, printed and live output are masked', async () => {
    const { run, live } = bench()
    const result = await run({
      kind: 'python',
      input: { key: '{{ keychain.keys.key }}' },
      code: 'import sys, base64\nprint(key[:5], end="", flush=True)\nprint(key[5:], flush=True)\nprint(base64.b64encode(("me:" + key).encode()).decode(), file=sys.stderr)\nraise RuntimeError(key)',
    })
    expect(result.outcome).toBe('error')
    expect(result.stdout).toBe('[REDACTED]\n')
    expect(result.stderr).toContain('[REDACTED]')
    expect(JSON.stringify([result, live])).not.toContain(TOKEN)
    expect(JSON.stringify([result, live])).not.toContain(Buffer.from(TOKEN).toString('base64').slice(0, -4))
    expect(live.join('')).toContain('[REDACTED]')
  })

  test('shell: its output is masked', async () => {
    const { run, live } = bench()
    const result = await run({
      kind: 'shell',
      command: 'echo "$KEY"; echo "$KEY" >&2; exit 3',
      env: { KEY: '{{ keychain.keys.key }}' },
    })
    expect(result.exitCode).toBe(3)
    expect(JSON.stringify([result, live])).not.toContain(TOKEN)
    expect(result.stdout).toContain('[REDACTED]')
  })
})

test('a lookup that keeps failing is a failure worth another try, and the tool does not run', async () => {
  const { tool, seen } = spy()
  const { clock: hasty } = createHastyClock()
  // Between the tries no time passes, but a try has its time.
  const clock: Clock = {
    ...hasty,
    after: (ms, callback) => (ms < 10_000 ? hasty.after(ms, callback) : () => undefined),
  }
  const controlPlane = { credential: () => Promise.reject(new Error('connection reset')) }
  const runner = createCommandRunner({
    tools: createToolRegistry([tool]),
    workerId: 'worker-1',
    clock: systemClock,
    uuid: () => 'a-uuid',
    credentials: createCredentialSource({ controlPlane, clock }),
  })
  const command = aCommand({ toolKind: 'spy' }, { kind: 'spy', auth: 'api' })
  expect(await runner.run(command, signal)).toMatchObject({
    outcome: 'error',
    error: { code: 'CREDENTIAL_UNAVAILABLE', retryable: true },
  })
  expect(seen).toEqual([])
})
