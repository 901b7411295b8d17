/**
 * Bodies of type multipart/form-data: the entries of a form and files.
 *
 * 1. A file is a text (its content) or a mapping with one of `content`, `content_base64`, `path`, and optionally
 *    `filename` and `content_type`.
 * 2. Names cannot break out of their header line.
 */
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'

import type { Json, JsonObject } from '../../../contract/json.ts'
import { isObject } from '../../../contract/json.ts'
import { configFailure } from '../../tool-failure.ts'
import { decodeBase64, textField, textOf } from '../coerce.ts'

interface Part {
  readonly name: string
  readonly filename: string | null
  readonly contentType: string | null
  readonly content: Buffer
}

const quoted = (name: string): string =>
  `"${name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')}"`

const readUpload = async (path: string): Promise<Buffer> => {
  try {
    return await readFile(path)
  } catch (error) {
    throw configFailure(`Cannot read the file ${path}: ${(error as NodeJS.ErrnoException).code}`)
  }
}

const filePart = async (name: string, file: Json): Promise<Part> => {
  if (!isObject(file)) {
    return { name, filename: name, contentType: null, content: Buffer.from(textOf(file) ?? '') }
  }
  const path = textField(file, 'path')
  const filename = textField(file, 'filename', 'name') ?? (path === null ? name : basename(path))
  const contentType = textField(file, 'content_type', 'type')
  const encoded = textField(file, 'content_base64', 'content_b64', 'base64')
  const content =
    encoded !== null
      ? decodeBase64(encoded, `files.${name}`)
      : path !== null
        ? await readUpload(path)
        : Buffer.from(textOf(file['content']) ?? '')
  return { name, filename, contentType, content }
}

const fileEntries = (files: Json): [string, Json][] => {
  if (isObject(files)) return Object.entries(files)
  if (!Array.isArray(files)) throw configFailure('files must be a mapping of field names to files')
  return files.map((file: Json, index) => {
    const field = isObject(file) ? textField(file, 'field') : null
    return [field ?? `file${index}`, file]
  })
}

const partBytes = (boundary: string, part: Part): Buffer[] => {
  const filename = part.filename === null ? '' : `; filename=${quoted(part.filename)}`
  const type = part.contentType ?? (part.filename === null ? null : 'application/octet-stream')
  if (type !== null && /[\r\n]/.test(type)) throw configFailure('The content_type of a file must be one line')
  const head =
    `--${boundary}\r\nContent-Disposition: form-data; name=${quoted(part.name)}${filename}\r\n` +
    `${type === null ? '' : `Content-Type: ${type}\r\n`}\r\n`
  return [Buffer.from(head), part.content, Buffer.from('\r\n')]
}

/** One part per entry; a list gives one part per item. */
const fieldParts = (fields: JsonObject): Part[] =>
  Object.entries(fields).flatMap(([name, value]) => {
    const items: readonly Json[] = Array.isArray(value) ? value : [value]
    return items.flatMap((item) => {
      const text = textOf(item)
      return text === null ? [] : [{ name, filename: null, contentType: null, content: Buffer.from(text) }]
    })
  })

export const encodeMultipart = async (
  fields: JsonObject,
  files: Json,
): Promise<{ bytes: Buffer; contentType: string }> => {
  const boundary = `noetl-${randomBytes(16).toString('hex')}`
  const uploads = await Promise.all(
    fileEntries(files)
      .filter(([, file]) => file !== null)
      .map(([name, file]) => filePart(name, file)),
  )
  const parts = [...fieldParts(fields), ...uploads]
  const bytes = Buffer.concat([
    ...parts.flatMap((part) => partBytes(boundary, part)),
    Buffer.from(`--${boundary}--\r\n`),
  ])
  return { bytes, contentType: `multipart/form-data; boundary=${boundary}` }
}
