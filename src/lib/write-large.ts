/**
 * Writes a value of any size as JSON without keeping the process to itself.
 *
 * 1. The text is the one that `stringify` gives for the whole value; `exactJson` unless told otherwise.
 * 2. Members are written in groups of about a megabyte; between two of them everybody else gets a turn. A single text cannot be cut.
 * 3. The value must not change meanwhile.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createByteWriter } from './byte-writer.ts'
import { exactJson } from './exact-json.ts'
import { SLICE_BYTES } from './json-pieces.ts'
import { sizeUpTo } from './json-size.ts'
import { setMember } from './parse-large.ts'

export interface WriteOptions {
  readonly sliceBytes?: number
  readonly stringify?: (value: unknown) => string
  /** Lets others have a turn. */
  readonly pause?: () => Promise<unknown>
}

export const writeLarge = async (value: unknown, options: WriteOptions = {}): Promise<Buffer> => {
  const { sliceBytes = SLICE_BYTES, pause = nextTurn, stringify = exactJson } = options
  const writer = createByteWriter()

  const write = async (container: object): Promise<void> => {
    const group = createGroup(container, stringify)
    let separator = ''
    const flush = async (): Promise<void> => {
      const text = group.take()
      if (text === '') return
      writer.add(separator + text)
      separator = ','
      await pause()
    }
    writer.add(Array.isArray(container) ? '[' : '{')
    for (const [key, item] of entriesOf(container)) {
      const size = sizeUpTo(item, sliceBytes)
      if (size <= sliceBytes || !isContainer(item)) {
        if (group.add(key, item, size) > sliceBytes) await flush()
        continue
      }
      await flush()
      writer.add(Array.isArray(container) ? separator : `${separator}${JSON.stringify(key)}:`)
      separator = ','
      await write(item)
    }
    await flush()
    writer.add(Array.isArray(container) ? ']' : '}')
  }

  if (isContainer(value)) await write(value)
  else writer.add(stringify(value))
  return writer.take()
}

interface Group {
  /** Answers the size of the group. */
  add(key: string, item: unknown, size: number): number
  /** The text of the members without the brackets around them; the group is empty then. */
  take(): string
}

const createGroup = (container: object, stringify: (value: unknown) => string): Group => {
  const empty = (): unknown[] | Record<string, unknown> => (Array.isArray(container) ? [] : {})
  let members = empty()
  let groupSize = 0
  return {
    add(key, item, size) {
      if (Array.isArray(members)) members.push(item)
      else setMember(members, key, item)
      return (groupSize += size + key.length)
    },
    take() {
      const text = stringify(members).slice(1, -1)
      members = empty()
      groupSize = 0
      return text
    },
  }
}

/** One by one: a list of all of them would be as large as the container. */
function* entriesOf(container: object): Generator<readonly [string, unknown], void> {
  if (Array.isArray(container)) for (const item of container) yield ['', item]
  else
    for (const key of Object.keys(container))
      yield [key, (container as Readonly<Record<string, unknown>>)[key]]
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null
