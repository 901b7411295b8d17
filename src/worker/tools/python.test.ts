import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import type { Json, JsonObject } from '../../contract/json.ts'
import { aCall } from '../test-support.ts'
import type { ToolResult } from '../tool.ts'
import { createPythonTool } from './python.ts'

const tool = createPythonTool({ env: process.env, python: process.env['NOETL_PYTHON'] ?? 'python3' })
afterAll(() => tool.close())

const run = (config: JsonObject | string, over: Parameters<typeof aCall>[1] = {}): Promise<ToolResult> =>
  Promise.resolve(tool.run(aCall(typeof config === 'string' ? { code: config } : config, over)))

const dataOf = async (
  config: JsonObject | string,
  over: Parameters<typeof aCall>[1] = {},
): Promise<Json | undefined> => {
  const result = await run(config, over)
  expect(result.error).toBeUndefined()
  return result.data
}

describe('what the code can see', () => {
  test('inputs are globals, and together they are args and input_data', async () => {
    const code = 'result = [name, args["name"], input_data["name"], items]'
    expect(await dataOf(code, { input: { name: 'Ada', items: [1, null, { deep: true }] } })).toEqual([
      'Ada',
      'Ada',
      'Ada',
      [1, null, { deep: true }],
    ])
  })

  test('input_data is a copy: changing it leaves args alone', async () => {
    expect(await dataOf('input_data["n"] = 2\nresult = args["n"]', { input: { n: 1 } })).toBe(1)
  })

  test('the execution, the step and the variables are there', async () => {
    const code = 'result = [execution_id, step, variables["limit"]]'
    expect(await dataOf(code, { variables: { limit: 7 } })).toEqual(['1000', 'try_it', 7])
  })

  test('a step result in context answers data and result with itself, unless it has such keys', async () => {
    const code = `
plain = context.get("made", {}).get("data", {}).get("rows")
nested = context["made"]["result"]["data"]["rows"]
own = context["wrapped"]["data"]
missing = context.get("made").get("nothing", "default")
result = [plain, nested, own, missing, "data" in context["made"], context["given"]]`
    const variables = { made: { rows: [1] }, wrapped: { data: 'mine' } }
    expect(await dataOf(code, { variables, input: { given: 5 } })).toEqual([
      [1],
      [1],
      'mine',
      'default',
      false,
      5,
    ])
  })

  test('libraries come under the names given to them', async () => {
    const libs = {
      path: 'os.path',
      root: { from: 'math', import: 'sqrt' },
      dates: { import: 'datetime' },
      dump: 'json.dumps',
      base64: null,
    }
    const code =
      'result = [path.join("a", "b"), root(9), dates.date(2020, 1, 2).year, dump([1]), base64.__name__]'
    expect(await dataOf({ code, libs })).toEqual(['a/b', 3, 2020, '[1]', 'base64'])
  })

  test('a library that is missing is a failure that names it', async () => {
    const { error } = await run({ code: 'result = 1', libs: { x: 'no_such_module_here' } })
    expect(error).toMatchObject({ code: 'PY_ModuleNotFoundError', kind: 'runtime', retryable: false })
    expect(error?.message).toBe("ModuleNotFoundError: No module named 'no_such_module_here'")
  })

  test('common modules are there for code that did not import them, but inputs of those names win', async () => {
    expect(
      await dataOf('result = [json.dumps(1), math.pi > 3, os.sep, time]', { input: { time: 'noon' } }),
    ).toEqual(['1', true, '/', 'noon'])
  })

  test('env, cwd and the search path are those of the call and do not stay', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'noetl-python-'))
    await writeFile(join(directory, 'my_own_module.py'), 'VALUE = 42\n')
    const code = 'import my_own_module\nresult = [os.environ.get("COLOUR"), os.getcwd(), my_own_module.VALUE]'
    const deps = { sys_path: [directory] }
    expect(await dataOf({ code, env: { COLOUR: 'blue' }, cwd: tmpdir(), deps })).toEqual([
      'blue',
      tmpdir(),
      42,
    ])
    const after = await dataOf(
      'import sys\nresult = [os.environ.get("COLOUR"), "my_own_module" in sys.modules]',
    )
    expect(after).toEqual([null, false])
    await rm(directory, { recursive: true })
  })

  test('nothing of one call is visible to the next', async () => {
    await dataOf('import builtins, json\nleak = 1\nbuiltins.leak2 = 2\njson.leak3 = 3\nresult = 1')
    expect(
      await dataOf('result = ["leak" in globals(), "leak2" in dir(__builtins__), hasattr(json, "leak3")]'),
    ).toEqual([false, false, false])
  })
})

