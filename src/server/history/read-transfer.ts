/** Lines of a file as it arrives. Whatever is wrong with one is told with its number. */
import { createHash } from 'node:crypto'
import type { z } from 'zod'
import { isObject } from '../../contract/json.ts'
import { ProblemError } from '../../contract/problem.ts'
import type { TransferLine } from '../../contract/transfer.ts'
import {
  DefinitionLine,
  EndLine,
  EventLine,
  ExecutionLine,
  HeaderLine,
  ResultLine,
  TRANSFER_FORMAT,
  TRANSFER_VERSION,
} from '../../contract/transfer.ts'
import { parseJson } from '../../lib/exact-json.ts'

const LONGEST_LINE = 256 * 1024 * 1024

const SCHEMAS: Readonly<Record<string, z.ZodType<TransferLine>>> = {
  header: HeaderLine,
  definition: DefinitionLine,
  execution: ExecutionLine,
  event: EventLine,
  result: ResultLine,
  end: EndLine,
}

export const damaged = (message: string): ProblemError =>
  new ProblemError('invalid', `The file cannot be imported: ${message}`)

/**
 * Every line but the end, in order; the end is checked here and answered last.
 *
 * A file that stops before its end, whose digest is another one or that goes on after it is damaged.
 */
export async function* readTransfer(
  chunks: AsyncIterable<Buffer | string>,
): AsyncGenerator<TransferLine, void> {
  const digest = createHash('sha256')
  let number = 0
  let isOver = false
  for await (const text of splitLines(chunks)) {
    number += 1
    if (isOver) throw damaged(`line ${number} stands after the end`)
    const line = parseLine(text, number)
    if (line.type === 'end') {
      if (line.lines !== number - 1)
        throw damaged(`it should have ${line.lines} lines before its end and has ${number - 1}`)
      if (digest.digest('hex') !== line.sha256)
        throw damaged('its digest is another one; it was changed or damaged on the way')
      isOver = true
    } else {
      digest.update(`${text}\n`)
    }
    yield line
  }
  if (!isOver) throw damaged(number === 0 ? 'it is empty' : `it stops after line ${number}, before its end`)
}

async function* splitLines(chunks: AsyncIterable<Buffer | string>): AsyncGenerator<string> {
  let rest: Buffer[] = []
  let length = 0
  for await (const chunk of chunks) {
    let bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10)) {
      yield Buffer.concat([...rest, bytes.subarray(0, at)]).toString('utf8')
      rest = []
      length = 0
      bytes = bytes.subarray(at + 1)
    }
    length += bytes.length
    if (length > LONGEST_LINE) throw damaged('a line of it is too long; is it an export of NoETL?')
    if (bytes.length > 0) rest.push(bytes)
  }
  if (rest.length > 0) yield Buffer.concat(rest).toString('utf8')
}

const parseLine = (text: string, number: number): TransferLine => {
  let value: unknown
  try {
    value = parseJson(text)
  } catch {
    throw damaged(`line ${number} is not JSON`)
  }
  const type = isObject(value) && typeof value['type'] === 'string' ? value['type'] : ''
  if (number === 1) checkHeader(value, type)
  const schema = Object.hasOwn(SCHEMAS, type) ? SCHEMAS[type] : undefined
  if (!schema || (type === 'header' && number > 1)) throw damaged(`line ${number} is of no known type`)
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw damaged(
    `line ${number} (${type}): ${issue?.path.join('.') ?? ''} ${issue?.message ?? 'is not valid'}`,
  )
}

const checkHeader = (value: unknown, type: string): void => {
  const format = isObject(value) ? value['format'] : undefined
  if (type !== 'header' || format !== TRANSFER_FORMAT)
    throw damaged(`it does not begin with the header of an export (${TRANSFER_FORMAT})`)
  const version = isObject(value) ? value['version'] : undefined
  if (version !== TRANSFER_VERSION)
    throw damaged(
      `it has version ${JSON.stringify(version)} of the format; this server reads version ${TRANSFER_VERSION}`,
    )
}
