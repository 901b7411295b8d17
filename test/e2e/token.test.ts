/** Access control as people meet it: the first token, commands with and without one, workers, encrypted connections. */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import type { Certificate, Issuer } from '../support/certificates.ts'
import { createIssuer, hasOpenssl } from '../support/certificates.ts'
import type { NoetlProcess, Server } from './noetl-process.ts'
import { noetl, startNoetl, startServer, temporaryDirectory } from './noetl-process.ts'

const HELLO = ['run', 'examples/hello.yaml', '--json']

const createToken = async (flags: readonly string[], env: Record<string, string> = {}): Promise<string> => {
  const made = await noetl(['token', 'create', ...flags], { env })
  expect(made).toMatchObject({ exitCode: 0 })
  expect(made.stdout).toMatch(/^noetl_\d+_[\w-]{43}\n$/)
  return made.stdout.trim()
}

const statusOf = async (url: string, path: string, token?: string): Promise<number> => {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return (await fetch(`${url}${path}`, { headers })).status
}

describe('a server that other machines reach', () => {
  const dataDir = temporaryDirectory()
  const here = ['--data-dir', dataDir]
  const flags = ['--host', '0.0.0.0', '--slots', '0', '--no-examples']
  let admin: string
  let server: Server
  let url: string

  beforeAll(async () => {
    const refused = await noetl(['up', '--port', '0', ...flags, ...here])
    expect(refused.exitCode).toBe(2)
    expect(refused.stderr).toContain('noetl token create')
    expect(existsSync(join(dataDir, 'postgres'))).toBe(false)
    admin = await createToken(['--role', 'admin', '--name', 'me', ...here])
    server = await startServer(dataDir, flags)
    url = server.url.replace('0.0.0.0', '127.0.0.1')
  })

  test('starts once there is a token, and asks for one', async () => {
    expect(await statusOf(url, '/api/executions')).toBe(401)
    expect(await statusOf(url, '/api/executions', admin)).toBe(200)
    expect(await statusOf(url, '/api/executions', `${admin.slice(0, -1)}~`)).toBe(401)
  })

  test('is used by commands beside its data without a token, through a file that only its user can read', async () => {
    expect(statSync(join(dataDir, 'server.json')).mode & 0o777).toBe(0o600)
    const list = await noetl(['token', 'list', ...here])
    expect(list.stdout).toMatch(/^1 +me +admin +active/m)
  })

  test('refuses commands elsewhere that show none, in one line that says how to', async () => {
    const refused = await noetl([...HELLO, '--server', url])
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
    expect(refused.stderr).toMatch(/^error: .* needs an access token: .*NOETL_TOKEN.*\n$/)
    const wrong = await noetl([...HELLO, '--server', url, '--token', 'noetl_1_wrong'])
    expect(wrong.stderr).toMatch(/^error: .* refuses the token/)
  })

  test('runs what operators ask for on workers with their own tokens, and says so in the log', async () => {
    const [operator, worker] = await Promise.all([
      createToken([
        '--role',
        'operator',
        '--name',
        'ci',
        '--expires',
        '90d',
        '--server',
        url,
        '--token',
        admin,
      ]),
      createToken(['--role', 'worker', '--name', 'w', ...here]),
    ])
    const working = startNoetl(['worker', '--server', url], { env: { NOETL_TOKEN: worker } })
    await working.printed(/takes work of pool shared/)
    const run = await noetl([...HELLO, '--server', url], { env: { NOETL_TOKEN: operator } })
    expect(run).toMatchObject({ exitCode: 0 })
    const { execution_id: id } = JSON.parse(run.stdout) as { execution_id: string }
    const [started] = await createClient(url, { token: operator }).events(id)
    expect(started?.meta['actor']).toBe('ci/operator')
    working.kill('SIGTERM')
    expect(await working.finished).toMatchObject({ exitCode: 0, stderr: '' })
  })

  test('tells a worker with a token of another role at once', async () => {
    const viewer = await createToken(['--role', 'viewer', '--name', 'v', ...here])
    const refused = await noetl(['worker', '--server', url, '--token', viewer])
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' })
    expect(refused.stderr).toContain("The token 'v' has the role viewer; a worker needs")
  })

  test('refuses a token that was revoked', async () => {
    const doomed = await createToken(['--role', 'viewer', '--name', 'doomed', ...here])
    expect(await statusOf(url, '/api/executions', doomed)).toBe(200)
    const [, id = ''] = /^noetl_(\d+)_/.exec(doomed) ?? []
    expect(await noetl(['token', 'revoke', id, ...here])).toMatchObject({
      exitCode: 0,
      stdout: `Revoked ${id}, 'doomed' (viewer)\n`,
    })
    expect(await statusOf(url, '/api/executions', doomed)).toBe(401)
    const unknown = await noetl(['token', 'revoke', '999', ...here])
    expect(unknown).toMatchObject({ exitCode: 2, stderr: 'error: Token not found: 999\n' })
  })

  test('keeps its tokens when it stops; they can be listed and ended without it', async () => {
    server.kill('SIGTERM')
    expect((await server.finished).exitCode).toBe(0)
    const ended = await noetl(['token', 'revoke', '1', ...here])
    expect(ended).toMatchObject({ exitCode: 0, stderr: `Working on the database in ${dataDir} itself\n` })
    const { stdout } = await noetl(['token', 'list', '--all', '--json', ...here])
    const { tokens } = JSON.parse(stdout) as { tokens: { id: string; status: string; revoked_by: string }[] }
    expect(tokens.find(({ id }) => id === '1')).toMatchObject({ status: 'revoked', revoked_by: 'local' })
    expect(await noetl(['token', 'create', '--role', 'root', '--name', 'x', ...here])).toMatchObject({
      exitCode: 2,
    })
  })
})

