/**
 * Reads a stream of server-sent events.
 *
 * 1. Messages are found wherever the chunks are cut, also inside a character or between CR and LF.
 * 2. A message without its blank line at the end was cut off and is not given.
 */
export interface ServerSentEvent {
  /** `message` when the server names none. */
  readonly type: string
  /** Null when this message brings no id. */
  readonly id: string | null
  readonly data: string
}

export async function* readServerSentEvents(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<ServerSentEvent> {
  let message = emptyMessage()
  for await (const line of readLines(chunks)) {
    if (line === '') {
      if (message.data.length > 0) yield { type: message.type, id: message.id, data: message.data.join('\n') }
      message = emptyMessage()
    } else {
      readField(message, line)
    }
  }
}

interface Draft {
  type: string
  id: string | null
  data: string[]
}

const emptyMessage = (): Draft => ({ type: 'message', id: null, data: [] })

const readField = (message: Draft, line: string): void => {
  const colon = line.indexOf(':')
  // A line that starts with a colon is a comment.
  const name = colon === -1 ? line : line.slice(0, colon)
  const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
  if (name === 'data') message.data.push(value)
  else if (name === 'event') message.type = value
  else if (name === 'id') message.id = value
}

async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  // Pieces of the line that is not complete yet, joined once: a long line costs its length, not its square.
  let pieces: string[] = []
  let afterCarriageReturn = false
  for await (const chunk of chunks) {
    let text = decoder.decode(chunk, { stream: true })
    if (text === '') continue
    if (afterCarriageReturn && text.startsWith('\n')) text = text.slice(1)
    afterCarriageReturn = text.endsWith('\r')
    const lines = text.split(/\r\n|\r|\n/)
    const rest = lines.pop() ?? ''
    for (const line of lines) {
      yield pieces.length === 0 ? line : pieces.join('') + line
      pieces = []
    }
    if (rest !== '') pieces.push(rest)
  }
}
