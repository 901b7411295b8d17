/**
 * The architecture, held by a test: the tables below are the documentation. A new arrow or a package in a new place
 * is a decision, to be recorded in docs/decisions.
 */
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'

/** Who may import whom. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  lib: [],
  template: ['contract'],
  playbook: ['contract', 'template'],
  engine: ['contract', 'playbook', 'template'],
  replay: ['contract'],
  store: ['contract', 'lib'],
  dispatch: ['contract', 'lib'],
  client: ['contract', 'lib'],
  server: ['contract', 'lib', 'template', 'playbook', 'engine', 'replay', 'store', 'dispatch'],
  worker: ['contract', 'lib', 'template', 'engine', 'client', 'dispatch'],
  cli: ['contract', 'lib', 'playbook', 'engine', 'replay', 'client'],
  // Puts the parts together; nothing but the program's entrance imports it.
  compose: [
    'contract',
    'lib',
    'playbook',
    'engine',
    'replay',
    'client',
    'dispatch',
    'store',
    'server',
    'worker',
    'cli',
  ],
}

/** No clock, no randomness, no I/O, no async: the same code runs in server, CLI, tests and browser. */
const PURE = ['contract', 'template', 'playbook', 'engine', 'replay']

/** Where a package may be imported, by the beginning of the path; with the reason. */
const PACKAGES: Readonly<Record<string, { readonly in: readonly string[]; readonly why: string }>> = {
  pg: {
    in: ['src/store/', 'src/worker/tools/postgres'],
    why: "our own tables are the store's; users' databases are the tool's",
  },
  fastify: { in: ['src/server/'], why: 'the HTTP face' },
  zod: {
    in: ['src/contract/', 'src/server/'],
    why: 'shapes on the wire; the server checks requests against them',
  },
  yaml: { in: ['src/playbook/'], why: 'one reading of YAML' },
  commander: { in: ['src/main.ts', 'src/cli/', 'src/compose/'], why: 'the command line' },
  picocolors: { in: ['src/main.ts', 'src/cli/', 'src/compose/'], why: 'the terminal' },
  'prom-client': { in: ['src/server/metrics/'], why: 'one registry of numbers' },
  '@duckdb/node-api': { in: ['src/worker/tools/duckdb'], why: 'an engine that not every worker needs' },
  pino: { in: ['src/compose/'], why: 'one log, handed to everybody as a small interface' },
  '@nats-io/transport-node': { in: ['src/dispatch/', 'src/worker/tools/nats'], why: 'wake-ups; the tool' },
  '@nats-io/kv': { in: ['src/worker/tools/nats'], why: 'the tool' },
  '@nats-io/obj': { in: ['src/worker/tools/nats'], why: 'the tool' },
  '@nats-io/jetstream': { in: ['src/dispatch/', 'src/worker/tools/nats'], why: 'streams; the tool' },
}

const MAX_LINES = { code: 400, test: 600 }

const isTest = (path: string): boolean => /\.(?:test|suite)\.ts$|\/testing\/|\/test-support\.ts$/.test(path)

const all = globSync('src/**/*.ts').sort()
const sources = all.filter((path) => !isTest(path))
const folderOf = (path: string): string => path.split('/')[1] ?? ''

interface Import {
  readonly path: string
  readonly target: string
}

