/**
 * Cuts a template into text, `{{ output }}` and `{% statement %}` parts.
 *
 * 1. Comments `{# #}` disappear; `{% raw %}` parts become text, whatever they contain.
 * 2. A `-` at a mark drops all white space on that side. A `+` changes nothing.
 * 3. A single newline at the end of the template is dropped.
 */
import { TemplateSyntaxError } from './errors.ts'
import { readTokens, type Token } from './tokens.ts'

export type Segment =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'output' | 'statement'
      readonly tokens: readonly Token[]
      readonly start: number
      readonly end: number
    }

const OPENING_MARK = /\{[{%#]/g
const END_RAW = /\{%([-+]?)\s*endraw\s*([-+]?)%\}/g

interface Comment {
  readonly next: number
  readonly trimAfter: boolean
}

const readComment = (source: string, start: number): Comment => {
  const close = source.indexOf('#}', start + 2)
  if (close === -1) throw new TemplateSyntaxError('{# is never closed', source, start)
  return { next: close + 2, trimAfter: close > start + 2 && source.charAt(close - 1) === '-' }
}

const isRaw = (tokens: readonly Token[]): boolean =>
  tokens[0]?.kind === 'name' && tokens[0].text === 'raw' && tokens[1]?.kind === 'end'

interface Raw extends Comment {
  readonly text: string
}

const readRaw = (source: string, opened: number, from: number, trimStart: boolean): Raw => {
  END_RAW.lastIndex = from
  const close = END_RAW.exec(source)
  if (close === null) throw new TemplateSyntaxError('raw is never closed', source, opened)
  let text = source.slice(from, close.index)
  if (trimStart) text = text.trimStart()
  if (close[1] === '-') text = text.trimEnd()
  return { text, next: END_RAW.lastIndex, trimAfter: close[2] === '-' }
}

const dropLastNewline = (source: string): string => {
  if (source.endsWith('\r\n')) return source.slice(0, -2)
  return source.endsWith('\n') ? source.slice(0, -1) : source
}

export const readSegments = (template: string): Segment[] => {
  const source = dropLastNewline(template)
  const segments: Segment[] = []
  const pushText = (text: string): void => {
    if (text !== '') segments.push({ kind: 'text', text })
  }
  let offset = 0
  let trimNext = false
  for (;;) {
    OPENING_MARK.lastIndex = offset
    const opening = OPENING_MARK.exec(source)
    let text = source.slice(offset, opening?.index)
    if (trimNext) text = text.trimStart()
    if (opening === null) {
      pushText(text)
      return segments
    }
    const start = opening.index
    const sign = source.charAt(start + 2)
    pushText(sign === '-' ? text.trimEnd() : text)
    if (opening[0] === '{#') {
      const comment = readComment(source, start)
      offset = comment.next
      trimNext = comment.trimAfter
      continue
    }
    const isOutput = opening[0] === '{{'
    const bodyStart = sign === '-' || (sign === '+' && !isOutput) ? start + 3 : start + 2
    const run = readTokens(source, bodyStart, start, isOutput ? '}}' : '%}')
    if (!isOutput && isRaw(run.tokens)) {
      const raw = readRaw(source, start, run.next, run.trimAfter)
      pushText(raw.text)
      offset = raw.next
      trimNext = raw.trimAfter
      continue
    }
    segments.push({
      kind: isOutput ? 'output' : 'statement',
      tokens: run.tokens,
      start,
      end: run.next,
    })
    offset = run.next
    trimNext = run.trimAfter
  }
}
