/**
 * The methods that values have, by the type of the value. A member that is called is always one of these: what data
 * brings along can never be called.
 */
import { optional, requiring, type Callable, type FixedCallable } from './callable.ts'
import { isEqual } from './compare.ts'
import { fault } from './errors.ts'
import { getOr, itemsOf, keysOf, valuesOf } from './filters/mapping-filters.ts'
import { formatBraces } from './format-text.ts'
import type { Frame } from './frame.ts'
import { charge, chargeSearch, chargeText } from './limits.ts'
import { isLoopState } from './loop-state.ts'
import { isView } from './scope.ts'
import { elementsOf, wholeNumber } from './sequences.ts'
import { textOf } from './text-form.ts'
import {
  capitalize,
  joinTexts,
  replaceText,
  splitLines,
  splitText,
  splitWords,
  titleCase,
  trimCharacters,
} from './text-tools.ts'
import { asList, asMapping, whole, type Value } from './values.ts'

type MethodTable = ReadonlyMap<string, Callable>

const isNothing = (value: Value): boolean => value === undefined || value === null

const ofText =
  (apply: (frame: Frame, text: string, ...args: Value[]) => Value): FixedCallable['apply'] =>
  (frame, input, ...args) => {
    const text = textOf(frame, input)
    chargeText(frame, text.length)
    return apply(frame, text, ...args)
  }

const changing = (change: (text: string) => Value): Callable =>
  optional(
    '',
    ofText((_frame, text) => change(text)),
  )

const stripping = (ends: 'both' | 'start' | 'end'): Callable =>
  optional(
    'chars',
    ofText((frame, text, chars) =>
      trimCharacters(text, isNothing(chars) ? undefined : textOf(frame, chars), ends),
    ),
  )

/** The affix may be a list of which one must fit. */
const affix = (accepts: (text: string, part: string) => boolean): Callable =>
  requiring(
    1,
    'affix',
    ofText((frame, text, part) => (asList(part) ?? [part]).some((one) => accepts(text, textOf(frame, one)))),
  )

const split = (frame: Frame, text: string, separator: Value, limit: Value): string[] => {
  const cuts = wholeNumber(limit, 'maxsplit', -1)
  return isNothing(separator)
    ? splitWords(frame, text, cuts)
    : splitText(frame, text, textOf(frame, separator), cuts)
}

const countIn = (frame: Frame, text: string, part: Value): number => {
  const wanted = textOf(frame, part)
  chargeSearch(frame, text, wanted)
  return wanted === '' ? text.length + 1 : text.split(wanted).length - 1
}

const TEXT_METHODS: MethodTable = new Map<string, Callable>([
  ['lower', changing((text) => text.toLowerCase())],
  ['upper', changing((text) => text.toUpperCase())],
  ['title', changing(titleCase)],
  ['capitalize', changing(capitalize)],
  ['isdigit', changing((text) => /^\d+$/.test(text))],
  ['splitlines', optional('', ofText(splitLines))],
  ['strip', stripping('both')],
  ['lstrip', stripping('start')],
  ['rstrip', stripping('end')],
  ['split', optional('sep maxsplit', ofText(split))],
  ['startswith', affix((text, part) => text.startsWith(part))],
  ['endswith', affix((text, part) => text.endsWith(part))],
  [
    'replace',
    requiring(
      2,
      'old new count',
      ofText((frame, text, old, replacement, count) =>
        replaceText(
          frame,
          text,
          textOf(frame, old),
          textOf(frame, replacement),
          wholeNumber(count, 'count', -1),
        ),
      ),
    ),
  ],
  [
    'join',
    requiring(
      1,
      'parts',
      ofText((frame, text, parts) =>
        joinTexts(
          frame,
          elementsOf(frame, parts).map((part) => textOf(frame, part)),
          text,
        ),
      ),
    ),
  ],
  ['count', requiring(1, 'sub', ofText(countIn))],
  [
    'find',
    requiring(
      1,
      'sub',
      ofText((frame, text, part) => {
        const wanted = textOf(frame, part)
        chargeSearch(frame, text, wanted)
        return text.indexOf(wanted)
      }),
    ),
  ],
  [
    'format',
    {
      parameters: undefined,
      named: undefined,
      required: 0,
      apply: (frame, value, args) => formatBraces(frame, textOf(frame, value), args),
    },
  ],
])

const MAPPING_METHODS: MethodTable = new Map<string, Callable>([
  // Unlike the filter, the method answers none for what is missing.
  [
    'get',
    requiring(1, 'key default', (frame, value, key, fallback = null) => getOr(frame, value, key, fallback)),
  ],
  ['keys', optional('', keysOf)],
  ['values', optional('', valuesOf)],
  ['items', optional('', itemsOf)],
])

const positionIn = (frame: Frame, value: Value, wanted: Value): number => {
  const elements = elementsOf(frame, value)
  charge(frame, elements.length / 4)
  const position = elements.findIndex((element) => isEqual(frame, element, wanted))
  return position === -1 ? fault('index: the list does not contain it') : position
}

const LIST_METHODS: MethodTable = new Map<string, Callable>([
  [
    'count',
    requiring(1, 'value', (frame, value, wanted) => {
      const elements = elementsOf(frame, value)
      charge(frame, elements.length / 4)
      return elements.filter((element) => isEqual(frame, element, wanted)).length
    }),
  ],
  ['index', requiring(1, 'value', positionIn)],
])

const loopMethod = (apply: (frame: Frame, loop: Value, values: readonly Value[]) => Value): Callable => ({
  parameters: undefined,
  named: [],
  required: 1,
  apply: (frame, loop, args) => apply(frame, loop, args.positional),
})

const LOOP_METHODS: MethodTable = new Map<string, Callable>([
  ['cycle', loopMethod((_frame, loop, values) => (isLoopState(loop) ? loop.cycle(values) : undefined))],
  [
    'changed',
    loopMethod((frame, loop, values) => (isLoopState(loop) ? loop.changed(frame, values) : undefined)),
  ],
])

export const METHOD_NAMES: ReadonlySet<string> = new Set(
  [TEXT_METHODS, MAPPING_METHODS, LIST_METHODS, LOOP_METHODS].flatMap((table) => [...table.keys()]),
)

/** All methods of that name, to check a call before the type of the value is known. */
export const methodsNamed = (name: string): Callable[] =>
  [TEXT_METHODS, MAPPING_METHODS, LIST_METHODS, LOOP_METHODS].flatMap((table) => table.get(name) ?? [])

/** undefined when the value has no such method. */
export const methodOf = (value: Value, name: string): Callable | undefined => {
  if (isLoopState(value)) return LOOP_METHODS.get(name)
  if (isView(value) && value.get !== undefined && name === 'get') return MAPPING_METHODS.get(name)
  const plain = whole(value)
  if (typeof plain === 'string') return TEXT_METHODS.get(name)
  const list = asList(value) === undefined ? undefined : LIST_METHODS.get(name)
  if (list !== undefined) return list
  return asMapping(plain) === undefined ? undefined : MAPPING_METHODS.get(name)
}