const IMPORT =
  /^\s*(?:import|export)\b[^'"`;]*?\bfrom\s+['"]([^'"]+)['"]|^\s*import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm

const importsOf = (path: string): readonly Import[] =>
  [...readFileSync(path, 'utf8').matchAll(IMPORT)].map((match) => ({
    path,
    target: match[1] ?? match[2] ?? match[3] ?? '',
  }))

const imports = sources.flatMap(importsOf)
const isLocal = ({ target }: Import): boolean => target.startsWith('.')
const resolved = ({ path, target }: Import): string => relative('.', join(dirname(path), target))
const packageOf = (target: string): string =>
  target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/')

test('the imports are found at all', () => {
  expect(imports.length).toBeGreaterThan(300)
})

test('every source folder is on the map', () => {
  const folders = new Set(all.filter((path) => path !== 'src/main.ts').map(folderOf))
  expect([...folders].filter((folder) => !(folder in MAY_IMPORT))).toEqual([])
})

test.each(Object.keys(MAY_IMPORT))('src/%s imports only what the map allows', (folder) => {
  const strays = imports
    .filter((each) => isLocal(each) && folderOf(each.path) === folder)
    .filter((each) => {
      const target = resolved(each)
      return (
        !target.startsWith('src/') ||
        (folderOf(target) !== folder && !MAY_IMPORT[folder]?.includes(folderOf(target)))
      )
    })
  expect(strays).toEqual([])
})

test("nothing imports the program's entrance", () => {
  expect(imports.filter((each) => isLocal(each) && resolved(each) === 'src/main.ts')).toEqual([])
})

test('code does not import tests', () => {
  expect(imports.filter((each) => isLocal(each) && isTest(resolved(each)))).toEqual([])
})

describe('packages', () => {
  const external = imports.filter((each) => !isLocal(each) && !each.target.startsWith('node:'))

  test.each(Object.entries(PACKAGES))('%s is used where the table says', (name, { in: places, why }) => {
    const strays = external.filter(
      ({ path, target }) => packageOf(target) === name && !places.some((place) => path.startsWith(place)),
    )
    expect(strays, why).toEqual([])
  })

  test('every package is in the table', () => {
    expect(
      [...new Set(external.map(({ target }) => packageOf(target)))].filter((name) => !(name in PACKAGES)),
    ).toEqual([])
  })

  test('modules of Node are written with their prefix and are not used in pure folders', () => {
    expect(
      imports.filter(({ path, target }) => target.startsWith('node:') && PURE.includes(folderOf(path))),
    ).toEqual([])
    const bare = imports.filter(({ target }) =>
      /^(?:assert|buffer|child_process|crypto|events|fs|http|https|net|os|path|process|stream|timers|url|util|zlib)(?:\/|$)/.test(
        target,
      ),
    )
    expect(bare).toEqual([])
  })
})

describe('style', () => {
  const lines = (path: string): readonly string[] => readFileSync(path, 'utf8').split('\n')
  const written = [...all, ...globSync(['test/**/*.ts', 'scripts/**/*.ts', 'bench/**/*.ts'])]

  test('pure folders have a compiler setting that keeps them pure', () => {
    const existing = PURE.filter((folder) => all.some((path) => folderOf(path) === folder))
    for (const folder of existing) {
      expect(JSON.parse(readFileSync(`src/${folder}/tsconfig.json`, 'utf8'))).toMatchObject({
        compilerOptions: { types: [] },
      })
    }
  })

  test('files fit one idea', () => {
    const long = written.filter(
      (path) =>
        lines(path).length > (path.startsWith('test/') || isTest(path) ? MAX_LINES.test : MAX_LINES.code),
    )
    expect(long).toEqual([])
  })

  test('files are named in kebab case, and no folder has a barrel', () => {
    expect(written.filter((path) => !/^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.ts$/.test(basename(path)))).toEqual([])
    expect(written.filter((path) => basename(path) === 'index.ts')).toEqual([])
  })

  test('imports name the file they mean', () => {
    const unclear = written
      .flatMap(importsOf)
      .filter((each) => isLocal(each) && !/\.(?:ts|json|sql|py)$/.test(each.target))
    expect(unclear).toEqual([])
  })

  test('no code needs more than its types stripped, and classes are for errors', () => {
    const odd = sources.flatMap((path) =>
      lines(path)
        .filter((line) => /^\s*(?:export )?(?:const )?(?:enum|namespace) \w/.test(line))
        .map((line) => `${path}: ${line}`),
    )
    expect(odd).toEqual([])
    const classes = sources.flatMap((path) =>
      lines(path)
        .filter(
          (line) => /^\s*(?:export )?(?:abstract )?class \w/.test(line) && !/extends \w*Error\b/.test(line),
        )
        .map((line) => `${path}: ${line}`),
    )
    expect(classes).toEqual([])
  })

  test('the environment is read at the entrance and nowhere else', () => {
    // The guard is a program of its own, started with an environment made for it.
    const readers = sources.filter((path) => path !== 'src/main.ts' && path !== 'src/store/embedded/guard.ts')
    expect(readers.filter((path) => /\bprocess\.(?:env|argv)\b/.test(readFileSync(path, 'utf8')))).toEqual([])
  })

  test('the server asks the store; it writes no SQL of its own', () => {
    const sql = /[`']\s*(?:select|insert into|update|delete from|with)\s[^`']*\bnoetl\./i
    const server = sources.filter((path) => folderOf(path) === 'server')
    expect(server.filter((path) => sql.test(readFileSync(path, 'utf8')))).toEqual([])
  })
})

test('the lock file knows every package of every platform, without which npm ci refuses it', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { dependencies?: object; optionalDependencies?: object }>
  }
  const missing = Object.entries(packages).flatMap(
    ([path, { dependencies = {}, optionalDependencies = {} }]) =>
      Object.keys({ ...dependencies, ...optionalDependencies })
        .filter(
          (name) => !(`node_modules/${name}` in packages) && !(`${path}/node_modules/${name}` in packages),
        )
        .map((name) => `${path}: ${name}`),
  )
  expect(missing).toEqual([])
})
