/**
 * Operations on key/value buckets.
 *
 * 1. A key that is not there, or was deleted, is `not_found` and no error. A bucket that is not there is an error, unless
 *    the call says `create: true`.
 * 2. `kv_put` with a `revision` writes only over that revision (0: only a key that is new), else it is a conflict.
 */
import type { KV } from '@nats-io/kv'

import type { JsonObject } from '../../../contract/json.ts'
import { configFailure, ToolFailure } from '../../tool-failure.ts'
import { booleanField, integerField, textField } from '../coerce.ts'
import { needed, type Operation, type RunOperation } from './operation.ts'
import { contentOf, encodingOf, readContent } from './payload.ts'

/** `open` alone asks nothing of the server, so whether the bucket exists is asked here. */
const bucketOf = async (operation: Operation, name: string): Promise<KV> => {
  const { config, connection, packages } = operation
  const bucket = needed(config, name, 'bucket')
  const manager = new packages.keyValue.Kvm(connection)
  if (booleanField(config, false, 'create')) {
    const ttlSeconds = integerField(config, 'ttl') ?? 0
    return manager.create(bucket, {
      history: integerField(config, 'history', 1) ?? 1,
      ttl: ttlSeconds * 1000,
    })
  }
  try {
    const opened = await manager.open(bucket)
    await opened.status()
    return opened
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'StreamNotFoundError') throw error
    throw new ToolFailure(
      {
        kind: 'not_found',
        code: 'NATS_BUCKET_NOT_FOUND',
        message: `There is no bucket '${bucket}'. Create it, or say \`create: true\`.`,
        retryable: false,
      },
      { cause: error },
    )
  }
}

const placeOf = ({ config }: Operation, name: string): { bucket: string; key: string } => ({
  bucket: needed(config, name, 'bucket'),
  key: needed(config, name, 'key'),
})

const get: RunOperation = async (operation) => {
  const place = placeOf(operation, 'kv_get')
  const revision = integerField(operation.config, 'revision', 1)
  const encoding = encodingOf(operation.config)
  const store = await bucketOf(operation, 'kv_get')
  const entry = await store.get(place.key, ...(revision === null ? [] : [{ revision }]))
  if (entry === null || entry.operation !== 'PUT') return { status: 'not_found', ...place, value: null }
  return {
    status: 'success',
    ...place,
    value: readContent(entry.value, encoding),
    revision: entry.revision,
    created: entry.created.toISOString(),
  }
}

const put: RunOperation = async (operation) => {
  const place = placeOf(operation, 'kv_put')
  const { config } = operation
  const content = contentOf(config, 'value', 'data')
  if (content === null) throw configFailure('kv_put needs `value`')
  const revision = integerField(config, 'revision')
  const store = await bucketOf(operation, 'kv_put')
  const written =
    revision === null ? await store.put(place.key, content) : await write(store, place.key, content, revision)
  return { status: 'success', ...place, revision: written }
}

const write = (store: KV, key: string, content: Buffer, revision: number): Promise<number> =>
  revision === 0 ? store.create(key, content) : store.update(key, content, revision)

const remove =
  (name: 'kv_delete' | 'kv_purge'): RunOperation =>
  async (operation) => {
    const place = placeOf(operation, name)
    const store = await bucketOf(operation, name)
    await (name === 'kv_purge' ? store.purge(place.key) : store.delete(place.key))
    return { status: 'success', ...place }
  }

const keys: RunOperation = async (operation) => {
  const { config, signal } = operation
  const filter = textField(config, 'filter', 'pattern', 'key')
  const store = await bucketOf(operation, 'kv_keys')
  const found: string[] = []
  for await (const key of await store.keys(filter ?? undefined)) {
    signal.throwIfAborted()
    found.push(key)
  }
  found.sort()
  const bucket = needed(config, 'kv_keys', 'bucket')
  return { status: 'success', bucket, keys: found, count: found.length } satisfies JsonObject
}

export const keyValueOperations: Readonly<Record<string, RunOperation>> = {
  kv_get: get,
  kv_put: put,
  kv_delete: remove('kv_delete'),
  kv_purge: remove('kv_purge'),
  kv_keys: keys,
}
