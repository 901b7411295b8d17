/** `noetl up` as people meet it: the first start, the second one, what is in its way, and how it ends. */
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { processesOn } from '../support/embedded-postgres.ts'
import type { Finished, Server } from './noetl-process.ts'
import {
  createGate,
  noetl,
  REPOSITORY,
  startNoetl,
  startServer,
  temporaryDirectory,
  until,
} from './noetl-process.ts'

describe('the first start', () => {
  const dataDir = temporaryDirectory()
  let server: Server
  let ended: Finished
  let helloId: string

  beforeAll(async () => {
    server = await startServer(dataDir)
    await server.printed(/Ctrl-C stops it/)
    const [hello] = await createClient(server.url).list()
    helloId = hello?.execution_id ?? ''
  })

  test('runs the hello example and shows its steps', () => {
    expect(server.stdout()).toMatch(/^ok +start +shell +[\d.]+ m?s$/m)
    expect(server.stdout()).toMatch(/^ok +end +noop +[\d.]+ m?s$/m)
    expect(server.stdout()).toContain('"Hello, world!"')
  })

  test('says which commands to try next, and they work as printed', async () => {
    const [, line = ''] = await server.printed(/^ {2}bin\/noetl (run examples\/hello\.yaml .*)$/m)
    const run = await noetl(line.split(' '))
    expect(run).toMatchObject({ exitCode: 0 })
    expect(run.stdout).toContain('Hello, Ada!')
    const [, url = ''] = await server.printed(/^ {2}curl (\S+)$/m)
    expect(await (await fetch(url)).json()).toMatchObject({ status: 'COMPLETED' })
  })

  test('registers every example', async () => {
    const files = globSync('examples/*.yaml', { cwd: REPOSITORY })
    await server.printed(new RegExp(`Registered ${files.length} examples`))
    const answer = await fetch(`${server.url}/api/catalog/list`, { method: 'POST' })
    const { entries } = (await answer.json()) as { entries: { path: string }[] }
    const paths = new Set(entries.map((entry) => entry.path))
    expect(paths).toEqual(new Set(files.map((file) => file.replace('.yaml', ''))))
  })

  test('a second server on the same directory is refused, with the place of the first', async () => {
    const second = await noetl(['up', '--port', '0', '--data-dir', dataDir])
    expect(second.exitCode).toBe(1)
    expect(second.stderr.trim().split('\n')).toEqual([
      expect.stringContaining(`already runs on ${dataDir}, at ${server.url}`),
    ])
  })

  test('Ctrl-C stops everything, PostgreSQL too, and the exit code is 0', async () => {
    server.kill('SIGINT')
    ended = await server.finished
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' })
    expect(ended.stdout).toMatch(/Stopping.*\nStopped\n$/)
    expect(processesOn(dataDir)).toEqual([])
    expect(existsSync(join(dataDir, 'server.json'))).toBe(false)
  })

  test('the next start finds the data again and runs no example', async () => {
    const again = await startServer(dataDir)
    expect((await createClient(again.url).list()).map((each) => each.execution_id)).toContain(helloId)
    again.kill('SIGTERM')
    const { exitCode, stdout } = await again.finished
    expect(exitCode).toBe(0)
    expect(stdout).not.toContain('Registered')
  })

  test('a second Ctrl-C leaves at once and PostgreSQL does not stay', async () => {
    const gate = createGate()
    const again = await startServer(dataDir)
    const client = createClient(again.url)
    const { path } = await client.register(gate.playbook)
    await client.execute({ path })
    await gate.untilBegun(1)
    again.kill('SIGINT')
    // It waits for the running step, and says so.
    await again.printed(/Waiting for running commands/)
    again.kill('SIGINT')
    expect((await again.finished).exitCode).toBe(130)
    gate.open()
    await until(() => processesOn(dataDir).length === 0)
  })
})

describe('what is in the way of a start', () => {
  const dataDir = temporaryDirectory()

  test('a taken port is said before anything is started', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => taken.once('listening', resolve))
    const { port } = taken.address() as AddressInfo
    const refused = await noetl(['up', '--port', String(port), '--data-dir', join(dataDir, 'unused')])
    taken.close()
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' })
    expect(refused.stderr).toBe(
      `error: Port ${port} on 127.0.0.1 is taken. Stop the program that uses it, or choose another with --port.\n`,
    )
    expect(existsSync(join(dataDir, 'unused'))).toBe(false)
  })

  test('an address that others can reach is refused unless told that this is meant', async () => {
    const refused = await noetl(['up', '--host', '0.0.0.0', '--data-dir', dataDir])
    expect(refused.exitCode).toBe(2)
    expect(refused.stderr).toContain('--insecure')
    const server = await startServer(dataDir, ['--host', '0.0.0.0', '--no-examples', '--slots', '0'], {
      env: { NOETL_INSECURE: 'true' },
    })
    expect(server.url).toMatch(/^http:\/\/0\.0\.0\.0:/)
    server.kill('SIGINT')
    const { exitCode, stdout } = await server.finished
    expect(exitCode).toBe(0)
    expect(stdout).toContain('No worker runs here')
    expect(stdout).not.toContain('Registered')
  })

  test.each([
    [['up', '--port', '99999'], /--port \(NOETL_PORT\) must be a whole number from 0 to 65535, got '99999'/],
    [['up', '--slots', 'many'], /--slots \(NOETL_SLOTS\) must be a whole number/],
    [['up', '--prot', '1'], /unknown option '--prot'\n\(Did you mean --port\?\)/],
    [['upp'], /unknown command 'upp'\n\(Did you mean up\?\)/],
  ])('%j is a usage error with the fix', async (args, message) => {
    const refused = await noetl(args)
    expect(refused.exitCode).toBe(2)
    expect(refused.stderr).toMatch(message)
    expect(refused.stderr).not.toMatch(/^\s+at /m)
  })

  test('the environment is held to the same rules', async () => {
    const refused = await noetl(['up'], { env: { NOETL_PORT: 'x', NOETL_DATA_DIR: dataDir } })
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
  })

  test('a database that does not answer is named, without its password', async () => {
    const refused = await noetl(['up', '--port', '0', '--data-dir', dataDir], {
      env: { NOETL_DATABASE_URL: 'postgres://me:secret@127.0.0.1:9/x' },
    })
    expect(refused.exitCode).toBe(1)
    expect(refused.stderr).toBe(
      'error: The database postgres://me@127.0.0.1:9/x cannot be used: connect ECONNREFUSED 127.0.0.1:9\n',
    )
  })

  test('a PostgreSQL that dies ends the server with an error, and the next start works', async () => {
    const server = await startServer(dataDir, ['--no-examples'])
    const postmaster = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]
    process.kill(Number(postmaster), 'SIGKILL')
    const { exitCode, stderr } = await server.finished
    expect(exitCode).toBe(1)
    expect(stderr).toContain(`error: PostgreSQL (process ${postmaster}) ended unexpectedly`)
    const again = await startServer(dataDir)
    again.kill('SIGTERM')
    expect((await again.finished).exitCode).toBe(0)
  })

  test('a stop asked for while it starts takes effect', async () => {
    const starting = startNoetl(['up', '--port', '0', '--data-dir', dataDir])
    await starting.printed(/Starting PostgreSQL/)
    starting.kill('SIGTERM')
    expect((await starting.finished).exitCode).toBe(0)
    expect(processesOn(dataDir)).toEqual([])
  })
})
