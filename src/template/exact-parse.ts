/** JSON text to values without a lost digit: a whole number that a double cannot hold becomes a text of its digits. */

const MIGHT_BE_UNSAFE = /\d{16}/
const WHOLE_NUMBER = /^-?\d+$/

type Reviver = (this: unknown, key: string, value: unknown, context?: { readonly source?: string }) => unknown

const keepDigits: Reviver = (_key, value, context) => {
  const source = context?.source
  return typeof value === 'number' &&
    !Number.isSafeInteger(value) &&
    source !== undefined &&
    WHOLE_NUMBER.test(source)
    ? source
    : value
}

/** Throws a SyntaxError for text that is not JSON. */
export const parseExact = (text: string): unknown =>
  MIGHT_BE_UNSAFE.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text)
