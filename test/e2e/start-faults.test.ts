/** Mistakes of people who begin: a mistyped directory, a lost key, an address that is none, a change of mind. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { processesOn } from '../support/embedded-postgres.ts'
import { noetl, startNoetl, startServer, temporaryDirectory } from './noetl-process.ts'

/** Where no server runs at the usual address. */
const AWAY = { NOETL_PORT: '9' }

describe('a command that needs data, where there is none', () => {
  const parent = temporaryDirectory()
  const missing = join(parent, 'typo')

  test.each([['state', '5'], ['logs', '5'], ['doctor'], ['replay', '5'], ['token', 'list']])(
    'is refused with the directory and the fix, and makes nothing: %s %s',
    async (...args) => {
      const refused = await noetl([...args, '--data-dir', missing])
      expect(refused).toMatchObject({
        exitCode: 2,
        stdout: '',
        stderr:
          `error: No server is running, and there is no NoETL data in ${missing}. ` +
          'Say where it is with --data-dir, name a running server with --server, or start a new one with: noetl up\n',
      })
      expect(existsSync(missing)).toBe(false)
    },
  )

  test('is refused in the directory it was called in, too', async () => {
    const refused = await noetl(['state', '5'], { cwd: parent, env: AWAY })
    expect(refused.exitCode).toBe(2)
    expect(refused.stderr).toContain(`no NoETL data in ${join(parent, '.noetl')}`)
    expect(existsSync(join(parent, '.noetl'))).toBe(false)
  })

  test('makes the data with the first token, says where, and the server that is started there asks for it', async () => {
    const place = join(parent, 'first')
    const create = ['token', 'create', '--role', 'admin', '--name', 'me', '--data-dir', place]
    const made = await noetl(create)
    expect(made).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^noetl_1_/) })
    expect(made.stderr).toContain(`there is no NoETL data in ${place} yet: it is made now.`)
    expect(made.stderr).toContain(`noetl up --data-dir '${place}'\n`)
    expect((await noetl(create)).stderr).not.toContain('it is made now')
    const server = await startServer(place, ['--slots', '0', '--no-examples'])
    const list = `${server.url}/api/executions`
    const headers = { authorization: `Bearer ${made.stdout.trim()}` }
    expect([(await fetch(list)).status, (await fetch(list, { headers })).status]).toEqual([401, 200])
    server.kill('SIGTERM')
    expect((await server.finished).exitCode).toBe(0)
  })
})

test('a server whose key is lost does not start; with the key put back, or given up, it does', async () => {
  const dataDir = temporaryDirectory()
  const keyFile = join(dataDir, 'encryption.key')
  const first = await startServer(dataDir, ['--no-examples'])
  const stored = await fetch(`${first.url}/api/credentials`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'mine', type: 'generic', data: { password: 'hunter2' } }),
  })
  expect(stored.ok).toBe(true)
  first.kill('SIGTERM')
  expect((await first.finished).exitCode).toBe(0)

  const key = readFileSync(keyFile)
  rmSync(keyFile)
  const refused = await noetl(['up', '--port', '0', '--data-dir', dataDir])
  expect(refused.exitCode).toBe(1)
  expect(refused.stdout).not.toContain('ready')
  expect(refused.stderr).toContain(`${keyFile} does not exist`)
  expect(refused.stderr).toContain('NOETL_ENCRYPTION_KEY_LOST=true')
  expect(existsSync(keyFile)).toBe(false)
  expect(processesOn(dataDir)).toEqual([])

  writeFileSync(keyFile, key)
  const again = await startServer(dataDir)
  const answer = await fetch(`${again.url}/api/credentials/mine?include_data=true`)
  expect(await answer.text()).toContain('hunter2')
  again.kill('SIGTERM')
  await again.finished

  rmSync(keyFile)
  const givenUp = await startServer(dataDir, [], { env: { NOETL_ENCRYPTION_KEY_LOST: 'true' } })
  givenUp.kill('SIGTERM')
  expect((await givenUp.finished).exitCode).toBe(0)
})

describe('an address of a database', () => {
  const dataDir = temporaryDirectory()
  const upOn = (url: string) =>
    noetl(['up', '--port', '0', '--data-dir', dataDir], { env: { NOETL_DATABASE_URL: url } })

  test('that is none is refused before anything is started, with an example', async () => {
    expect(await upOn('nonsense')).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringMatching(
        /^error: NOETL_DATABASE_URL .*is not the address of a PostgreSQL database.*postgres:\/\/user:password@host:5432\/database\n$/,
      ),
    })
  })

  test('where nobody answers is named with host and port, without the password', async () => {
    const { exitCode, stderr } = await upOn('postgres://me:hunter2@nohost.invalid/x')
    expect(exitCode).toBe(1)
    expect(stderr).toContain('no PostgreSQL answers at nohost.invalid:5432')
    expect(stderr).not.toContain('hunter2')
  })
})

test('a stop asked for while it prepares is not followed by being ready', async () => {
  const dataDir = temporaryDirectory()
  const starting = startNoetl(['up', '--port', '0', '--data-dir', dataDir])
  await starting.printed(/Preparing a PostgreSQL/)
  starting.kill('SIGINT')
  const { exitCode, stdout, stderr } = await starting.finished
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  expect(stdout).toMatch(/^NoETL \S+\nPreparing .*\nStopping .*\nStopped\n$/)
  expect(existsSync(join(dataDir, 'postgres'))).toBe(false)
  expect(processesOn(dataDir)).toEqual([])
})

test.runIf(existsSync('/proc/self'))('a directory that cannot be made is an error', async () => {
  expect(await noetl(['up', '--port', '0', '--data-dir', '/proc/foo'])).toMatchObject({
    exitCode: 1,
    stderr:
      'error: Data directory /proc/foo cannot be made: /proc takes no directories. Choose another with --data-dir.\n',
  })
})
