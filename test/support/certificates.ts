/** Certificates for tests, made by openssl: an issuer, and what it signs. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Certificate {
  readonly cert: string
  readonly key: string
}

export interface Issuer extends Certificate {
  /** Files of a certificate for these names, such as `DNS:localhost` or `IP:127.0.0.1`. */
  issue(name: string, names: string): Certificate
  /** Deletes all of it. */
  remove(): void
}

export const hasOpenssl = spawnSync('openssl', ['version']).status === 0

const openssl = (...args: readonly string[]): void => void execFileSync('openssl', args, { stdio: 'ignore' })

/** Everything lies in a directory of its own; the answers are names of files. */
export const createIssuer = (): Issuer => {
  const directory = mkdtempSync(join(tmpdir(), 'noetl-certificates-'))
  const files = (name: string): Certificate => ({
    cert: join(directory, `${name}.crt`),
    key: join(directory, `${name}.key`),
  })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'] as const
  const own = files('issuer')
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    own.key,
    '-out',
    own.cert,
    '-days',
    '2',
    '-subj',
    '/CN=test issuer',
  )
  return {
    ...own,
    remove: () => rmSync(directory, { recursive: true, force: true }),
    issue: (name, names) => {
      const made = files(name)
      const request = join(directory, `${name}.csr`)
      const extensions = join(directory, `${name}.ext`)
      writeFileSync(extensions, `subjectAltName=${names}\nbasicConstraints=CA:FALSE\n`)
      openssl('req', ...newKey, '-keyout', made.key, '-out', request, '-subj', `/CN=${name}`)
      openssl(
        'x509',
        '-req',
        '-in',
        request,
        '-CA',
        own.cert,
        '-CAkey',
        own.key,
        '-CAcreateserial',
        '-out',
        made.cert,
        '-days',
        '2',
        '-extfile',
        extensions,
      )
      return made
    },
  }
}
