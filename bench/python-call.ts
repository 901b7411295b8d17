/** Milliseconds of a warm, empty Python call from end to end, beside the start of a fresh interpreter. */
import { spawnSync } from 'node:child_process'

import { aCall } from '../src/worker/test-support.ts'
import { createPythonTool } from '../src/worker/tools/python.ts'

const CALLS = 300
const SPAWNS = 20
const python = process.env['NOETL_PYTHON'] ?? 'python3'

const spread = (times: number[]): string => {
  times.sort((a, b) => a - b)
  const at = (share: number): string => (times[Math.floor(times.length * share)] as number).toFixed(2)
  return `median ${at(0.5)} ms, fastest ${at(0)} ms, 95 % within ${at(0.95)} ms`
}

const tool = createPythonTool({ python, env: process.env })
const call = async (): Promise<void> => {
  const { error } = await tool.run(aCall({ code: 'result = 1' }))
  if (error !== undefined) throw new Error(error.message)
}

await call()
await new Promise((resolve) => setTimeout(resolve, 300))
const warm: number[] = []
for (let index = 0; index < CALLS; index += 1) {
  const startedAt = performance.now()
  await call()
  warm.push(performance.now() - startedAt)
}
console.log(`warm call       ${spread(warm)}`)

const startedAt = performance.now()
await Promise.all(Array.from({ length: CALLS }, call))
console.log(
  `at once         ${((performance.now() - startedAt) / CALLS).toFixed(2)} ms per call, ${tool.interpreterCount()} interpreters`,
)
await tool.close()

const fresh: number[] = []
for (let index = 0; index < SPAWNS; index += 1) {
  const begin = performance.now()
  spawnSync(python, ['-c', 'pass'])
  fresh.push(performance.now() - begin)
}
console.log(`python3 -c pass ${spread(fresh)}`)
