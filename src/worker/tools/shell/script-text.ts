/** Finds the text that a `script` block points to: written in place, in a file of this machine, or behind a URL. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { Json, JsonObject } from '../../../contract/json.ts'
import { isObject } from '../../../contract/json.ts'
import { configFailure, ToolFailure } from '../../tool-failure.ts'
import { textField } from '../coerce.ts'
import type { OutboundFetch } from '../http/outbound-fetch.ts'

export interface ScriptOptions {
  /** Relative paths start here. */
  readonly directory: string
  readonly fetch: OutboundFetch
  readonly signal: AbortSignal
}

const FETCH_MS = 30_000

const readScriptFile = async (location: string, { directory, signal }: ScriptOptions): Promise<string> => {
  const path = location.startsWith('file:') ? fileURLToPath(location) : resolve(directory, location)
  try {
    return await readFile(path, { encoding: 'utf8', signal })
  } catch (error) {
    signal.throwIfAborted()
    throw configFailure(`Cannot read the script ${path}: ${(error as NodeJS.ErrnoException).code}`)
  }
}

const fetchScript = async (url: string, { fetch, signal }: ScriptOptions): Promise<string> => {
  let response: Response
  try {
    response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(FETCH_MS)]) })
    if (response.ok) return await response.text()
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ToolFailure) throw error
    throw new ToolFailure(
      {
        kind: 'connection',
        code: 'SCRIPT_UNAVAILABLE',
        message: `Cannot fetch the script ${url}: ${error instanceof Error ? error.message : String(error)}`,
        retryable: true,
      },
      { cause: error },
    )
  }
  throw new ToolFailure({
    kind: response.status >= 500 ? 'server_error' : 'client_error',
    code: `HTTP_${response.status}`,
    message: `Cannot fetch the script ${url}: HTTP ${response.status}`,
    retryable: response.status >= 500 || response.status === 429,
    http_status: response.status,
  })
}

const required = (text: string | null, field: string): string => {
  if (text === null) throw configFailure(`${field} is missing`)
  return text
}

/** A text is the path of a file; a mapping says by `source.type` where the text is. */
export const loadScriptText = async (script: Json, options: ScriptOptions): Promise<string> => {
  if (typeof script === 'string') return readScriptFile(script, options)
  if (!isObject(script)) throw configFailure('script must be a path or a mapping with `uri` and `source`')
  const source: JsonObject = isObject(script['source']) ? script['source'] : {}
  const uri = textField(script, 'uri', 'path')
  const type = textField(source, 'type') ?? defaultType(script, source, uri)
  if (type === 'inline') {
    const text = textField(source, 'code', 'content') ?? textField(script, 'code', 'content')
    return required(text, 'script.source.code')
  }
  if (type === 'file') return readScriptFile(required(uri, 'script.uri'), options)
  if (type === 'http') {
    return fetchScript(required(textField(source, 'endpoint', 'url') ?? uri, 'script.uri'), options)
  }
  throw configFailure(`script.source.type "${type}" is not available here. Use inline, file or http.`)
}

const defaultType = (script: JsonObject, source: JsonObject, uri: string | null): string => {
  if (uri !== null) return /^https?:/.test(uri) ? 'http' : 'file'
  return textField(source, 'endpoint', 'url') !== null && textField(script, 'code', 'content') === null
    ? 'http'
    : 'inline'
}
