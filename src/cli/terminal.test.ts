import { expect, test } from 'vitest'
import { createTerminal } from './terminal.ts'
import { createRecordingTerminal } from './testing/recording-terminal.ts'

const ERASE = '\r\u001B[2K'

test('the live line gives way to what is printed and comes back (1)', () => {
  const terminal = createRecordingTerminal({ isTTY: true })
  terminal.live('12/50')
  terminal.out('a line')
  terminal.err('another')
  terminal.live(null)
  expect(terminal.written()).toBe(`12/50${ERASE}a line\n12/50${ERASE}another\n12/50${ERASE}`)
})

test('there is no live line where nobody looks (1)', () => {
  const terminal = createRecordingTerminal()
  terminal.live('12/50')
  terminal.out('a line')
  expect(terminal.written()).toBe('a line\n')
})

test.each([
  [true, {}, true],
  [true, { NO_COLOR: '1' }, false],
  [true, { TERM: 'dumb' }, false],
  [false, {}, false],
  [false, { FORCE_COLOR: '1' }, true],
])('a terminal: %j, environment: %j, colour: %j', (isTTY, env: Record<string, string>, coloured) => {
  expect(createRecordingTerminal({ isTTY, env }).style.red('x') !== 'x').toBe(coloured)
})

test('an unknown width counts as 80', () => {
  expect(createRecordingTerminal({ columns: 0 }).columns()).toBe(80)
})

test.each([
  ['EPIPE', null],
  ['ENOSPC', 'ENOSPC'],
])('results that are lost by %s are a failure: %j (2)', (code, failure) => {
  const told: ((error: Error) => void)[] = []
  const stdout = {
    write: () => true,
    on: (_event: 'error', listener: (error: Error) => void) => void told.push(listener),
  }
  const stderr = { write: () => true, on: () => undefined }
  const terminal = createTerminal({ stdout, stderr, env: {} })
  expect(terminal.failure()).toBe(null)
  for (const tell of told) tell(Object.assign(new Error(code), { code }))
  expect(terminal.failure()?.message ?? null).toBe(failure)
  expect(terminal.abandoned.aborted).toBe(code === 'EPIPE')
})
