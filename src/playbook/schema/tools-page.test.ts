import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { toolsPage } from './tools-page.ts'

it('docs/tools.md is what the declarations say; `npm run playbook-schema` writes it anew', () => {
  const written = readFileSync(new URL('../../../docs/tools.md', import.meta.url), 'utf8')
  expect(written).toBe(toolsPage())
})
