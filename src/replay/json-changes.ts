/** Where two JSON values differ. Keys are compared by name, lists by place. */
import type { Json } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'

export interface Change {
  /** Such as `rows[2].name`; empty for the whole value. */
  readonly path: string
  readonly kind: 'added' | 'removed' | 'changed'
  readonly a: Json
  readonly b: Json
}

/** At most `limit` changes, in the order of the first value. Undefined is a value that is not there. */
export const jsonChanges = (a: Json | undefined, b: Json | undefined, limit = 50): readonly Change[] => {
  const changes: Change[] = []
  const visit = (left: Json | undefined, right: Json | undefined, path: string): void => {
    if (changes.length >= limit || left === right) return
    if (left === undefined || right === undefined) {
      const kind = left === undefined ? 'added' : 'removed'
      changes.push({ path, kind, a: left ?? null, b: right ?? null })
    } else if (Array.isArray(left) && Array.isArray(right)) {
      for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
        if (changes.length >= limit) return
        visit(left[index] as Json | undefined, right[index] as Json | undefined, `${path}[${index}]`)
      }
    } else if (isObject(left) && isObject(right)) {
      for (const key of new Set([...Object.keys(left), ...Object.keys(right)]))
        visit(own(left, key), own(right, key), path === '' ? key : `${path}.${key}`)
    } else {
      changes.push({ path, kind: 'changed', a: left, b: right })
    }
  }
  visit(a, b, '')
  return changes
}

const own = (value: { readonly [key: string]: Json }, key: string): Json | undefined =>
  Object.hasOwn(value, key) ? value[key] : undefined
