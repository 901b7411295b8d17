/**
 * Operations on object stores.
 *
 * 1. An object that is not there is `not_found` and no error. A store that is not there is one, unless `create: true`.
 * 2. An object larger than the limit of results is refused before it is loaded.
 */
import type { ObjectInfo, ObjectStore } from '@nats-io/obj'

import type { JsonObject } from '../../../contract/json.ts'
import { configFailure, ToolFailure } from '../../tool-failure.ts'
import { booleanField } from '../coerce.ts'
import { needed, type Operation, type RunOperation } from './operation.ts'
import { contentForm, contentOf, encodingOf, readContent } from './payload.ts'

const MOST_BYTES = 64 * 1024 * 1024
const NAMES = ['object', 'key', 'name'] as const

const isNotFound = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'StreamNotFoundError' || /not found/i.test(error.message))

const storeOf = async ({ config, connection, packages }: Operation, name: string): Promise<ObjectStore> => {
  const bucket = needed(config, name, 'bucket')
  const manager = new packages.objects.Objm(connection)
  if (booleanField(config, false, 'create')) return manager.create(bucket)
  try {
    return await manager.open(bucket)
  } catch (error) {
    if (!isNotFound(error)) throw error
    throw new ToolFailure(
      {
        kind: 'not_found',
        code: 'NATS_BUCKET_NOT_FOUND',
        message: `There is no object store '${bucket}'. Create it, or say \`create: true\`.`,
        retryable: false,
      },
      { cause: error },
    )
  }
}

const placeOf = ({ config }: Operation, operation: string): { bucket: string; name: string } => ({
  bucket: needed(config, operation, 'bucket'),
  name: needed(config, operation, ...NAMES),
})

const infoData = (info: ObjectInfo): JsonObject => ({
  name: info.name,
  size: info.size,
  chunks: info.chunks,
  digest: info.digest,
  modified: info.mtime,
  ...(info.description === undefined ? {} : { description: info.description }),
})

const get: RunOperation = async (operation) => {
  const place = placeOf(operation, 'object_get')
  const store = await storeOf(operation, 'object_get')
  const info = await store.info(place.name)
  if (info === null || info.deleted) return { status: 'not_found', ...place, data: null }
  if (info.size > MOST_BYTES) throw tooLarge(place.name, info.size)
  const bytes = (await store.getBlob(place.name)) ?? new Uint8Array()
  const encoding = encodingOf(operation.config)
  return {
    status: 'success',
    bucket: place.bucket,
    ...infoData(info),
    encoding: contentForm(bytes, encoding),
    data: readContent(bytes, encoding),
  }
}

const tooLarge = (name: string, size: number): ToolFailure =>
  new ToolFailure({
    kind: 'result_too_large',
    code: 'RESULT_TOO_LARGE',
    message: `The object '${name}' has ${size} bytes; at most ${MOST_BYTES} fit into a result`,
    retryable: false,
  })

const put: RunOperation = async (operation) => {
  const place = placeOf(operation, 'object_put')
  const content = contentOf(operation.config, 'data', 'value')
  if (content === null) throw configFailure('object_put needs `data`')
  const store = await storeOf(operation, 'object_put')
  const info = await store.putBlob({ name: place.name }, content)
  return { status: 'success', bucket: place.bucket, ...infoData(info) }
}

const info: RunOperation = async (operation) => {
  const place = placeOf(operation, 'object_info')
  const store = await storeOf(operation, 'object_info')
  const found = await store.info(place.name)
  if (found === null || found.deleted) return { status: 'not_found', ...place }
  return { status: 'success', bucket: place.bucket, ...infoData(found) }
}

const remove: RunOperation = async (operation) => {
  const place = placeOf(operation, 'object_delete')
  const store = await storeOf(operation, 'object_delete')
  const found = await store.info(place.name)
  if (found === null || found.deleted) return { status: 'not_found', ...place }
  await store.delete(place.name)
  return { status: 'success', ...place }
}

const list: RunOperation = async (operation) => {
  const bucket = needed(operation.config, 'object_list', 'bucket')
  const store = await storeOf(operation, 'object_list')
  const objects = (await store.list()).filter(({ deleted }) => !deleted).map(infoData)
  return { status: 'success', bucket, objects, count: objects.length }
}

export const objectOperations: Readonly<Record<string, RunOperation>> = {
  object_get: get,
  object_put: put,
  object_info: info,
  object_delete: remove,
  object_list: list,
}
