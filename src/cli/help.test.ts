import { expect, test } from 'vitest'
import { Reported } from './failure.ts'
import type { Actions } from './program.ts'
import { runProgram } from './program.ts'
import { createRecordingTerminal } from './testing/recording-terminal.ts'

const ask = async (...argv: readonly string[]) => {
  const terminal = createRecordingTerminal()
  const exitCode = await runProgram({ argv, version: '0', terminal, actions: {} as Actions }).catch(
    (error: unknown) => {
      if (error instanceof Reported) return error.exitCode
      throw error
    },
  )
  return { exitCode, written: terminal.written() }
}

test('help for a command that does not exist says so, with the one that may be meant', async () => {
  const { exitCode, written } = await ask('help', 'rnu')
  expect(exitCode).toBe(2)
  expect(written).toContain("unknown command 'rnu'\n(Did you mean run?)")
  expect(written).not.toContain('Usage:')
})

test.each([
  [['help', 'run'], 'Usage: noetl run'],
  [['help', 'token'], 'Usage: noetl token'],
  [['help'], 'Usage: noetl [options] [command]'],
  [['help', 'help'], 'Usage: noetl [options] [command]'],
])('%j explains what there is', async (argv, usage) => {
  const { exitCode, written } = await ask(...argv)
  expect(exitCode).toBe(0)
  expect(written).toContain(usage)
})
