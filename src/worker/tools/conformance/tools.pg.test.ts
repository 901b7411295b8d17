/** Every tool of the worker keeps the promises of all tools. A new kind needs an entry, or the last test fails. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import type { ControlPlane } from '../../../contract/command.ts'
import { createTools } from '../all.ts'
import { basicEntries } from './basic-entries.suite.ts'
import { databaseEntries } from './database-entries.suite.ts'
import { serviceEntries } from './service-entries.suite.ts'
import { type ConformanceEntry, describeTool } from './tool.suite.ts'

const ENTRIES: readonly ConformanceEntry[] = [...basicEntries, ...databaseEntries, ...serviceEntries]

for (const entry of ENTRIES) describeTool(entry)

test('every kind of the worker has an entry, and none has two', async () => {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'noetl-kinds-'))
  const tools = createTools({ env: {}, python: null, controlPlane: {} as ControlPlane, dataDirectory })
  const { kinds } = tools
  await tools.close()
  rmSync(dataDirectory, { recursive: true, force: true })
  expect(ENTRIES.map(({ kind }) => kind).sort()).toEqual(kinds)
})
