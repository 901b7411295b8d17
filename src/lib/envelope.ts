/**
 * Envelope encryption: every text gets a data key of its own, and the data key is wrapped by the master key. Both
 * layers are AES-256-GCM, written as nonce, ciphertext and tag in one base64 text.
 *
 * 1. What was sealed under any of the given keys opens; sealing always uses the first one.
 * 2. Rewrapping changes only the wrapped data key: the sealed text stays byte for byte.
 * 3. No message names a key or a sealed value.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { KEY_BYTES } from './sealer.ts'

const ALGORITHM = 'AES-256-GCM'
const PROVIDER = 'local'
const KEY_NAME = 'env:NOETL_ENCRYPTION_KEY'
const KEY_VERSION = 'v1'
const NONCE_BYTES = 12
const TAG_BYTES = 16

export interface Wallet {
  /** Tells the current master key from others without revealing it. */
  readonly fingerprint: string
  /** The envelope as JSON text. */
  seal(text: string): string
  /** Throws an EnvelopeError when none of the keys fits or the text is no envelope. */
  open(envelope: string): string
  /** The envelope with its data key under the current master key; null when it already is. */
  rewrap(envelope: string): string | null
}

export class EnvelopeError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause })
    this.name = 'EnvelopeError'
  }
}

interface Envelope {
  readonly v: number
  readonly alg: string
  readonly ct: string
  readonly dek: {
    readonly p: string
    readonly kid: string
    readonly kv: string
    readonly fp?: string
    readonly ct: string
  }
}

interface MasterKey {
  readonly key: Buffer
  readonly fingerprint: string
}

/** `previous` are keys that were current once; they are only opened with. */
export const createWallet = (current: Buffer, previous: readonly Buffer[] = []): Wallet => {
  const master = masterKey(current)
  const others = previous.map(masterKey)

  const wrap = (dataKey: Buffer): Envelope['dek'] => ({
    p: PROVIDER,
    kid: KEY_NAME,
    kv: KEY_VERSION,
    fp: master.fingerprint,
    ct: encrypt(master.key, dataKey).toString('base64'),
  })

  const unwrap = ({ dek }: Envelope): { dataKey: Buffer; by: MasterKey } => {
    const wrapped = Buffer.from(dek.ct, 'base64')
    for (const by of [master, ...others]) {
      // A fingerprint is only a hint: envelopes may come without one.
      if (dek.fp !== undefined && dek.fp !== by.fingerprint) continue
      const dataKey = tryDecrypt(by.key, wrapped)
      if (dataKey?.length === KEY_BYTES) return { dataKey, by }
    }
    throw new EnvelopeError('sealed with a key that this server does not have')
  }

  return {
    fingerprint: master.fingerprint,
    seal: (text) => {
      const dataKey = randomBytes(KEY_BYTES)
      const ct = encrypt(dataKey, Buffer.from(text, 'utf8')).toString('base64')
      return JSON.stringify({ v: 1, alg: ALGORITHM, ct, dek: wrap(dataKey) } satisfies Envelope)
    },
    open: (text) => {
      const envelope = parseEnvelope(text)
      const plain = tryDecrypt(unwrap(envelope).dataKey, Buffer.from(envelope.ct, 'base64'))
      if (!plain) throw new EnvelopeError('the sealed data was changed')
      return plain.toString('utf8')
    },
    rewrap: (text) => {
      const envelope = parseEnvelope(text)
      const { dataKey, by } = unwrap(envelope)
      if (by === master) return null
      return JSON.stringify({ ...envelope, dek: wrap(dataKey) })
    },
  }
}

const masterKey = (key: Buffer): MasterKey => {
  if (key.length !== KEY_BYTES)
    throw new RangeError(`an encryption key has ${KEY_BYTES} bytes, got ${key.length}`)
  return {
    key,
    fingerprint: createHash('sha256').update('noetl-key-fingerprint').update(key).digest('hex').slice(0, 12),
  }
}

const encrypt = (key: Buffer, plain: Buffer): Buffer => {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** Null when the bytes were not encrypted with this key, or were changed. */
const tryDecrypt = (key: Buffer, bytes: Buffer): Buffer | null => {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return null
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
  decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES))
  const body = decipher.update(bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES))
  try {
    return Buffer.concat([body, decipher.final()])
  } catch {
    // The tag does not fit: the only thing that final() can find.
    return null
  }
}

const parseEnvelope = (text: string): Envelope => {
  let value: Partial<Envelope> | null
  try {
    value = JSON.parse(text) as Partial<Envelope> | null
  } catch (error) {
    throw new EnvelopeError('not an envelope', error)
  }
  if (
    value?.v !== 1 ||
    value.alg !== ALGORITHM ||
    typeof value.ct !== 'string' ||
    typeof value.dek?.ct !== 'string'
  ) {
    throw new EnvelopeError('not an envelope that this version of NoETL can open')
  }
  if (value.dek.p !== PROVIDER)
    throw new EnvelopeError(`the data key is held by '${value.dek.p}', which is not configured`)
  return value as Envelope
}
