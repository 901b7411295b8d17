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

test('help for one below a command that does not exist says so, too', async () => {
  const { exitCode, written } = await ask('help', 'token', 'craete')
  expect(exitCode).toBe(2)
  expect(written).toContain("unknown command 'craete'\n(Did you mean create?)")
})

test.each([
  [['help', 'run'], 'Usage: noetl run'],
  [['help', 'token'], 'Usage: noetl token [options] [command]'],
  [['help', 'token', 'create'], 'Usage: noetl token create'],
  [['help'], 'Usage: noetl [options] [command]'],
  [['help', 'help'], 'Usage: noetl [options] [command]'],
])('%j explains what there is', async (argv, usage) => {
  const { exitCode, written } = await ask(...argv)
  expect(exitCode).toBe(0)
  expect(written).toContain(usage)
})

test.each([
  ['state', 'abc'],
  ['explain', 'abc', 'start'],
  ['diff', '1', 'abc'],
  ['doctor', 'abc'],
  ['logs', 'abc'],
  ['cancel', 'abc'],
  ['replay', 'abc'],
  ['export', 'abc'],
  ['rerun', 'abc'],
  ['retry', 'abc'],
  ['token', 'revoke', 'abc'],
])('an id that is none is refused before a server is looked for: %s', async (...argv) => {
  await expect(ask(...argv)).rejects.toThrow(/^'abc' is not the (?:id of an execution|number of a token)/)
})

test('the help of every command has examples', async () => {
  const { written } = await ask('help')
  const names = [...written.matchAll(/^ {2}([a-z]+) .*$/gm)].map(([, name = '']) => name)
  const commands = names.filter((name) => !['noetl', 'help'].includes(name)).map((name) => [name])
  expect(commands.length).toBeGreaterThan(15)
  const below = ['create', 'list', 'revoke'].map((name) => ['token', name])
  for (const argv of [...commands, ...below])
    expect((await ask(...argv, '--help')).written).toMatch(/^Examples:\n {2}(?:NOETL_TOKEN=\S+ )?noetl /m)
})

test.each([
  [['--name', ' '], '--name is empty; say whom or what it is for'],
  [['--name', 'x', '--expires', 'soon'], '--expires soon: write a number and a unit'],
])('a token that cannot be made is refused before a database is opened: %j', async (flags, words) => {
  await expect(ask('token', 'create', '--role', 'viewer', ...flags)).rejects.toThrow(words)
})
