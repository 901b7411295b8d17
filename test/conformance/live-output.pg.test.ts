/** What tools print is seen while they run, per attempt, by everybody who asks. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { FollowedLog } from '../../src/client/follow.ts'
import { createClient } from '../../src/client/client.ts'
import { useProduct } from '../support/playbook-run.ts'

const product = useProduct()
const directory = mkdtempSync(join(tmpdir(), 'noetl-live-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const python = (body: string): string =>
  `- step: start\n  tool:\n    kind: python\n    code: |\n${body
    .trim()
    .split('\n')
    .map((line) => `      ${line}`)
    .join('\n')}`

test('a line is seen before the tool that printed it has ended', async () => {
  const sign = join(directory, 'go on')
  const id = await product.start(
    python(`
import os, time
print('waiting', flush=True)
while not os.path.exists('${sign}'): time.sleep(0.01)
print('going on')
result = 1`),
  )
  const client = createClient(product.stack().url)
  const seen: FollowedLog[] = []
  for await (const item of client.followLogs(id)) {
    seen.push(item)
    if (item.type === 'output' && item.entry.text.includes('waiting')) writeFileSync(sign, '')
  }
  const text = seen.map((item) => (item.type === 'output' ? item.entry.text : '')).join('')
  expect(text).toBe('waiting\ngoing on\n')
  expect(seen.at(-1)).toMatchObject({ type: 'end', end: { status: 'COMPLETED' } })
})

test('both streams and every step are kept, and can be asked for one by one', async () => {
  const { executionId } = await product.run(`
    - step: start
      tool: { kind: shell, command: "echo out; echo err >&2" }
      next: [second]
    - step: second
      tool: { kind: shell, command: "echo more" }
  `)
  const client = createClient(product.stack().url)
  const texts = async (filter: Record<string, string>) =>
    (await client.logs(executionId, filter)).entries.map(({ step, stream, text }) => [step, stream, text])
  expect(await texts({ step: 'second' })).toEqual([['second', 'stdout', 'more\n']])
  expect(await texts({ stream: 'stderr' })).toEqual([['start', 'stderr', 'err\n']])
})
