/** The script in docs/replay.md does what it says. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createRandom } from '../src/engine/testing/random.ts'
import { answerPieces } from '../src/replay/projection/answer.ts'
import { checksumsOf } from '../src/replay/projection/checksums.ts'
import { foldEvents } from '../src/replay/projection/fold.ts'
import { eventOfRow } from '../src/replay/projection/replay-event.ts'
import { createReplayView } from '../src/replay/projection/view.ts'
import { randomLog } from '../src/replay/testing/random-log.ts'

const createSha256 = () => {
  const hash = createHash('sha256')
  return { update: (text: string) => hash.update(text), digest: () => hash.digest('hex') }
}

const anAnswer = (): string => {
  const scope = { tenantId: 'default', organizationId: 'default' }
  const events = randomLog(createRandom(11), 60).map((row) => eventOfRow(row, scope))
  const state = foldEvents(events.filter((event) => event !== null))
  const view = createReplayView(state, { ...scope, executionId: '7', projection: 'all', status: null })
  const more = '"truncated":true,"next_event_id":9,"last_position":60,"applied_from_snapshot":null'
  return [...answerPieces(view, checksumsOf(view, createSha256), more)].join('')
}

test('the script of the documentation recomputes a checksum, and notices a change', () => {
  const [, script = ''] = /^```js\n(.*?)^```$/ms.exec(readFileSync('docs/replay.md', 'utf8')) ?? []
  const directory = mkdtempSync(join(tmpdir(), 'noetl-replay-docs-'))
  try {
    const file = join(directory, 'check-replay.mjs')
    writeFileSync(file, script)
    const check = (input: string): string =>
      execFileSync(process.execPath, [file], { input, stdio: 'pipe' }).toString()
    expect(check(anAnswer())).toMatch(/^ok [0-9a-f]{64}\n$/)
    expect(() => check(anAnswer().replace('"event_count":60', '"event_count":61'))).toThrow(
      /different|failed/,
    )
  } finally {
    rmSync(directory, { recursive: true })
  }
})
