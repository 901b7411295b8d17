/** The tools that need nothing but this machine: noop, shell, python, script, http, playbook, artifact. */
import type { ControlPlane } from '../../../contract/command.ts'
import { createArtifactTools } from '../artifact.ts'
import { createHttpTool } from '../http.ts'
import { startTestServer } from '../http/test-server.ts'
import { noopTool } from '../noop.ts'
import { createPlaybookTool } from '../playbook.ts'
import { createPythonTool } from '../python.ts'
import { createScriptTool } from '../script.ts'
import { createShellTool } from '../shell.ts'
import type { ConformanceEntry } from './tool.suite.ts'

const env = { PATH: process.env['PATH'] }
const VAULT = '{{ keychain.vault.token }}'

const noop: ConformanceEntry = {
  kind: 'noop',
  prepare: async () => ({
    tool: noopTool,
    success: { config: { result: { a: 1 } }, data: { a: 1 } },
    error: null,
    slow: null,
    secret: { config: { result: { said: VAULT } } },
    late: { config: { result: { n: '{{ number }}' } }, data: { n: 7 } },
    wrong: { config: { timeout: [1] }, field: 'timeout' },
  }),
}

const shell: ConformanceEntry = {
  kind: 'shell',
  prepare: async () => ({
    tool: createShellTool({ env }),
    success: { config: { command: 'echo hi' }, data: { stdout: 'hi\n', exit_code: 0 } },
    error: { config: { command: 'exit 4' }, error: { kind: 'process', code: 'EXIT_4', retryable: false } },
    slow: { config: { command: 'sleep 600 & sleep 600' } },
    secret: {
      config: { command: 'echo "$S"; echo "$S" >&2; printf %s "$S" | base64; exit 1', env: { S: VAULT } },
    },
    late: { config: { command: 'echo {{ word }}' }, data: { stdout: 'ok\n' } },
    wrong: { config: { command: 'true', env: 'A=1' }, field: 'env' },
  }),
}

const python: ConformanceEntry = {
  kind: 'python',
  prepare: async () => {
    const tool = createPythonTool({ env, maxInterpreters: 2 })
    return {
      tool,
      success: { config: { code: 'result = {"n": a + 1}' }, input: { a: 1 }, data: { n: 2 } },
      error: {
        config: { code: 'int("x")' },
        error: { kind: 'schema', code: 'PY_ValueError', retryable: false },
      },
      slow: { config: { code: 'import time\ntime.sleep(600)' } },
      secret: { config: { code: 'print(s)\nraise ValueError(s)' }, input: { s: VAULT } },
      late: {
        config: { code: 'result = {"n": n, "w": w}' },
        input: { n: '{{ number }}', w: '{{ word }}' },
        data: { n: 7, w: 'ok' },
      },
      wrong: { config: { code: 'x = 1', env: 'A=1' }, field: 'env' },
    }
  },
}

const script: ConformanceEntry = {
  kind: 'script',
  prepare: async () => {
    const inner = createPythonTool({ env, maxInterpreters: 2 })
    return {
      tool: createScriptTool({ python: inner, shell: createShellTool({ env }), container: null }),
      success: {
        config: { script: { content: 'print(a)' } },
        input: { a: 5 },
        data: { status: 'completed', output: '5\n' },
      },
      error: {
        config: { script: { type: 'sh', content: 'exit 9' } },
        error: { kind: 'process', code: 'EXIT_9', retryable: false },
      },
      slow: { config: { script: { type: 'sh', content: 'sleep 600' } } },
      secret: { config: { script: { type: 'sh', content: 'echo "$S"' } }, input: { S: VAULT } },
      late: { config: { script: { type: 'sh', content: 'echo {{ word }}' } }, data: { output: 'ok\n' } },
      wrong: { config: {}, field: 'script' },
      close: () => inner.close(),
    }
  },
}

const http: ConformanceEntry = {
  kind: 'http',
  prepare: async () => {
    const server = await startTestServer()
    return {
      tool: createHttpTool(),
      success: { config: { url: `${server.url}/items` }, data: { status_code: 200 } },
      error: {
        config: { url: `${server.url}/nowhere` },
        error: { kind: 'not_found', code: 'HTTP_404', retryable: false },
      },
      slow: { config: { url: `${server.url}/slow` } },
      secret: {
        config: {
          url: `${server.url}/echo`,
          headers: { authorization: `Bearer ${VAULT}` },
          params: { s: VAULT },
        },
      },
      late: {
        config: { url: `${server.url}/echo`, method: 'POST', json: { n: '{{ number }}', w: '{{ word }}' } },
        data: { data: { body: '{"n":7,"w":"ok"}' } },
      },
      wrong: { config: { method: 'GET' }, field: 'url' },
      close: () => server.close(),
    }
  },
}

/** Waits until nobody wants the answer any more. */
const untilAborted = (signal: {
  addEventListener(type: 'abort', listener: () => void): void
}): Promise<null> => new Promise((resolve) => signal.addEventListener('abort', () => resolve(null)))

const controlPlane: Pick<ControlPlane, 'startPlaybook' | 'awaitPlaybook' | 'result'> = {
  startPlaybook: async ({ playbook }) => ({ executionId: playbook['path'] === 'slow' ? '2' : '1' }),
  awaitPlaybook: ({ executionId, step, signal }) =>
    executionId === '2'
      ? untilAborted(signal)
      : Promise.resolve(
          step === null
            ? { status: 'COMPLETED', path: 'p', data: { n: 1 }, error: null }
            : { status: 'FAILED', path: 'p', data: null, error: `no ${step}` },
        ),
  result: ({ ref, signal }) => {
    if (ref === 'slow') return untilAborted(signal)
    return Promise.resolve(ref.startsWith('noetl://') ? { data: { items: [1], ref } } : null)
  },
}

const playbook: ConformanceEntry = {
  kind: 'playbook',
  prepare: async () => ({
    tool: createPlaybookTool(controlPlane),
    success: { config: { path: 'p', return_result: true }, data: { n: 1 } },
    error: {
      config: { path: 'p', return_step: 'end' },
      error: { kind: 'sub_playbook', code: 'CHILD_FAILED', retryable: false },
    },
    slow: { config: { path: 'slow', return_result: true } },
    secret: { config: { path: 'p', return_step: VAULT } },
    late: { config: { path: '{{ word }}' }, data: { status: 'started', path: 'ok' } },
    wrong: { config: { return_result: true }, field: 'path' },
  }),
}

const artifactEntry = (kind: 'artifact' | 'result_fetch'): ConformanceEntry => ({
  kind,
  prepare: async () => {
    const tool = createArtifactTools(controlPlane).find((each) => each.kind === kind)
    if (tool === undefined) throw new Error(`no tool ${kind}`)
    return {
      tool,
      success: { config: { ref: 'noetl://1' }, data: { items: [1] } },
      error: {
        config: { ref: 'gone' },
        error: { kind: 'storage', code: 'REFERENCE_NOT_AVAILABLE', retryable: true },
      },
      slow: { config: { ref: 'slow' } },
      secret: { config: { ref: `x${VAULT}` } },
      late: { config: {}, input: { result_ref: 'noetl://{{ word }}' }, data: { ref: 'noetl://ok' } },
      wrong: { config: { ref: ['a'] }, field: 'ref' },
    }
  },
})

export const basicEntries: readonly ConformanceEntry[] = [
  noop,
  shell,
  python,
  script,
  http,
  playbook,
  artifactEntry('artifact'),
  artifactEntry('result_fetch'),
]
