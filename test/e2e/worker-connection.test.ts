/** A worker whose server is away, is a stranger, or says no: what people see and how it ends. */
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRemoteTokens } from '../../src/client/access.ts'
import type { Client } from '../../src/client/client.ts'
import { createClient } from '../../src/client/client.ts'
import type { Role } from '../../src/contract/access.ts'
import { ownPort } from '../support/own-port.ts'
import type { NoetlProcess, Server } from './noetl-process.ts'
import { createGate, noetl, startNoetl, startServer, temporaryDirectory } from './noetl-process.ts'
import { readToEnd } from './read-to-end.ts'

const startExecution = async (client: Client, playbook: string): Promise<string> => {
  const { path, version } = await client.register(playbook)
  return (await client.execute({ path, version })).execution_id
}

const endOf = async (client: Client, id: string) => (await readToEnd(client, id)).end.status

describe('a server that is away', () => {
  test('is waited for when it is not there yet and when it is restarted, and the worker goes on with its work', async () => {
    const port = await ownPort()
    const url = `http://127.0.0.1:${port}`
    const dataDir = temporaryDirectory()
    const up = async (): Promise<NoetlProcess> => {
      const flags = ['--port', String(port), '--data-dir', dataDir, '--slots', '0', '--no-examples']
      const server = startNoetl(['up', ...flags])
      await server.printed(/^NoETL is ready/m)
      return server
    }
    const worker = startNoetl(['worker', '--server', url])
    await worker.printed(/^No answer from \S+ \(connection refused\); waiting for the server/m)

    const first = await up()
    await worker.printed(/^Connected to http:\S+ after \d+ s\nWorker .* takes work of pool shared/m)
    const client = createClient(url)
    const before = createGate()
    before.open()
    expect(await endOf(client, await startExecution(client, before.playbook))).toBe('COMPLETED')
    first.kill('SIGTERM')
    await first.finished
    await worker.printed(/cannot lease work, trying again/)

    const second = await up()
    const after = createGate()
    after.open()
    expect(await endOf(client, await startExecution(client, after.playbook))).toBe('COMPLETED')
    await worker.printed(/work can be leased again/)
    worker.kill('SIGINT')
    const { exitCode, stdout } = await worker.finished
    expect(exitCode).toBe(0)
    expect(stdout.match(/waiting for the server/g)).toHaveLength(1)
    second.kill('SIGTERM')
    await second.finished
  })

  test('is not waited for after Ctrl-C', async () => {
    const worker = startNoetl(['worker', '--server', `http://127.0.0.1:${await ownPort()}`])
    await worker.printed(/waiting for the server \(Ctrl-C ends this\)/)
    worker.kill('SIGINT')
    const { exitCode, stdout, stderr } = await worker.finished
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^No answer from .*\nStopped\n$/)
  })

  test('is waited for only as long as was said, by flag or environment', async () => {
    const server = `http://127.0.0.1:${await ownPort()}`
    const [short, none, wrong] = await Promise.all([
      noetl(['worker', '--server', server, '--wait', '1']),
      noetl(['worker', '--server', server], { env: { NOETL_WORKER_WAIT: '0' } }),
      noetl(['worker', '--server', server, '--wait', 'soon']),
    ])
    expect(short.exitCode).toBe(1)
    expect(short.stdout).toMatch(/waiting for the server for up to 1 s \(Ctrl-C ends this\)\n$/)
    expect(short.stderr).toMatch(/^error: No answer from .* \(connection refused\); waited 1 s for it .*\n$/)
    expect(none).toMatchObject({ exitCode: 1, stdout: '' })
    expect(none.stderr).toMatch(/^error: No answer from .* \(connection refused\)\n$/)
    expect(wrong).toMatchObject({ exitCode: 2, stdout: '' })
    expect(wrong.stderr).toContain('--wait (NOETL_WORKER_WAIT) must be a whole number')
  })
})

