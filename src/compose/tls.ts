/** Certificates and keys from files, read and checked before anything is started. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { ClientTls } from '../client/secure-fetch.ts'
import { ProblemError } from '../contract/problem.ts'
import type { ServerTls } from '../server/app.ts'
import type { TlsFiles } from './access-settings.ts'
import type { Env } from './settings.ts'

/** Throws when a file cannot be read, or key and certificate do not belong together. */
export const loadServerTls = (files: TlsFiles | null): ServerTls | null => {
  if (files === null) return null
  const cert = readPem('NOETL_TLS_CERT', files.cert)
  const key = readPem('NOETL_TLS_KEY', files.key)
  const certificate = parsed('NOETL_TLS_CERT', files.cert, () => new X509Certificate(cert))
  const privateKey = parsed('NOETL_TLS_KEY', files.key, () => createPrivateKey(key))
  if (!certificate.checkPrivateKey(privateKey))
    throw new ProblemError(
      'invalid',
      `The key in NOETL_TLS_KEY (${files.key}) does not belong to the certificate in NOETL_TLS_CERT (${files.cert})`,
    )
  const ca = files.clientCa === null ? null : readPem('NOETL_TLS_CLIENT_CA', files.clientCa)
  if (ca !== null) parsed('NOETL_TLS_CLIENT_CA', files.clientCa ?? '', () => new X509Certificate(ca))
  return { cert, key, ca }
}

/** What a client of a server with a certificate of its own needs; undefined when nothing is configured. */
export const loadClientTls = (env: Env): ClientTls | undefined => {
  const [ca, cert, key] = (['NOETL_TLS_CA', 'NOETL_TLS_CLIENT_CERT', 'NOETL_TLS_CLIENT_KEY'] as const).map(
    (name) => {
      const file = env[name]?.trim() ?? ''
      return file === '' ? undefined : readPem(name, file).toString()
    },
  )
  if ((cert === undefined) !== (key === undefined))
    throw new ProblemError(
      'invalid',
      'NOETL_TLS_CLIENT_CERT and NOETL_TLS_CLIENT_KEY belong together; one is not set',
    )
  if (ca === undefined && cert === undefined) return undefined
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
  }
}

const readPem = (name: string, file: string): Buffer => {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new ProblemError('invalid', `${name}: ${file} cannot be read (${(error as Error).message})`, {
      cause: error,
    })
  }
}

const parsed = <T>(name: string, file: string, parse: () => T): T => {
  try {
    return parse()
  } catch (error) {
    throw new ProblemError('invalid', `${name}: ${file} is not in PEM format (${(error as Error).message})`, {
      cause: error,
    })
  }
}
