/** The wrong one of http:// and https://: every command says which it is and what to write instead. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Issuer } from '../support/certificates.ts'
import { createIssuer, hasOpenssl } from '../support/certificates.ts'
import { noetl } from './noetl-process.ts'

/** One of each way to connect. */
const COMMANDS = [
  ['run', 'examples/hello.yaml'],
  ['list'],
  ['token', 'list'],
  ['logs', '5', '--follow'],
  ['worker'],
]

const servers = new Set<Server>()
afterAll(() => {
  for (const server of servers) server.close()
})

const addressOf = async (server: Server): Promise<string> => {
  servers.add(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

const refused = async (args: readonly string[], url: string): Promise<string> => {
  const { exitCode, stdout, stderr } = await noetl([...args, '--server', url])
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
  return stderr
}

describe.skipIf(!hasOpenssl)('http:// to a server that encrypts', () => {
  let issuer: Issuer
  let address: string
  beforeAll(async () => {
    issuer = createIssuer()
    const { cert, key } = issuer.issue('server', 'DNS:localhost')
    address = await addressOf(createTlsServer({ cert: readFileSync(cert), key: readFileSync(key) }))
  })
  afterAll(() => issuer.remove())

  test.each(COMMANDS)('is told at once: %s', async (...args) => {
    expect(await refused(args, `http://${address}`)).toBe(
      `error: http://${address} speaks TLS, not plain HTTP; write https://${address}. ` +
        'The address is that of --server or NOETL_SERVER_URL\n',
    )
  })
})

describe('https:// to a server that does not', () => {
  let address: string
  beforeAll(async () => {
    address = await addressOf(createServer((_request, response) => response.end('{}')))
  })

  test.each([['list'], ['worker']])('is told at once: %s', async (...args) => {
    expect(await refused(args, `https://${address}`)).toBe(
      `error: No answer from https://${address} (it does not speak TLS; write http://${address})\n`,
    )
  })
})
