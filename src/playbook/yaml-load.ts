/**
 * YAML text to one tree.
 *
 * 1. YAML 1.2 core schema: `yes` and `on` are text, only `true` and `false` are booleans.
 * 2. Exactly one document. Text that is not YAML gives no tree at all.
 */
import { parseAllDocuments } from 'yaml'
import type { Document } from 'yaml'
import type { Report } from './report.ts'
import { convertYaml, place } from './yaml-convert.ts'
import type { YamlNode } from './yaml-tree.ts'

/** One stray character can make the rest of a file unreadable; beyond this the list only repeats itself. */
const SYNTAX_ERRORS_SHOWN = 10

export type YamlResult =
  | { readonly ok: true; readonly root: YamlNode }
  | { readonly ok: false; readonly kind: 'yaml' | 'invalid' }

export const loadYaml = (text: string, report: Report): YamlResult => {
  const documents = composeDocuments(text, report)
  if (documents === null) return { ok: false, kind: 'yaml' }
  const [document, second] = documents
  const broken = documents.flatMap((each) => each.errors)
  for (const error of broken.slice(0, SYNTAX_ERRORS_SHOWN)) {
    const offset = error.pos[0]
    report.error(
      'PARSE',
      place(offset),
      `The text is not valid YAML: ${reasonOf(error)}${templateHint(text, offset)}`,
    )
  }
  if (broken.length > 0) return { ok: false, kind: 'yaml' }
  if (document === undefined || document.contents === null) {
    report.error('PARSE', place(0), 'The document is empty; a playbook starts with apiVersion: noetl.io/v2')
    return { ok: false, kind: 'invalid' }
  }
  if (second !== undefined) {
    const message = 'The text holds more than one YAML document; register each playbook by itself'
    report.error('PARSE', place(second.range[0]), message)
    return { ok: false, kind: 'invalid' }
  }
  for (const warning of document.warnings) report.warn('yaml', place(warning.pos[0]), warning.message)
  return { ok: true, root: convertYaml(document.contents, text, report) }
}

const composeDocuments = (text: string, report: Report): readonly Document.Parsed[] | null => {
  try {
    const options = { schema: 'core', intAsBigInt: true, uniqueKeys: false, prettyErrors: false } as const
    const documents = parseAllDocuments(text, { ...options, logLevel: 'silent' })
    return Array.isArray(documents) ? documents : []
  } catch (error) {
    report.error('PARSE', place(0), `The text cannot be read as YAML: ${reasonOf(error)}`)
    return null
  }
}

/** The YAML reader recurses, so absurd nesting exhausts the stack instead of getting a diagnosis. */
const reasonOf = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error)
  return /call stack|recursion/i.test(message) ? 'it is nested too deeply' : message
}

const templateHint = (text: string, offset: number): string => {
  const lineStart = text.lastIndexOf('\n', Math.max(offset - 1, 0)) + 1
  const lineEnd = text.indexOf('\n', offset)
  const line = text.slice(lineStart, lineEnd === -1 ? text.length : lineEnd)
  return /(?:[:-]\s+|^\s*)\{[{%]/.test(line)
    ? '. A value that starts with a template needs quotes: "{{ … }}"'
    : ''
}
