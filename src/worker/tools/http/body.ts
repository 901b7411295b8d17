/**
 * What a request carries besides its URL and headers, from the many spellings playbooks use.
 *
 * 1. `json` and `payload` are JSON. A text that already is a JSON object or list is not encoded a second time.
 * 2. `form` is urlencoded. `files` make it multipart, with the entries of `form`, `data`, `payload` or `body` as fields.
 * 3. `body` and `data`: text goes out as it is, a structure as the Content-Type header says, by default as JSON.
 * 4. `data: {query, body}` is a query string and a body; any other mapping in `data` of a GET is a query string.
 * 5. Two bodies in one request are a mistake and are named; an empty one beside a full one does not count.
 */
import type { Json, JsonObject } from '../../../contract/json.ts'
import { isObject } from '../../../contract/json.ts'
import { parseJson } from '../../../lib/exact-json.ts'
import { configFailure } from '../../tool-failure.ts'
import { isGiven, textOf } from '../coerce.ts'
import { encodeMultipart } from './multipart.ts'

export interface RequestBody {
  readonly bytes: Buffer
  readonly contentType: string | null
}

export interface RequestContent {
  /** Entries of the query string that came with `data`. */
  readonly query: Json | undefined
  readonly body: RequestBody | null
}

const isEmpty = (value: Json): boolean =>
  value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)

const splitData = (data: Json | undefined, method: string): { query?: Json; body?: Json } => {
  if (!isGiven(data)) return {}
  if (!isObject(data)) return { body: data }
  const keys = Object.keys(data)
  if (keys.length > 0 && keys.every((key) => key === 'query' || key === 'body')) return data
  return method === 'GET' || method === 'HEAD' ? { query: data } : { body: data }
}

const isJsonDocument = (text: string): boolean => {
  if (!/^\s*[[{]/.test(text)) return false
  try {
    parseJson(text)
    return true
  } catch {
    return false
  }
}

const jsonBody = (value: Json): RequestBody => ({
  bytes: Buffer.from(typeof value === 'string' && isJsonDocument(value) ? value : JSON.stringify(value)),
  contentType: 'application/json',
})

const formBody = (value: Json): RequestBody => {
  const contentType = 'application/x-www-form-urlencoded'
  if (!isObject(value)) return { bytes: Buffer.from(textOf(value) ?? ''), contentType }
  const entries = new URLSearchParams()
  for (const [name, item] of Object.entries(value)) {
    const items: readonly Json[] = Array.isArray(item) ? item : [item]
    for (const each of items) if (each !== null) entries.append(name, textOf(each) ?? '')
  }
  return { bytes: Buffer.from(entries.toString()), contentType }
}

const plainBody = (value: Json, contentType: string): RequestBody | Promise<RequestBody> => {
  if (typeof value === 'string') return { bytes: Buffer.from(value), contentType: null }
  if (contentType.startsWith('application/x-www-form-urlencoded')) return formBody(value)
  if (contentType.startsWith('multipart/form-data') && isObject(value)) return encodeMultipart(value, {})
  return jsonBody(value)
}

const encode = (name: string, value: Json, contentType: string): RequestBody | Promise<RequestBody> => {
  if (name === 'json') return jsonBody(value)
  if (name === 'form') return formBody(value)
  if (name === 'payload' && typeof value === 'string') return jsonBody(value)
  return plainBody(value, contentType)
}

export const requestContent = async (
  config: JsonObject,
  method: string,
  contentType: string,
): Promise<RequestContent> => {
  const data = splitData(config['data'], method)
  const given = (
    [
      ['json', config['json']],
      ['form', config['form']],
      ['payload', config['payload']],
      ['body', config['body']],
      ['data', data.body],
    ] as const
  ).filter((entry): entry is [(typeof entry)[0], Exclude<Json, null>] => isGiven(entry[1]))
  const full = given.filter(([, value]) => !isEmpty(value))
  if (full.length > 1) {
    throw configFailure(
      `A request has one body, but these are given: ${full.map(([name]) => name).join(', ')}`,
    )
  }
  const [name, value] = full[0] ?? given[0] ?? []
  const files = config['files']
  if (isGiven(files) && !isEmpty(files)) {
    if (value !== undefined && !isObject(value))
      throw configFailure(`Beside files, ${name} must be a mapping`)
    return { query: data.query, body: await encodeMultipart(value ?? {}, files) }
  }
  const body = name === undefined ? null : await encode(name, value as Json, contentType.toLowerCase())
  return { query: data.query, body }
}
