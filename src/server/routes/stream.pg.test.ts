import { describe, expect, test } from 'vitest'
import { startHearingPair } from '../../../test/support/hearing-servers.ts'
import { aNote } from '../../../test/support/inputs.ts'
import { chain, single } from '../../../test/support/playbooks.ts'
import { createScriptedWorker } from '../../../test/support/scripted-worker.ts'
import { useServers } from '../../../test/support/servers.ts'
import { useStreams } from '../../../test/support/sse.ts'

const servers = useServers()
const { listen } = useStreams()

interface Message {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly data: string
}

/** Reads server-sent events until the stream ends or enough have come. */
const read = async (
  url: string,
  {
    headers = {},
    atMost = Infinity,
    onMessage,
  }: { headers?: Record<string, string>; atMost?: number; onMessage?: (message: Message) => void } = {},
): Promise<readonly Message[]> => {
  const response = await fetch(url, { headers })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const messages: Message[] = []
  let text = ''
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk
    const parts = text.split('\n\n')
    text = parts.pop() ?? ''
    for (const message of parts.map(parseMessage)) {
      messages.push(message)
      onMessage?.(message)
    }
    if (messages.length >= atMost) break
  }
  return messages
}

const parseMessage = (part: string): Message => {
  const field = (name: string): string | undefined =>
    part
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2)
  return { id: field('id'), event: field('event'), data: field('data') ?? '' }
}

describe('a stream', () => {
  test('of a finished execution has all its events and ends', async () => {
    const server = await servers.start()
    await server.register(chain('tests/stream', 2))
    const id = await server.execute('tests/stream', { token: 'hidden-value' })
    await createScriptedWorker(server, 'w1').drain()
    const { base } = await listen(server)
    const messages = await read(`${base}/api/executions/${id}/stream`)
    const events = (await server.get(`/api/executions/${id}/events`)).body['events'] as {
      event_type: string
      event_id: string
    }[]
    expect(messages.map((message) => message.event)).toEqual([
      ...events.map((event) => event.event_type),
      'end',
    ])
    expect(messages.map((message) => message.id)).toEqual([
      ...events.map((_, index) => String(index + 1)),
      undefined,
    ])
    expect(messages[0]?.data).toContain(`{"event_id":${events[0]?.event_id},`)
    expect(messages.at(-1)?.data).toBe('{"status":"COMPLETED","error":null}')
    expect(JSON.stringify(messages)).not.toContain('hidden-value')
  })

  test('goes on after the position the client saw last', async () => {
    const server = await servers.start()
    await server.register(chain('tests/stream', 2))
    const id = await server.execute('tests/stream')
    await createScriptedWorker(server, 'w1').drain()
    const { base } = await listen(server)
    const url = `${base}/api/executions/${id}/stream`
    const from = async (header: string): Promise<string | undefined> =>
      (await read(url, { headers: { 'last-event-id': header } }))[0]?.id
    expect(await from('5')).toBe('6')
    expect(await from('9999')).toBeUndefined()
    for (const nonsense of ['x', '-3', '1.5', '1e400', 'Infinity', '']) expect(await from(nonsense)).toBe('1')
  })

  test('brings what happens while it is open, also on another server', async () => {
    const [here, there] = await startHearingPair(servers)
    await here.register(single('tests/stream'))
    const id = await here.execute('tests/stream')
    const { base } = await listen(here)
    const reading = read(`${base}/api/executions/${id}/stream`)
    await here.core.tell(id, aNote())
    await there.core.tell(id, aNote({ eventType: 'remark' }))
    await there.post(`/api/executions/${id}/cancel`, { reason: 'done watching' })
    const messages = await reading
    expect(messages.map((message) => message.event)).toEqual([
      'playbook_started',
      'step.enter',
      'command.issued',
      'note',
      'remark',
      'playbook_cancelled',
      'end',
    ])
    expect(messages.at(-1)?.data).toBe('{"status":"CANCELLED","error":"done watching"}')
  })

  test('keeps one event one message, whatever its name holds', async () => {
    const server = await servers.start()
    await server.register(single('tests/stream'))
    const id = await server.execute('tests/stream')
    await server.core.tell(id, aNote({ eventType: 'odd\n\nevent: end\r\ndata: {}' }))
    await server.post(`/api/executions/${id}/cancel`, {})
    const { base } = await listen(server)
    const messages = await read(`${base}/api/executions/${id}/stream`)
    expect(messages.map((message) => message.event)).toEqual([
      'playbook_started',
      'step.enter',
      'command.issued',
      'odd  event: end  data: {}',
      'playbook_cancelled',
      'end',
    ])
  })

  test('ends when the client leaves or the server stops', async () => {
    const server = await servers.start()
    await server.register(single('tests/stream'))
    const id = await server.execute('tests/stream')
    const { base, stop } = await listen(server)
    expect(await read(`${base}/api/executions/${id}/stream`, { atMost: 2 })).not.toHaveLength(0)
    const heard = await read(`${base}/api/executions/${id}/stream`, {
      onMessage: ({ event }) => event === 'command.issued' && stop(),
    })
    expect(heard.at(-1)?.event).toBe('command.issued')
  })
})
