/**
 * Starts executions over HTTP from a process of its own, a given number in flight, and tells when all have ended. It shares
 * the processors with what it measures, so it speaks HTTP on bare sockets: one request after the other on each.
 */
import { once } from 'node:events'
import { connect } from 'node:net'

interface Job {
  readonly url: string
  readonly path: string
  readonly payload: object
  readonly count: number
  readonly inFlight: number
}

interface Caller {
  execute(): Promise<string>
  close(): void
}

const END_OF_HEAD = '\r\n\r\n'

/** One connection; the request is the same every time. */
const openCaller = async (job: Job): Promise<Caller> => {
  const { hostname, port, host } = new URL(job.url)
  const body = JSON.stringify({ path: job.path, payload: job.payload })
  const head = [
    'POST /api/execute HTTP/1.1',
    `host: ${host}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ]
  const request = Buffer.from(head.join('\r\n') + END_OF_HEAD + body)
  const socket = connect(Number(port), hostname).setNoDelay(true).setEncoding('utf8')
  await once(socket, 'connect')
  let answer = ''
  let settle: ((text: string) => void) | null = null
  socket.on('data', (text: string) => {
    answer += text
    const headEnd = answer.indexOf(END_OF_HEAD)
    if (headEnd === -1) return
    const length = Number(/content-length: (\d+)/i.exec(answer)?.[1])
    // Answers are plain ASCII: as many characters as bytes.
    if (answer.length < headEnd + END_OF_HEAD.length + length) return
    const whole = answer
    answer = ''
    settle?.(whole)
  })
  return {
    execute: async () => {
      const whole = await new Promise<string>((resolve) => {
        settle = resolve
        socket.write(request)
      })
      if (!whole.startsWith('HTTP/1.1 200 ')) throw new Error(`execute answered ${whole}`)
      const { execution_id } = JSON.parse(whole.slice(whole.indexOf(END_OF_HEAD))) as { execution_id: string }
      return execution_id
    },
    close: () => socket.destroy(),
  }
}

const ended = new Set<string>()
const waiting = new Map<string, () => void>()

const untilEnd = (executionId: string): Promise<void> =>
  ended.delete(executionId) ? Promise.resolve() : new Promise((resolve) => waiting.set(executionId, resolve))

const run = async (job: Job): Promise<void> => {
  const callers = await Promise.all(Array.from({ length: job.inFlight }, () => openCaller(job)))
  const start = performance.now()
  let left = job.count
  await Promise.all(
    callers.map(async ({ execute }) => {
      while (left-- > 0) await untilEnd(await execute())
    }),
  )
  for (const { close } of callers) close()
  process.send?.({ seconds: (performance.now() - start) / 1000 })
}

/** The server process says which executions have ended, so that no polling disturbs the measurement. */
process.on('message', (message: { job?: Job; ended?: readonly string[] }) => {
  for (const id of message.ended ?? []) {
    const resolve = waiting.get(id)
    if (!resolve) ended.add(id)
    else {
      waiting.delete(id)
      resolve()
    }
  }
  if (message.job) void run(message.job).catch((error: unknown) => process.send?.({ error: String(error) }))
})
