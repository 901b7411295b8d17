/** Finds the text of a script and the language it is written in. */
import type { Json, JsonObject } from '../../../contract/json.ts'
import { isObject } from '../../../contract/json.ts'
import { configFailure } from '../../tool-failure.ts'
import { textField } from '../coerce.ts'
import { loadScriptText, type ScriptOptions } from '../shell/script-text.ts'

export type ScriptLanguage = 'python' | 'bash' | 'sh'

export interface LoadedScript {
  readonly text: string
  readonly language: ScriptLanguage
}

const LANGUAGES: Readonly<Record<string, ScriptLanguage>> = {
  python: 'python',
  python3: 'python',
  py: 'python',
  bash: 'bash',
  sh: 'sh',
  shell: 'sh',
}

/** Words that older playbooks use to say where the script is rather than what it is. */
const PLACES: ReadonlySet<string> = new Set(['file', 'http', 'https', 'inline', 'gcs', 's3'])

const languageOf = (word: string | null, uri: string, text: string): ScriptLanguage => {
  if (word !== null) {
    const named = LANGUAGES[word.toLowerCase()]
    if (named !== undefined) return named
    throw configFailure(`script.type must be python, bash or sh, not ${JSON.stringify(word)}`)
  }
  const ending = /\.(py|bash|sh)(?:[?#].*)?$/i.exec(uri)?.[1]?.toLowerCase()
  if (ending !== undefined) return LANGUAGES[ending] ?? 'python'
  const program = /^#!\s*\S*?(python3?|bash|sh)\b|^#!.*\s(python3?|bash|sh)\b/.exec(text)
  return LANGUAGES[program?.[1] ?? program?.[2] ?? ''] ?? 'python'
}

const missing = (): never => {
  throw configFailure('A script tool needs script: {content}, {uri}, or the path of a file')
}

/** A text of several lines is the script itself; of one line, its path. */
const asBlock = (value: Json | undefined): JsonObject => {
  if (isObject(value ?? null)) return value as JsonObject
  if (typeof value !== 'string' || value.trim() === '') return missing()
  return /\n|^#!/.test(value.trim()) ? { content: value } : { uri: value }
}

export const loadScript = async (config: JsonObject, options: ScriptOptions): Promise<LoadedScript> => {
  const written = textField(config, 'code', 'content')
  const block = written === null ? asBlock(config['script']) : { content: written }
  const typeWord = textField(block, 'type') ?? textField(config, 'type')
  const place = typeWord !== null && PLACES.has(typeWord.toLowerCase()) ? typeWord.toLowerCase() : null
  const content = textField(block, 'content', 'code')
  const uri = textField(block, 'uri', 'path') ?? ''
  const source: JsonObject = isObject(block['source'] ?? null) ? (block['source'] as JsonObject) : {}
  const from = place === null ? source : { type: place.replace('https', 'http'), ...source }
  const text =
    content ??
    (uri === '' && Object.keys(source).length === 0
      ? missing()
      : await loadScriptText({ uri, source: from }, options))
  return { text, language: languageOf(place === null ? typeWord : null, uri, text) }
}
