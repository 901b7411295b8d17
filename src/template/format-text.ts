/**
 * The two ways to fill a text with values: `'{} is {name:>8.2f}'.format(...)` and `'%s is %d'|format(...)`.
 *
 * 1. A field can name an argument, but not reach into it: members are reached by expressions only.
 * 2. Width and precision are bounded, so that a short template cannot ask for a huge text.
 */
import type { FreeArguments } from './callable.ts'
import { fault } from './errors.ts'
import { reserveText, type Budget } from './limits.ts'
import { asNumeric, isInteger, toNumber, truncate } from './numbers.ts'
import { textOf } from './text-form.ts'
import { characterCount, member, whole, type Value } from './values.ts'

interface Layout {
  readonly fill: string
  readonly align: string | undefined
  readonly sign: string
  readonly width: number
  readonly grouping: string
  readonly precision: number | undefined
  readonly type: string
}

const MAX_WIDTH = 10_000
const MAX_PRECISION = 100

const SPEC = /^(?:(.)?([<>^=]))?([-+ ]?)(0?)(\d{0,9})([,_]?)(?:\.(\d{1,9}))?([sdfFeEgGxXob%]?)$/su

const parseLayout = (spec: string): Layout => {
  const found = SPEC.exec(spec)
  if (found === null) return fault(`unknown format '${spec}'`)
  const [, fill, align, sign = '', zero, width = '', grouping = '', precision, type = ''] = found
  const layout: Layout = {
    fill: fill ?? (zero === '0' ? '0' : ' '),
    align: align ?? (zero === '0' ? '=' : undefined),
    sign,
    width: Number(width),
    grouping,
    precision: precision === undefined ? undefined : Number(precision),
    type,
  }
  if (layout.width > MAX_WIDTH) return fault(`format width is larger than ${MAX_WIDTH}`)
  if ((layout.precision ?? 0) > MAX_PRECISION)
    return fault(`format precision is larger than ${MAX_PRECISION}`)
  return layout
}

const withExponent = (text: string): string => text.replace(/e([+-])(\d)$/, 'e$10$2')

const general = (number: number, precision: number): string => {
  const digits = Math.max(1, precision)
  const exponent = number === 0 ? 0 : Math.floor(Math.log10(Math.abs(number)))
  if (exponent < -4 || exponent >= digits) {
    return withExponent(number.toExponential(digits - 1).replace(/\.?0+e/, 'e'))
  }
  const text = number.toPrecision(digits)
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text
}

const RADIX: Readonly<Record<string, number>> = { x: 16, X: 16, o: 8, b: 2 }

/** The digits of a number that is not negative. */
const digitsOf = (layout: Layout, value: number | bigint, type: string): string => {
  const radix = RADIX[type]
  if (radix !== undefined) return value.toString(radix)
  const number = Number(value)
  const precision = layout.precision ?? 6
  switch (type.toLowerCase()) {
    case 'f':
      return number.toFixed(precision)
    case 'e':
      return withExponent(number.toExponential(precision))
    case 'g':
      return general(number, precision)
    case '%':
      return `${(number * 100).toFixed(precision)}%`
    default:
      return String(value)
  }
}

const groupThousands = (digits: string, mark: string): string => {
  const [, whole = '', rest = ''] = /^(\d+)(.*)$/s.exec(digits) ?? []
  const groups: string[] = []
  for (let end = whole.length; end > 0; end -= 3) groups.unshift(whole.slice(Math.max(0, end - 3), end))
  return groups.join(mark) + rest
}

const pad = (layout: Layout, sign: string, body: string, standard: string): string => {
  const missing = layout.width - characterCount(body) - sign.length
  if (missing <= 0) return sign + body
  const align = layout.align ?? standard
  if (align === '=') return sign + layout.fill.repeat(missing) + body
  const before = align === '<' ? 0 : align === '>' ? missing : Math.floor(missing / 2)
  return layout.fill.repeat(before) + sign + body + layout.fill.repeat(missing - before)
}

