/**
 * Results that are stored apart. The log and the state keep a marker: the reference, its size, a preview and the small
 * fields of the data. What the marker can answer is read from it; everything else needs the data itself, which the
 * environment has or has not at hand.
 *
 * 1. Deciding never waits: data that is not at hand stops the decision with `ResultNeeded`. Whoever runs the engine
 *    fetches it and decides again, on a state folded anew.
 */
import type { Json, JsonObject } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import type { View } from '../template/scope.ts'
import { isView, VIEW } from '../template/scope.ts'

/** A decision cannot be made without the data behind this reference. */
export class ResultNeeded extends Error {
  readonly ref: string

  constructor(ref: string) {
    super(`The result ${ref} is needed`)
    this.name = 'ResultNeeded'
    this.ref = ref
  }
}

/** The data behind a reference does not exist any more. */
export class ResultMissing extends Error {
  constructor(ref: string) {
    super(`missing_reference: the result ${ref} does not exist any more`)
    this.name = 'ResultMissing'
  }
}

/** The data behind a reference; undefined when it is not at hand. Throws ResultMissing when there is none any more. */
export type Resolve = (ref: string) => Json | undefined

const REF = /^noetl:\/\/execution\/\d+\/result\//

/** The reference of a marker; null for any other data. */
export const referenceOf = (data: Json | undefined): string | null => {
  if (!isObject(data)) return null
  const { _ref: ref, _store: store } = data
  return typeof ref === 'string' && typeof store === 'string' && REF.test(ref) ? ref : null
}

/** The data itself, also when the state has only its marker. */
export const wholeData = (data: Json, resolve: Resolve): Json => {
  const ref = referenceOf(data)
  if (ref === null) return data
  const found = resolve(ref)
  if (found === undefined) throw new ResultNeeded(ref)
  return found
}

/** A value stored apart: the marker as far as it goes, then the data, seen through `viewOf`. */
export const referenceView = (
  marker: JsonObject,
  resolve: Resolve,
  viewOf: (data: Json) => unknown,
): View => {
  const data = (): Json => wholeData(marker, resolve)
  const whole = (): unknown => viewOf(data())
  return {
    [VIEW]: true,
    plain: () => {
      const view = whole()
      return isView(view) ? view.plain() : (view as Json)
    },
    ...(marker['_type'] === 'list' ? { sequence: () => data() as readonly Json[] } : {}),
    get: (key) => {
      if (Object.hasOwn(marker, key) && isComplete(marker[key])) return marker[key]
      const view = whole()
      if (isView(view)) return view.get?.(key)
      return isObject(view) ? view[key] : undefined
    },
  }
}

/** Scalars of the summary are the data's own; structures may be cut. */
const isComplete = (value: Json | undefined): boolean =>
  value !== undefined && (typeof value !== 'object' || value === null)