describe('a server of this machine alone', () => {
  test('is open until its first token, from then on closed; commands beside it do not notice', async () => {
    const dataDir = temporaryDirectory()
    const server = await startServer(dataDir, ['--no-examples'])
    expect(await statusOf(server.url, '/api/executions')).toBe(200)
    const rebound = await fetch(`${server.url}/api/executions`, { headers: { authorization: 'Bearer x' } })
    expect(rebound.status).toBe(401)
    await createToken(['--role', 'viewer', '--name', 'v', '--data-dir', dataDir])
    expect(await statusOf(server.url, '/api/executions')).toBe(401)
    expect(await noetl([...HELLO, '--data-dir', dataDir])).toMatchObject({ exitCode: 0 })
    server.kill('SIGTERM')
    expect((await server.finished).exitCode).toBe(0)
    // A server that a run starts for itself knows its own process.
    expect(await noetl([...HELLO, '--data-dir', dataDir])).toMatchObject({ exitCode: 0 })
  })
})

describe.skipIf(!hasOpenssl)('encrypted connections', () => {
  const dataDir = temporaryDirectory()
  let issuer: Issuer
  let certificate: Certificate
  let server: NoetlProcess
  let port: string
  const token = 'x'.repeat(40)

  beforeAll(async () => {
    issuer = createIssuer()
    certificate = issuer.issue('server', 'DNS:localhost')
    const env = {
      NOETL_TLS_CERT: certificate.cert,
      NOETL_TLS_KEY: certificate.key,
      NOETL_ADMIN_TOKEN: token,
    }
    server = startNoetl(['up', '--port', '0', '--data-dir', dataDir], { env })
    const [, found = ''] = await server.printed(/^NoETL is ready at https:\/\/127\.0\.0\.1:(\d+)$/m)
    port = found
  })
  afterAll(() => issuer.remove())

  test('are used by the server itself and by commands beside it, whatever name the certificate has', async () => {
    await server.printed(/"Hello, world!"/)
    expect(await noetl([...HELLO, '--data-dir', dataDir])).toMatchObject({ exitCode: 0, stderr: '' })
  })

  test('are used by commands elsewhere that know the issuer', async () => {
    const elsewhere = [...HELLO, '--server', `https://localhost:${port}`, '--token', token]
    const refused = await noetl(elsewhere)
    expect(refused.exitCode).toBe(1)
    expect(refused.stderr).toContain('NOETL_TLS_CA')
    expect(await noetl(elsewhere, { env: { NOETL_TLS_CA: issuer.cert } })).toMatchObject({ exitCode: 0 })
    expect(await noetl(elsewhere, { env: { NODE_EXTRA_CA_CERTS: issuer.cert } })).toMatchObject({
      exitCode: 0,
    })
  })

  test('need certificate and key, and say so before anything is started', async () => {
    const unused = join(dataDir, 'unused')
    const half = await noetl(['up', '--data-dir', unused], { env: { NOETL_TLS_CERT: certificate.cert } })
    expect(half).toMatchObject({ exitCode: 2, stdout: '' })
    expect(half.stderr).toContain('NOETL_TLS_KEY is not set')
    const wrong = await noetl(['up', '--port', '0', '--data-dir', unused], {
      env: { NOETL_TLS_CERT: certificate.cert, NOETL_TLS_KEY: issuer.key },
    })
    expect(wrong.exitCode).toBe(2)
    expect(wrong.stderr).toContain('does not belong to the certificate')
    expect(existsSync(unused)).toBe(false)
  })

  test('end like others', async () => {
    server.kill('SIGTERM')
    expect(await server.finished).toMatchObject({ exitCode: 0, stderr: '' })
  })
})