describe('what the result is', () => {
  test.each<[string, string, Json]>([
    ['the global result', 'result = {"a": 1}', { a: 1 }],
    ['the result although there is a main', 'def main():\n  return 1\nresult = 2', 2],
    ['what main returns', 'def main(n):\n  return n + 1', 6],
    [
      'what main returns, with defaults and everything else',
      'def main(n, m=3, **rest):\n  return [n, m, rest]',
      [5, 3, { z: 1 }],
    ],
    ['what main returns by position', 'def main(n, /, *, z):\n  return [n, z]', [5, 1]],
    [
      'what an async main returns',
      'import asyncio\nasync def main(n):\n  await asyncio.sleep(0)\n  return n',
      5,
    ],
    ['nothing, when main returns nothing', 'def main():\n  pass', null],
    ['what a top-level return gives', 'if n == 5:\n  return "five"\nreturn "other"', 'five'],
    ['false and zero, which are values', 'result = [False, 0]\nresult = 0', 0],
    ['what was set before sys.exit(0)', 'import sys\nresult = 1\nsys.exit(0)', 1],
  ])('it is %s', async (_name, code, expected) => {
    expect(await dataOf(code, { input: { n: 5, z: 1 } })).toEqual(expected)
  })

  test('a top-level return changes nothing else about the code', async () => {
    const code = `
from __future__ import annotations
import os.path as where
total: int = 0
n = n + 1
def add(x):
    global total
    total += x + n
class Box:
    size: int = 3
for each in [1, 2]:
    add(each)
try:
    raise KeyError("k")
except KeyError as caught:
    kept = str(caught)
return [total, n, Box.size, kept, where.sep]`
    expect(await dataOf(code, { input: { n: 1 } })).toEqual([7, 2, 3, "'k'", '/'])
  })

  test('a main that the code calls itself is not called again', async () => {
    const code = 'def main():\n  print("once")\nif __name__ == "__main__":\n  main()'
    expect(await dataOf(code)).toEqual({ stdout: 'once\n', stderr: '' })
  })

  test('an input called result is not a result', async () => {
    expect(await dataOf('print("hello")', { input: { result: 'given' } })).toEqual({
      stdout: 'hello\n',
      stderr: '',
    })
  })

  test('without a result it is what was printed', async () => {
    const code = 'import sys\nprint("out")\nprint("err", file=sys.stderr)'
    expect(await run(code)).toEqual({
      outcome: 'ok',
      data: { stdout: 'out\n', stderr: 'err\n' },
      stdout: 'out\n',
      stderr: 'err\n',
      exitCode: 0,
    })
  })

  test('Python values become JSON without losing what matters', async () => {
    const code = `
import math, decimal, datetime, enum, dataclasses, collections, uuid
class Colour(enum.Enum):
    RED = "red"
@dataclasses.dataclass
class Point:
    x: int
    when: datetime.date
result = {
  "nan": math.nan, "infinity": [math.inf, 1.5], "set": {3, 1, 2}, "tuple": (1, (2,)),
  "decimal": [decimal.Decimal("19.99"), decimal.Decimal("5"), decimal.Decimal("0.10000000000000000000000001")],
  "bytes": b"abc", "datetime": datetime.datetime(2024, 5, 6, 7, 8, 9, tzinfo=datetime.timezone.utc),
  "date": datetime.date(2024, 5, 6), "enum": Colour.RED, "dataclass": Point(1, datetime.date(2024, 1, 1)),
  "views": [{"k": 1}.keys(), range(2), (n for n in [1, 2]), collections.deque([1])],
  "big": [2**53 - 1, 2**63, -(2**60)], "third": 1 / 3, "counter": collections.Counter("aab"),
  "uuid": uuid.UUID(int=1), "text": "日本 \\u0000 \\ud800", 1: "int key", None: "none key", (1, 2): "tuple key",
}`
    expect(await dataOf(code)).toEqual({
      nan: null,
      infinity: [null, 1.5],
      set: [1, 2, 3],
      tuple: [1, [2]],
      decimal: [19.99, 5, '0.10000000000000000000000001'],
      bytes: 'YWJj',
      datetime: '2024-05-06T07:08:09+00:00',
      date: '2024-05-06',
      enum: 'red',
      dataclass: { x: 1, when: '2024-01-01' },
      views: [['k'], [0, 1], [1, 2], [1]],
      big: [9007199254740991, '9223372036854775808', '-1152921504606846976'],
      third: 1 / 3,
      counter: { a: 2, b: 1 },
      uuid: '00000000-0000-0000-0000-000000000001',
      text: '日本 \u0000 ?',
      '1': 'int key',
      null: 'none key',
      '(1, 2)': 'tuple key',
    })
  })

  test('a result that contains itself is a failure that says so', async () => {
    const { error } = await run('result = []\nresult.append(result)')
    expect(error).toMatchObject({ kind: 'schema', code: 'PY_UnserialisableError' })
  })

  test('a huge result arrives whole', async () => {
    const data = (await dataOf('result = ["x" * 1000] * 20000')) as string[]
    expect(data.length).toBe(20_000)
    expect(data.at(-1)).toBe('x'.repeat(1000))
  })

  test('a result above the limit is a failure, not a flood', async () => {
    const small = createPythonTool({ env: process.env, maxResultBytes: 1000 })
    const { error } = await small.run(aCall({ code: 'result = "x" * 5_000_000' }))
    expect(error).toMatchObject({ kind: 'result_too_large', code: 'RESULT_TOO_LARGE', retryable: false })
    await small.close()
  })
})

