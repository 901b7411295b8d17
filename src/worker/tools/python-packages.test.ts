/** Environments with packages: real ones, from a package that is made here, so that nothing is fetched. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { Json, JsonObject } from '../../contract/json.ts'
import { aCall } from '../test-support.ts'
import { createPythonTool, type PythonTool } from './python.ts'
import { librariesOf, packagesOf } from './python/libraries.ts'

let directory: string
let environments: string
let wheel: string
let tool: PythonTool

/** Writes a package with one module, as pip takes it. */
const WRITE_WHEEL = `
import sys, zipfile
path = sys.argv[1] + "/tiny_words-1.0-py3-none-any.whl"
with zipfile.ZipFile(path, "w") as wheel:
    wheel.writestr("tiny_words.py", "def hello(name):\\n    return 'hello ' + name\\n")
    info = "tiny_words-1.0.dist-info/"
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: tiny-words\\nVersion: 1.0\\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(info + "RECORD", "")
print(path)
`

const offline = { PIP_NO_INDEX: '1', PATH: process.env['PATH'], HOME: process.env['HOME'] }
const toolOf = (env: Readonly<Record<string, string | undefined>> = offline): PythonTool =>
  createPythonTool({
    env,
    environmentsDirectory: environments,
    python: process.env['NOETL_PYTHON'] ?? 'python3',
  })

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'noetl-packages-'))
  environments = join(directory, 'environments')
  wheel = spawnSync('python3', ['-c', WRITE_WHEEL, directory], { encoding: 'utf8' }).stdout.trim()
  tool = toolOf()
})
afterAll(async () => {
  await tool.close()
  rmSync(directory, { recursive: true, force: true })
})

const USE = 'result = [words.hello("ada"), __import__("sys").prefix]'

test('a call gets the packages it names, from an environment that is made once (rule 5)', async () => {
  const config = { code: USE, libs: { words: 'tiny_words' }, deps: { packages: [wheel] } }
  const other = toolOf()
  // Two workers with the same data directory, several calls each, all at once.
  const calls = [tool, tool, other, other].map((each) => each.run(aCall(config)))
  const results = await Promise.all(calls)
  await other.close()
  for (const { outcome, data } of results) {
    expect(outcome).toBe('ok')
    expect((data as string[])[0]).toBe('hello ada')
  }
  expect(new Set(results.map(({ data }) => (data as string[])[1])).size).toBe(1)
  expect(readdirSync(environments)).toHaveLength(1)
  const plain = await tool.run(aCall({ code: 'import tiny_words' }))
  expect(plain.error).toMatchObject({ code: 'PY_ModuleNotFoundError' })
}, 120_000)

test('what was left by a process that died is made anew', async () => {
  const [made = ''] = readdirSync(environments)
  rmSync(join(environments, made, 'noetl-complete.json'))
  writeFileSync(join(environments, `${made}.lock`), '999999999')
  const fresh = toolOf()
  const libs = { words: { import: 'tiny_words', package: wheel } }
  expect(await fresh.run(aCall({ code: USE, libs }))).toMatchObject({ outcome: 'ok' })
  await fresh.close()
  expect(existsSync(join(environments, `${made}.lock`))).toBe(false)
}, 120_000)

test('a package that does not exist is an error that names it, and leaves nothing behind', async () => {
  const before = readdirSync(environments)
  const { error } = await tool.run(
    aCall({ code: 'result = 1', deps: { packages: ['no-such-package-here'] } }),
  )
  expect(error).toMatchObject({ kind: 'config', code: 'PACKAGES_NOT_INSTALLED', retryable: false })
  expect(error?.message).toContain('no-such-package-here')
  expect(readdirSync(environments)).toEqual(before)
}, 120_000)

test('packages that cannot be fetched are worth another try', async () => {
  const away = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    PIP_INDEX_URL: 'http://127.0.0.1:9/',
    PIP_RETRIES: '1',
  }
  const cut = toolOf(away)
  const { error } = await cut.run(aCall({ code: 'result = 1', deps: { packages: 'not-in-this-python' } }))
  await cut.close()
  expect(error).toMatchObject({ kind: 'connection', code: 'PACKAGES_UNAVAILABLE', retryable: true })
}, 120_000)

test('an aborted call does not wait for its packages', async () => {
  const controller = new AbortController()
  const slow = toolOf()
  const running = slow.run(
    aCall({ code: 'result = 1', deps: { packages: ['other-missing'] } }, { signal: controller.signal }),
  )
  controller.abort(new Error('not wanted'))
  expect(await running).toMatchObject({ outcome: 'error', error: { message: 'not wanted' } })
  await slow.close()
})

test('without a data directory packages are refused', async () => {
  const bare = createPythonTool({ env: process.env })
  expect((await bare.run(aCall({ code: '1', deps: { packages: ['x'] } }))).error).toMatchObject({
    kind: 'config',
  })
  await bare.close()
})

describe('libs', () => {
  test.each<[Json, JsonObject]>([
    [{ pd: 'pandas' }, { pd: 'pandas' }],
    [
      ['json', 'math as m', { d: { from: 'datetime', import: 'date' } }],
      { json: 'json', m: 'math', d: { from: 'datetime', import: 'date' } },
    ],
    ['json, os.path as p', { json: 'json', p: 'os.path' }],
    [['os.path'], { os: 'os' }],
    [null, {}],
  ])('%j', (libs, expected) => {
    expect(librariesOf({ libs })).toEqual(expected)
  })

  test('name packages of their own, beside deps.packages', () => {
    const libs = { yaml: { import: 'yaml', package: 'pyyaml==6' }, json: 'json' }
    expect(packagesOf({ libs, deps: { packages: 'requests, attrs' } })).toEqual([
      'attrs',
      'pyyaml==6',
      'requests',
    ])
  })

  test.each(['--index-url=http://x', 'a\nb', 5])('refuse %j as a package', (item) => {
    expect(() => packagesOf({ deps: { packages: [item] } })).toThrow(/deps.packages must be names/)
  })
})

test('a credential is the variable auth, and its fields are in the environment', async () => {
  const code =
    'result = [auth["user"], os.environ["AUTH_USER"], os.environ["AUTH_API_KEY"], os.environ["MODE"]]'
  const auth = { type: 'basic', user: 'ada', 'api-key': 'k' }
  expect(await tool.run(aCall({ code, auth, env: { MODE: 'x' } }))).toMatchObject({
    data: ['ada', 'ada', 'k', 'x'],
  })
  const several = { pg: { type: 'postgres', host: 'h' } }
  expect(
    await tool.run(
      aCall({ code: 'result = [auth["pg"]["host"], os.environ["AUTH_PG_HOST"]]', auth: several }),
    ),
  ).toMatchObject({
    data: ['h', 'h'],
  })
  expect(await tool.run(aCall({ code: 'result = "auth" in globals()' }))).toMatchObject({ data: false })
})