const formatNumber = (layout: Layout, value: Value): string => {
  const number = asNumeric(value)
  if (number === undefined) return fault(`format '${layout.type}' needs a number`)
  const isWhole = 'dxXob'.includes(layout.type) && layout.type !== ''
  if (isWhole && !isInteger(number)) return fault(`format '${layout.type}' needs an integer`)
  const exact = isWhole ? truncate(number) : toNumber(number)
  const isNegative = exact < 0
  const digits = digitsOf(layout, isNegative ? -exact : exact, layout.type)
  const grouped = layout.grouping === '' ? digits : groupThousands(digits, layout.grouping)
  const cased = /[XEG]/.test(layout.type) ? grouped.toUpperCase() : grouped
  const sign = isNegative ? '-' : layout.sign === '-' ? '' : layout.sign
  return pad(layout, sign, cased, '>')
}

const formatValue = (budget: Budget, value: Value, spec: string): string => {
  const layout = parseLayout(spec)
  const plain = whole(value)
  const number = typeof plain === 'boolean' ? undefined : asNumeric(plain)
  if (layout.type !== '' && layout.type !== 's') return formatNumber(layout, plain)
  if (number !== undefined && layout.type === '') {
    if (layout.precision !== undefined) return formatNumber({ ...layout, type: 'g' }, plain)
    if (isInteger(number)) return formatNumber({ ...layout, type: 'd' }, plain)
    const text = textOf(budget, plain)
    return pad(layout, text.startsWith('-') ? '-' : '', text.replace(/^-/, ''), '>')
  }
  const text = textOf(budget, plain)
  const cut = layout.precision === undefined ? text : Array.from(text).slice(0, layout.precision).join('')
  return pad({ ...layout, align: layout.align === '=' ? '<' : layout.align }, '', cut, '<')
}

const REPLACEMENT = /\{\{|\}\}|\{([^{}:!]*)(?:!([rsa]))?(?::([^{}]*))?\}|[{}]/g

/** `'{0} {name:>5}'.format(...)` */
export const formatBraces = (budget: Budget, pattern: string, args: FreeArguments): string => {
  let position = 0
  const argument = (field: string): Value => {
    if (field === '' || /^\d{1,9}$/.test(field)) {
      const index = field === '' ? position++ : Number(field)
      if (index >= args.positional.length) fault(`format has no argument ${index}`)
      return args.positional[index]
    }
    if (!args.named.has(field)) fault(`format has no argument '${field}'`)
    return args.named.get(field)
  }
  let length = pattern.length
  return pattern.replace(
    REPLACEMENT,
    (found: string, field?: string, _conversion?: string, spec?: string) => {
      if (found === '{{') return '{'
      if (found === '}}') return '}'
      if (field === undefined) return fault(`single '${found}' in format`)
      const text = formatValue(budget, argument(field), spec ?? '')
      length += text.length
      reserveText(budget, length)
      return text
    },
  )
}

const PERCENT = /%(?:\((\w+)\))?([-+ 0#]*)(\d{0,9})(?:\.(\d{1,9}))?([sdifFeEgGxXor%])?/g

const percentSpec = (flags: string, width: string, precision: string | undefined, type: string): string => {
  const align = flags.includes('-') ? '<' : type === 's' ? '>' : ''
  const sign = flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : ''
  const zero = flags.includes('0') && !flags.includes('-') && type !== 's' ? '0' : ''
  const digits = precision === undefined || type === 'd' ? '' : `.${precision}`
  return `${align}${sign}${zero}${width}${digits}${type}`
}

/** `'%s %05.1f' % ...`; named fields are looked up in the mapping. */
export const formatPercent = (
  budget: Budget,
  pattern: string,
  values: readonly Value[],
  named: Value,
): string => {
  let position = 0
  let length = pattern.length
  const replaced = pattern.replace(
    PERCENT,
    (found: string, name?: string, flags = '', width = '', precision?: string, letter?: string) => {
      if (letter === '%') return '%'
      if (letter === undefined) return fault(`unknown format '${found}'`)
      if (name === undefined && position >= values.length) return fault('format needs more arguments')
      const value = name === undefined ? values[position++] : member(named, name)
      const type = letter === 'i' ? 'd' : letter === 'r' ? 's' : letter
      const number = type === 'd' ? asNumeric(value) : undefined
      const shown = number === undefined ? value : truncate(number)
      const text = formatValue(budget, shown, percentSpec(flags, width, precision, type))
      length += text.length
      reserveText(budget, length)
      return text
    },
  )
  return position < values.length && named === undefined ? fault('format has too many arguments') : replaced
}
