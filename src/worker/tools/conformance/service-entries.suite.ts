/** The tools that talk to others: expression (to nobody), nats, mcp, container, secrets. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { startNatsServer } from '../../../../test/support/nats-server.ts'
import { NO_SECRET_SETTINGS } from '../../credentials/secret-settings.ts'
import { aCall } from '../../test-support.ts'
import { createContainerTool } from '../container.ts'
import { expressionTool } from '../expression.ts'
import { createMcpTool } from '../mcp.ts'
import { startMcpServer } from '../mcp/test-support.ts'
import { createNatsTool } from '../nats.ts'
import { createSecretsTool } from '../secrets.ts'
import type { ConformanceEntry } from './tool.suite.ts'

const VAULT = '{{ keychain.vault.token }}'

const expression: ConformanceEntry = {
  kind: 'expression',
  prepare: async () => ({
    tool: expressionTool,
    success: { config: { expr: { total: 'price * 2' } }, input: { price: 4 }, data: { total: 8 } },
    error: {
      config: { expr: 'nobody + 1' },
      error: { kind: 'config', code: 'CONFIG', retryable: false },
    },
    slow: null,
    secret: { config: { expr: { said: 'word' } }, input: { word: VAULT } },
    late: { config: { expr: { n: 'n + 1' } }, input: { n: '{{ number }}' }, data: { n: 8 } },
    wrong: { config: {}, field: 'expr' },
  }),
}

const nats: ConformanceEntry = {
  kind: 'nats',
  async prepare() {
    const server = await startNatsServer()
    const tool = createNatsTool()
    const put = { operation: 'kv_put', bucket: 'b', key: 'k', value: 'v', create: true }
    await tool.run(aCall({ url: server.url, ...put }))
    const at = { url: server.url, bucket: 'b' }
    return {
      tool,
      success: { config: { ...at, operation: 'kv_get', key: 'k' }, data: { status: 'success', value: 'v' } },
      error: {
        config: { url: 'nats://127.0.0.1:1', operation: 'kv_get', bucket: 'b', key: 'k' },
        error: { kind: 'connection', retryable: true },
      },
      // The bucket is a stream of its own, and nothing new comes.
      slow: {
        config: { ...at, operation: 'js_consume', stream: 'KV_b', subject: '$KV.b.never', timeout_ms: 5000 },
      },
      secret: { config: { ...at, operation: 'kv_get', key: VAULT } },
      late: {
        config: { ...at, operation: 'kv_get', key: '{{ word }}' },
        data: { status: 'not_found', key: 'ok' },
      },
      wrong: { config: { ...at, operation: 'kv_get', headers: 'a' }, field: 'headers' },
      close: () => server.stop(),
    }
  },
}

const mcp: ConformanceEntry = {
  kind: 'mcp',
  async prepare() {
    const server = await startMcpServer()
    const at = { endpoint: server.url }
    return {
      tool: createMcpTool({ settings: {}, env: {} }),
      success: { config: { ...at, tool: 'add', arguments: { a: 1, b: 2 } }, data: { json: { sum: 3 } } },
      error: { config: { ...at, tool: 'fail' }, error: { retryable: false } },
      slow: { config: { ...at, tool: 'wait' } },
      secret: { config: { ...at, tool: VAULT } },
      late: {
        config: { ...at, tool: 'add', arguments: { a: '{{ number }}', b: 1 } },
        data: { json: { sum: 8 } },
      },
      wrong: { config: at, field: 'tool' },
      close: () => server.close(),
    }
  },
}

/** Keeps the part of docker's contract that the tool uses: runs the entry point here, and ends it on `rm`. */
const RUNTIME = `#!/usr/bin/env python3
import os, signal, subprocess, sys
home, words = os.path.dirname(os.path.abspath(__file__)), sys.argv[1:]
if words[0] == "rm":
    try:
        os.killpg(int(open(os.path.join(home, words[-1])).read()), signal.SIGKILL)
    except (OSError, ValueError):
        sys.exit(1)
if words[0] != "run":
    sys.exit(0)
at, entry, name, names = 1, [], "x", {"PATH": os.environ["PATH"]}
while words[at].startswith("-"):
    if words[at] in ("--rm", "--interactive"):
        at += 1
        continue
    if words[at] == "--name":
        name = words[at + 1]
    elif words[at] == "--env":
        names[words[at + 1]] = os.environ[words[at + 1]]
    elif words[at] == "--entrypoint":
        entry = [words[at + 1]]
    at += 2
child = subprocess.Popen(entry + words[at + 1:], env=names, start_new_session=True)
open(os.path.join(home, name), "w").write(str(child.pid))
sys.exit(child.wait() & 0xFF)
`

const container: ConformanceEntry = {
  kind: 'container',
  async prepare() {
    const directory = mkdtempSync(join(tmpdir(), 'noetl-runtime-'))
    const runtime = join(directory, 'runtime')
    writeFileSync(runtime, RUNTIME)
    chmodSync(runtime, 0o755)
    const at = { image: 'alpine:3' }
    return {
      tool: createContainerTool({ runtime, env: { PATH: process.env['PATH'] } }),
      success: { config: { ...at, command: ['echo', 'hi'] }, data: { stdout: 'hi\n', exit_code: 0 } },
      error: {
        config: { ...at, command: 'exit 3' },
        error: { kind: 'process', code: 'EXIT_3', retryable: false },
      },
      slow: { config: { ...at, command: 'sleep 600' } },
      secret: { config: { ...at, command: 'echo "$S"', env: { S: VAULT } } },
      late: { config: { ...at, command: ['echo', '{{ word }}'] }, data: { stdout: 'ok\n' } },
      wrong: { config: { command: 'true' }, field: 'image' },
      close: async () => rmSync(directory, { recursive: true, force: true }),
    }
  },
}

const secrets: ConformanceEntry = {
  kind: 'secrets',
  prepare: async () => ({
    tool: createSecretsTool({
      settings: { ...NO_SECRET_SETTINGS, variables: { API: 'x', ok: 'y' } },
      controlPlane: {
        credential: ({ alias, signal }) =>
          alias === 'slow'
            ? new Promise((resolve) => signal.addEventListener('abort', () => resolve(null)))
            : Promise.resolve(null),
        keychainRecipe: async () => null,
        keepKeychain: async () => undefined,
      },
    }),
    success: {
      config: { provider: 'env', path: 'API', keychain: 'api' },
      data: { status: 'success', keychain: 'api', fields: ['value'] },
    },
    error: { config: { provider: 'credential', path: 'nobody' }, error: { kind: 'auth', retryable: false } },
    slow: { config: { provider: 'credential', path: 'slow' } },
    secret: { config: { provider: 'env', path: VAULT } },
    late: { config: { provider: 'env', path: '{{ word }}', keychain: 'k' }, data: { keychain: 'k' } },
    wrong: { config: { provider: 'env' }, field: 'path' },
  }),
}

export const serviceEntries: readonly ConformanceEntry[] = [expression, nats, mcp, container, secrets]
