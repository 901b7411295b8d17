/**
 * What the documentation promises, held against the program.
 *
 * 1. Every playbook in a page is valid and gives no reason for a warning.
 * 2. In the guide to the language, a block that is not a playbook says so in its first line.
 * 3. A relative link leads to a file, and its anchor to a heading there.
 * 4. Every route that docs/api.md names is a route of the server.
 * 5. The table of warnings in docs/playbooks.md has every warning that the reader of playbooks gives, and no other.
 */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { formatDiagnostic } from '../src/playbook/diagnostics.ts'
import { parsePlaybook } from '../src/playbook/parse.ts'
import { createApp } from '../src/server/app.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

const IGNORED = new Set(['node_modules', 'coverage'])
const PAGES = globSync('**/*.md', { cwd: ROOT, exclude: (path) => IGNORED.has(path) }).sort()
const PAGES_WITH_PLAYBOOKS = PAGES.filter((page) => page === 'README.md' || /^docs\/[^/]+\.md$/.test(page))

interface Block {
  readonly name: string
  readonly text: string
}

const yamlBlocks = (page: string): readonly Block[] => {
  const content = read(page)
  return [...content.matchAll(/^```ya?ml\n(.*?)^```$/gms)].map((match) => ({
    name: `${page}:${content.slice(0, match.index).split('\n').length + 1}`,
    text: match[1] ?? '',
  }))
}

const isFragment = ({ text }: Block): boolean => text.startsWith('# fragment\n')
const isPlaybook = (block: Block): boolean => !isFragment(block) && /^workflow:/m.test(block.text)

describe('playbooks in the documentation', () => {
  const playbooks = PAGES_WITH_PLAYBOOKS.flatMap(yamlBlocks).filter(isPlaybook)

  it('are found', () => {
    expect(playbooks.length).toBeGreaterThan(5)
  })

  it.each(playbooks)('1: $name is valid, without warnings', ({ text }) => {
    const result = parsePlaybook(text)
    const diagnostics = result.ok ? result.warnings : result.problems
    expect(diagnostics.map(formatDiagnostic)).toEqual([])
  })

  it('2: blocks of the guide are whole playbooks or marked as fragments', () => {
    const unmarked = yamlBlocks('docs/playbooks.md').filter(
      (block) => !isFragment(block) && !isPlaybook(block),
    )
    expect(unmarked.map(({ name }) => name)).toEqual([])
  })
})

/** Code may hold brackets that only look like links. */
const prose = (page: string): string =>
  read(page)
    .replaceAll(/^```.*?^```$/gms, '')
    .replaceAll(/`[^`\n]*`/g, '')

const linksOf = (page: string): readonly string[] =>
  [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => match[1] ?? '')
    .filter((target) => !/^[a-z]+:/.test(target))

const anchorsOf = (page: string): ReadonlySet<string> =>
  new Set(
    read(page)
      .replaceAll(/^```.*?^```$/gms, '')
      .split('\n')
      .filter((line) => /^#+ /.test(line))
      .map((line) =>
        line
          .replace(/^#+ /, '')
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
          .replaceAll(' ', '-'),
      ),
  )

const isBroken = (page: string, link: string): boolean => {
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? page : join(dirname(page), path)
  if (!existsSync(join(ROOT, target))) return true
  return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).has(anchor)
}

describe('links between pages', () => {
  it.each(PAGES)('3: of %s lead somewhere', (page) => {
    expect(linksOf(page).filter((link) => isBroken(page, link))).toEqual([])
  })
})

describe('docs/playbooks.md', () => {
  const codesIn = (text: string, pattern: RegExp): readonly string[] =>
    [...new Set([...text.matchAll(pattern)].map(([, code = '']) => code))].sort()

  it('5: lists the warnings that there are', () => {
    const sources = globSync('src/playbook/**/*.ts', { cwd: ROOT }).filter(
      (path) => !/\.(?:test|suite)\.ts$/.test(path),
    )
    const given = codesIn(sources.map(read).join('\n'), /\.warn\(\s*'([a-z-]+)'/g)
    // A code that is not written where it is given would escape the line above.
    expect(
      sources
        .map(read)
        .join('\n')
        .match(/\.warn\(\s*[^'\s]/g),
    ).toBe(null)
    const rows = /^\| warning \|.*?\n\n/ms.exec(`${read('docs/playbooks.md')}\n\n`)?.[0] ?? ''
    const listed = rows.split('\n').flatMap((row) => codesIn(row.split('|')[1] ?? '', /`([a-z-]+)`/g))
    expect(listed.length).toBe(new Set(listed).size)
    expect([...listed].sort()).toEqual(given)
  })
})

/** Stands for everything that routes take apart when they are registered; no request is ever made. */
const anything: object = new Proxy(() => anything, { get: () => anything })

const createServer = () =>
  createApp({
    core: anything as never,
    leases: anything as never,
    version: '0.0.0',
    closing: new AbortController().signal,
  })

describe('docs/api.md', () => {
  const routes = [...read('docs/api.md').matchAll(/`(GET|POST|PUT|DELETE|PATCH) (\/[^`\s]*)`/g)].map(
    ([, method = '', path = '']) => ({ method, path }),
  )

  it('names routes', () => {
    expect(routes.length).toBeGreaterThan(20)
  })

  it('4: names only routes that the server has', () => {
    const app = createServer()
    const unknown = routes.filter(
      ({ method, path }) => !app.hasRoute({ method, url: path.replaceAll(/\{(\w+)\}/g, ':$1') }),
    )
    expect(unknown).toEqual([])
  })
})
