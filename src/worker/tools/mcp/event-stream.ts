/** Reads the data of server-sent events from a stream of bytes, in whatever pieces it comes. */

/** Ends with the stream. An event that the end of the stream cut off is dropped, as the format says. */
export async function* eventData(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  let data: string[] = []
  for await (const chunk of stream) {
    rest += decoder.decode(chunk, { stream: true })
    // A carriage return at the edge may be the first half of a line end.
    const lines = rest.split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield data.join('\n')
        data = []
      } else if (line.startsWith('data:')) {
        data.push(line.slice(line.startsWith('data: ') ? 6 : 5))
      }
    }
  }
}
