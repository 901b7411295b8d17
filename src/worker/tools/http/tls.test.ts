import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { aCall } from '../../test-support.ts'
import { createHttpTool } from '../http.ts'
import { startTestServer, type TestServer } from './test-server.ts'

const hasOpenssl = spawnSync('openssl', ['version']).status === 0

describe.skipIf(!hasOpenssl)('a server whose certificate nobody signed', () => {
  const tool = createHttpTool()
  let server: TestServer

  beforeAll(async () => {
    const directory = mkdtempSync(join(tmpdir(), 'noetl-tls-'))
    const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
    const subject = ['-subj', '/CN=localhost', '-days', '2', '-nodes']
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-keyout',
        key,
        '-out',
        cert,
        ...subject,
      ],
      { stdio: 'ignore' },
    )
    server = await startTestServer({
      tls: { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') },
    })
    rmSync(directory, { recursive: true })
  })
  afterAll(async () => {
    await tool.close()
    await server.close()
  })

  test('is refused', async () => {
    const { error } = await tool.run(aCall({ url: `${server.url}/ids` }))
    expect(error).toMatchObject({ kind: 'connection', code: 'TLS_ERROR', retryable: true })
  })

  test.each(['verify_ssl', 'verify'])('is used when %s is off, for that call only', async (field) => {
    const trusting = await tool.run(aCall({ url: `${server.url}/ids`, [field]: 'false' }))
    expect(trusting.outcome).toBe('ok')
    expect((await tool.run(aCall({ url: `${server.url}/ids` }))).outcome).toBe('error')
  })
})
