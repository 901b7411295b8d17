/** Finds the Python text of a call: `code`, its base64 spellings, or a `script` that says where the text is. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { Json, JsonObject } from '../../../contract/json.ts'
import { isObject } from '../../../contract/json.ts'
import { durationMs } from '../../duration.ts'
import { configFailure, ToolFailure } from '../../tool-failure.ts'
import type { OutboundFetch } from '../http/outbound-fetch.ts'

export interface SourceOptions {
  /** Relative script paths start here. */
  readonly directory: string
  readonly fetch: OutboundFetch
  readonly signal: AbortSignal
}

const FETCH_SECONDS = 30

/** A field that needs text takes numbers and structures by their text; null is "not given". */
const textOf = (value: Json | undefined): string | null => {
  if (value === undefined || value === null || value === '') return null
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const fromBase64 = (text: string): string => {
  if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(text)) throw configFailure('code_b64 is not valid base64')
  return Buffer.from(text, 'base64').toString('utf8')
}

const readScriptFile = async (location: string, options: SourceOptions): Promise<string> => {
  const path = location.startsWith('file:') ? fileURLToPath(location) : resolve(options.directory, location)
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw configFailure(`Cannot read the Python script ${path}: ${(error as NodeJS.ErrnoException).code}`)
  }
}

const fetchScript = async (url: string, source: JsonObject, options: SourceOptions): Promise<string> => {
  const limitMs = durationMs(source['timeout'] ?? FETCH_SECONDS, 'script.source.timeout')
  const signals = limitMs === null ? [options.signal] : [options.signal, AbortSignal.timeout(limitMs)]
  let response: Response
  try {
    const headers = isObject(source['headers']) ? source['headers'] : {}
    response = await options.fetch(url, {
      method: textOf(source['method']) ?? 'GET',
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, textOf(value) ?? '']),
      ),
      signal: AbortSignal.any(signals),
    })
    if (response.ok) return await response.text()
  } catch (error) {
    options.signal.throwIfAborted()
    if (error instanceof ToolFailure) throw error
    throw new ToolFailure(
      {
        kind: 'connection',
        code: 'SCRIPT_UNAVAILABLE',
        message: `Cannot fetch the Python script ${url}: ${error instanceof Error ? error.message : String(error)}`,
        retryable: true,
      },
      { cause: error },
    )
  }
  throw new ToolFailure({
    kind: response.status >= 500 ? 'server_error' : 'client_error',
    code: `HTTP_${response.status}`,
    message: `Cannot fetch the Python script ${url}: HTTP ${response.status}`,
    retryable: response.status >= 500 || response.status === 429,
    http_status: response.status,
  })
}

const loadScript = async (script: Json, options: SourceOptions): Promise<string> => {
  if (typeof script === 'string') return readScriptFile(script, options)
  if (!isObject(script)) throw configFailure('script must be a path or a mapping with `uri` and `source`')
  const source = isObject(script['source']) ? script['source'] : {}
  const uri = textOf(script['uri']) ?? ''
  const type = textOf(source['type']) ?? (/^https?:/.test(uri) ? 'http' : 'file')
  if (type === 'inline') {
    return textOf(source['code']) ?? textOf(script['code']) ?? missing('script.source.code is missing')
  }
  if (type === 'file') return readScriptFile(uri || missing('script.uri is missing'), options)
  if (type === 'http') {
    const url =
      textOf(source['endpoint']) ?? (uri || missing('script.source.endpoint or script.uri is missing'))
    return fetchScript(url, source, options)
  }
  throw configFailure(`script.source.type "${type}" is not available here. Use inline, file or http.`)
}

const missing = (message: string): never => {
  throw configFailure(message)
}

export const loadSource = (config: JsonObject, options: SourceOptions): string | Promise<string> => {
  const code = textOf(config['code'])
  if (code !== null) return code
  const encoded = textOf(config['code_b64']) ?? textOf(config['code_base64'])
  if (encoded !== null) return fromBase64(encoded)
  const script = config['script']
  if (script !== undefined && script !== null) return loadScript(script, options)
  return missing('A python tool needs `code` (or `code_b64`, or `script`)')
}
