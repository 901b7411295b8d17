/** Arrays in PostgreSQL's text form, `{1,NULL,"a b",{…}}`, in both directions. */
import type { Json } from '../../../contract/json.ts'

/** Bounds other than 1, `[0:2]={…}`, are dropped: a list counts from its own start. */
export const parseArray = (text: string, read: (item: string) => Json): Json => {
  let at = text.indexOf('{')
  if (at === -1) return text

  const quotedItem = (): string => {
    let item = ''
    for (at += 1; text[at] !== '"' && at < text.length; at += 1) {
      if (text[at] === '\\') at += 1
      item += text[at]
    }
    at += 1
    return item
  }
  const plainItem = (): string => {
    const from = at
    while (at < text.length && text[at] !== ',' && text[at] !== '}') at += 1
    return text.slice(from, at)
  }
  const list = (): Json[] => {
    const items: Json[] = []
    at += 1
    while (at < text.length && text[at] !== '}') {
      if (text[at] === ',') at += 1
      else if (text[at] === '{') items.push(list())
      else if (text[at] === '"') items.push(read(quotedItem()))
      else {
        const item = plainItem()
        items.push(item.toUpperCase() === 'NULL' ? null : read(item))
      }
    }
    at += 1
    return items
  }
  return list()
}

const writeItem = (item: Json): string => {
  if (item === null) return 'NULL'
  if (Array.isArray(item)) return writeArray(item)
  const text = typeof item === 'string' ? item : JSON.stringify(item)
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

export const writeArray = (items: readonly Json[]): string => `{${items.map(writeItem).join(',')}}`
