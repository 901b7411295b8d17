/** An interpreter whose worker goes away, one pipe after the other. The numbers are those of `interpreter.py`. */
import { spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'

import { processStart } from '../../../lib/process-identity.ts'
import { aCall } from '../../test-support.ts'
import { createFrameDecoder, encodeFrame } from './frames.ts'
import { encodeRequest } from './request.ts'

vi.setConfig({ testTimeout: 40_000 })

const PROGRAM = fileURLToPath(new URL('interpreter.py', import.meta.url))
const STAYING = `
import subprocess
child = subprocess.Popen(["sleep", "600"])
while True: print(child.pid)
`

/** Starts an interpreter with a call that prints without end, and gives the ids of everything that runs then. */
const startCall = async (): Promise<{ pids: number[]; requests: Writable; answers: Readable }> => {
  const child = spawn('python3', [PROGRAM], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] })
  const [requests, answers] = [child.stdio[3] as Writable, child.stdio[4] as Readable]
  requests.write(encodeFrame('C', await encodeRequest(aCall({ code: STAYING }), STAYING, null)))
  return new Promise((resolve) => {
    const pids = [child.pid as number]
    const decode = createFrameDecoder((type, payload) => {
      if (type === 'S') pids.push(Number(payload.toString()))
      if (type !== 'O' || pids.length !== 2) return
      answers.off('data', decode)
      pids.push(Number.parseInt(payload.toString(), 10))
      resolve({ pids, requests, answers })
    })
    answers.on('data', decode)
  })
}

test.each<['requests' | 'answers']>([['requests'], ['answers']])(
  'ends, with its call, when the pipe of the %s breaks (rule 4)',
  async (name) => {
    const { pids, ...pipes } = await startCall()
    const alive = (): number[] => pids.filter((pid) => processStart(pid) !== null)
    expect(alive()).toEqual(pids)
    pipes.answers.resume()
    pipes[name].destroy()
    try {
      await expect.poll(alive, { timeout: 20_000, interval: 20 }).toEqual([])
    } finally {
      for (const pid of alive()) process.kill(pid, 'SIGKILL')
    }
  },
)
