import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { useDatabase } from '../../test/support/database.ts'
import { createWallet } from '../lib/envelope.ts'
import { createSealer } from '../lib/sealer.ts'
import { readEncryptionProbe } from '../store/sealed-samples.ts'
import { ensurePartitions } from '../store/partitions.ts'
import { settleEncryptionKeys } from './settle-keys.ts'

const database = useDatabase()
const warn = vi.fn<() => void>()
const log = { debug: () => undefined, info: () => undefined, warn, error: () => undefined }
let dataDir: string

beforeEach(async () => {
  warn.mockClear()
  dataDir = mkdtempSync(join(tmpdir(), 'noetl-keys-'))
  await database().query(
    'truncate noetl.credential, noetl.keychain, noetl.variable, noetl.result, noetl.event, noetl.encryption_probe',
  )
})
afterEach(() => rmSync(dataDir, { recursive: true }))

interface Given {
  readonly key?: Buffer
  readonly previous?: Buffer
  readonly lost?: boolean
}

const settle = ({ key, previous, lost }: Given = {}) =>
  settleEncryptionKeys(
    {
      encryptionKey: key?.toString('base64') ?? null,
      previousEncryptionKey: previous?.toString('base64') ?? null,
      ...(lost === undefined ? {} : { encryptionKeyLost: lost }),
      dataDir,
      log,
    },
    [database()],
  )

const newKey = (): Buffer => randomBytes(32)
const keyFile = (): string => join(dataDir, 'encryption.key')

const storeCredential = async (key: Buffer, name = 'mine'): Promise<void> => {
  await database().query(
    `insert into noetl.credential (id, name, type, data_encrypted)
     values ((select coalesce(max(id), 0) + 1 from noetl.credential), $1, 'generic', $2)`,
    [name, createWallet(key).seal('{}')],
  )
}

const forgetProbe = async (): Promise<void> => {
  await database().query('delete from noetl.encryption_probe')
}

test('a database in which nothing is sealed takes any key (2)', async () => {
  const first = newKey()
  expect(await settle({ key: first })).toMatchObject({ key: first, file: null })
  const { key, file } = await settle()
  expect(file).toBe(keyFile())
  expect(key).not.toEqual(first)
  expect(createWallet(key).open((await readEncryptionProbe(database())) ?? '')).toBe('noetl')
  expect(warn).not.toHaveBeenCalled()
})

describe('a server whose keys open nothing does not start (1)', () => {
  test('when the file is gone; none is made in its place, and the former one can be put back', async () => {
    const { key } = await settle()
    await storeCredential(key)
    const former = readFileSync(keyFile())
    rmSync(keyFile())
    await expect(settle()).rejects.toThrow(
      new RegExp(`${keyFile()} does not exist.*Put the former key back into ${keyFile()}`),
    )
    expect(existsSync(keyFile())).toBe(false)
    writeFileSync(keyFile(), former)
    expect((await settle()).key).toEqual(key)
  })

  test('when the file holds another key', async () => {
    await storeCredential(newKey())
    writeFileSync(keyFile(), newKey().toString('base64'))
    await expect(settle()).rejects.toThrow(`The encryption key in ${keyFile()} is not the one`)
  })

  test('when another key was given; no key is shown', async () => {
    const used = newKey()
    const given = newKey()
    await settle({ key: used })
    await storeCredential(used)
    const problem = (await settle({ key: given }).catch((error: unknown) => error)) as Error
    expect(problem.message).toContain('in NOETL_ENCRYPTION_KEY is not the one')
    expect(problem.message).not.toContain(given.toString('base64'))
    expect((await settle({ key: used })).key).toEqual(used)
  })

  test.each(['variable', 'result', 'event'])('when all that is sealed is in the table %s', async (table) => {
    const used = newKey()
    const sealed = createSealer(used).seal('"secret"')
    await ensurePartitions(database(), new Date())
    const statement = {
      variable: `insert into noetl.variable (execution_id, var_name, var_type, var_value, sealed) values (1, 'a', 'user_defined', '1', $1)`,
      result: `insert into noetl.result (result_id, execution_id, name, scope, media_type, bytes, sha256, data)
        values (1, 1, 'a', 'execution', 'application/json', 8, repeat('0', 64), $1)`,
      event: `insert into noetl.event (execution_id, position, event_id, created_at, event_type, meta, sealed)
        values (1, 1, 1, now(), 'playbook.started', '{}', $1)`,
    }[table]
    await database().query(statement ?? '', [sealed])
    await expect(settle({ key: newKey() })).rejects.toThrow('is not the one')
    expect((await settle({ key: used })).key).toEqual(used)
  })
})

test('one that is partly sealed with a key that is gone starts, and says so (3)', async () => {
  const current = newKey()
  await storeCredential(newKey(), 'old')
  await storeCredential(current, 'new')
  expect((await settle({ key: current })).key).toEqual(current)
  expect(warn).toHaveBeenCalledTimes(1)
})

describe('a key that takes over from a former one (4)', () => {
  test('needs it as long as anything is under it', async () => {
    const [former, current] = [newKey(), newKey()]
    await settle({ key: former })
    await storeCredential(former)
    await expect(settle({ key: current })).rejects.toThrow('NOETL_ENCRYPTION_KEY_PREVIOUS')
    expect(await settle({ key: current, previous: former })).toMatchObject({ key: current })
  })

  test('is the current one from then on', async () => {
    const [former, current] = [newKey(), newKey()]
    await settle({ key: former })
    await storeCredential(former)
    await settle({ key: current, previous: former })
    expect(createWallet(current).open((await readEncryptionProbe(database())) ?? '')).toBe('noetl')
    expect((await settle({ key: current })).key).toEqual(current)
  })

  test('may be one that is made for the purpose', async () => {
    const former = newKey()
    await settle({ key: former })
    await storeCredential(former)
    expect((await settle({ previous: former })).key).toEqual((await settle()).key)
  })

  test('is also found out where no probe was written yet', async () => {
    const [former, current] = [newKey(), newKey()]
    await storeCredential(former)
    await settle({ key: current, previous: former })
    await forgetProbe()
    await expect(settle({ key: current })).rejects.toThrow('is not the one')
  })
})

test('what the user gave up is given up once (5)', async () => {
  await storeCredential(newKey())
  const { key } = await settle({ lost: true })
  expect(warn).toHaveBeenCalledTimes(1)
  expect((await settle()).key).toEqual(key)
})