describe('what was printed', () => {
  test('contains what subprocesses and low-level writes print, in order', async () => {
    const code =
      'import subprocess\nprint("one")\nsubprocess.run(["echo", "two"])\nos.write(1, b"three\\n")\nresult = 1'
    expect(await run(code)).toMatchObject({ data: 1, stdout: 'one\ntwo\nthree\n' })
  })

  test('is limited, and says how much was dropped', async () => {
    const { stdout, data } = await run('print("x" * 1_000_000)\nresult = "fine"')
    expect(data).toBe('fine')
    expect(stdout?.length).toBeLessThan(263_000)
    expect(stdout).toContain('[737857 more bytes of output were dropped]')
  })

  test('is shown while it happens', async () => {
    const seen: string[] = []
    const code = 'import sys, time\nprint("first")\ntime.sleep(0.05)\nprint("second", file=sys.stderr)'
    await run(code, { log: (stream, text) => void seen.push(`${stream}: ${text}`) })
    expect(seen).toEqual(['stdout: first\n', 'stderr: second\n'])
  })

  test('cannot be mistaken for the result', async () => {
    const code =
      'import os\nfor fd in range(3, 20):\n  try:\n    os.write(fd, b"R\\x00\\x00\\x00\\x01x")\n  except OSError:\n    pass\nresult = 1'
    expect((await run(code)).outcome).toBe('error')
    expect(await dataOf('result = "healed"')).toBe('healed')
  })
})

describe('where the code comes from', () => {
  test('from base64', async () => {
    const code_b64 = Buffer.from('result = "hidden"').toString('base64')
    expect(await dataOf({ code_b64 })).toBe('hidden')
    expect(await dataOf({ code_base64: code_b64 })).toBe('hidden')
  })

  test('from a script: inline, from a file, over HTTP', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'noetl-python-'))
    await writeFile(join(directory, 'job.py'), 'result = "from a file"')
    const server = createServer((request, response) => {
      if (request.url === '/job.py') response.end('result = "from the net"')
      else response.writeHead(404).end()
    })
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

    expect(await dataOf({ script: { source: { type: 'inline', code: 'result = 1' } } })).toBe(1)
    expect(await dataOf({ script: { uri: join(directory, 'job.py'), source: { type: 'file' } } })).toBe(
      'from a file',
    )
    expect(await dataOf({ script: { source: { type: 'http', endpoint: `${base}/job.py` } } })).toBe(
      'from the net',
    )
    expect((await run({ script: { uri: `${base}/none.py` } })).error).toMatchObject({
      code: 'HTTP_404',
      http_status: 404,
    })
    expect((await run({ script: { uri: 'gs://x/y.py', source: { type: 'gcs' } } })).error?.code).toBe(
      'CONFIG',
    )

    server.close()
    await rm(directory, { recursive: true })
  })

  test('from nowhere: a failure that says what is missing', async () => {
    expect((await run({})).error).toEqual({
      kind: 'config',
      code: 'CONFIG',
      message: 'A python tool needs `code` (or `code_b64`, or `script`)',
      retryable: false,
    })
  })
})
