/** Starts executions over HTTP from a process of its own, a given number in flight, and tells when all have ended. */
import { Agent, request } from 'node:http'

interface Job {
  readonly url: string
  readonly path: string
  readonly payload: object
  readonly count: number
  readonly inFlight: number
}

const agent = new Agent({ keepAlive: true, maxSockets: 256 })

const execute = (job: Job): Promise<string> =>
  new Promise((resolve, reject) => {
    const body = JSON.stringify({ path: job.path, payload: job.payload })
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const call = request(`${job.url}/api/execute`, { method: 'POST', agent, headers }, (answer) => {
      let text = ''
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
      answer.on('end', () => {
        if (answer.statusCode !== 200)
          return reject(new Error(`execute answered ${answer.statusCode}: ${text}`))
        return resolve((JSON.parse(text) as { execution_id: string }).execution_id)
      })
    })
    call.on('error', reject)
    call.end(body)
  })

const ended = new Set<string>()
const waiting = new Map<string, () => void>()

const untilEnd = (executionId: string): Promise<void> =>
  ended.delete(executionId) ? Promise.resolve() : new Promise((resolve) => waiting.set(executionId, resolve))

const run = async (job: Job): Promise<void> => {
  const start = performance.now()
  let left = job.count
  const lane = async (): Promise<void> => {
    while (left-- > 0) await untilEnd(await execute(job))
  }
  await Promise.all(Array.from({ length: job.inFlight }, lane))
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
