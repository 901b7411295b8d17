/** HTML as values: what is put into a template is escaped unless it is HTML itself. */

export interface Html {
  readonly html: string
}

export type Part = Html | string | number | null | undefined | false | readonly Part[]

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? character)

const isHtml = (part: unknown): part is Html => typeof part === 'object' && part !== null && 'html' in part

const textOf = (part: Part): string => {
  if (part === null || part === undefined || part === false) return ''
  if (isHtml(part)) return part.html
  return typeof part === 'object' ? part.map(textOf).join('') : escapeHtml(String(part))
}

export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html => ({
  html: strings.reduce((text, string, index) => text + textOf(parts[index - 1]) + string),
})

/** Text of ours that is HTML already: styles and scripts. */
export const trusted = (text: string): Html => ({ html: text })

/** A line of prose in which `words` are code. */
export const prose = (text: string): Html => ({
  html: escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>'),
})