describe('something else than a NoETL server', () => {
  const listening = new Set<{ close(): unknown }>()
  afterAll(() => {
    for (const each of listening) each.close()
  })

  const stranger = async (listener: RequestListener): Promise<string> => {
    const server = createServer(listener)
    listening.add(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  test('is said at once, in one line', async () => {
    const page = await stranger((_request, response) => void response.end('<html>'))
    const login = await stranger((_request, response) => void response.writeHead(401).end('who are you?'))
    const ended = await Promise.all(
      [`http://${page}`, `http://${login}`, 'box:8082'].map((server) =>
        noetl(['worker', '--server', server]),
      ),
    )
    expect(ended.map(({ exitCode, stdout }) => [exitCode, stdout])).toEqual([
      [1, ''],
      [1, ''],
      [2, ''],
    ])
    const words = [
      /^error: \S+ did not answer with JSON; is it a NoETL server\? .*--server.*\n$/,
      /^error: \S+ answered 401; is it a NoETL server\? .*--server.*\n$/,
      /^error: 'box:8082' is not the address of a server; .*\n$/,
    ]
    for (const [index, { stderr }] of ended.entries()) expect(stderr).toMatch(words[index] as RegExp)
  })
})

describe('a server that wants a token', () => {
  const admin = 'a'.repeat(40)
  let server: Server
  let client: Client
  const makeToken = (role: Role, name: string) =>
    createRemoteTokens(server.url, { token: admin }).create({ name, role, expiresInSeconds: null })

  beforeAll(async () => {
    server = await startServer(temporaryDirectory(), ['--slots', '0', '--no-examples'], {
      env: { NOETL_ADMIN_TOKEN: admin, NOETL_LEASE_SECONDS: '4' },
    })
    client = createClient(server.url, { token: admin })
  })

  test('tells a worker without a right one which it needs and how to make it, and never shows the one it has', async () => {
    const { token: viewer } = await makeToken('viewer', 'eyes')
    const unknown = viewer.replace(/^noetl_\d+_/, 'noetl_99_')
    const [none, wrong, other] = await Promise.all([
      noetl(['worker', '--server', server.url]),
      noetl(['worker', '--server', server.url], { env: { NOETL_TOKEN: unknown } }),
      noetl(['worker', '--server', server.url, '--token', viewer]),
    ])
    for (const { exitCode, stdout, stderr } of [none, wrong, other]) {
      expect([exitCode, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(/^error: .*role worker.*noetl token create --role worker --name <name>\n$/)
      expect(stderr).not.toContain(viewer.slice(-20))
    }
    expect(none.stderr).toContain('needs an access token of role worker: give it with --token or NOETL_TOKEN')
    expect(wrong.stderr).toContain('refuses the token (--token, NOETL_TOKEN): The token is not valid')
    expect(other.stderr).toContain("The token 'eyes' has the role viewer")
  })

  test('ends a worker whose token is revoked; it says why and what it aborts, and another one does that', async () => {
    const [farm, other] = [await makeToken('worker', 'farm'), await makeToken('worker', 'other')]
    const gate = createGate()
    const id = await startExecution(client, gate.playbook)
    const worker = startNoetl(['worker', '--server', server.url], { env: { NOETL_TOKEN: farm.token } })
    await gate.untilBegun(1)
    await createRemoteTokens(server.url, { token: admin }).revoke(farm.id)
    const { exitCode, stdout, stderr } = await worker.finished
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/takes work of pool shared.*\nStopped\n$/)
    expect(stderr).toContain("refuses the token (--token, NOETL_TOKEN): The token 'farm' was revoked")
    expect(stderr).toContain(`Aborted without a report:\n  step start of execution ${id}\n`)
    expect(stderr).not.toContain(farm.token)

    const heir = startNoetl(['worker', '--server', server.url], { env: { NOETL_TOKEN: other.token } })
    await gate.untilBegun(2)
    gate.open()
    expect(await endOf(client, id)).toBe('COMPLETED')
    heir.kill('SIGTERM')
    expect(await heir.finished).toMatchObject({ exitCode: 0, stderr: '' })
  })

  test('tells a worker that its command was cancelled, and the worker ends it', async () => {
    const { token } = await makeToken('worker', 'third')
    const gate = createGate()
    const id = await startExecution(client, gate.playbook)
    const worker = startNoetl(['worker', '--server', server.url], { env: { NOETL_TOKEN: token } })
    await gate.untilBegun(1)
    await client.cancel(id)
    await worker.printed(/"status":"cancelled","msg":"command aborted"/)
    worker.kill('SIGTERM')
    // It has nothing to wait for: the step would never end by itself.
    expect((await worker.finished).exitCode).toBe(0)
    expect(await endOf(client, id)).toBe('CANCELLED')
  })
})
