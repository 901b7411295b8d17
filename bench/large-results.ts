/**
 * A result of 50 MB through the whole product, worker and server in one process: for how long does it keep the others waiting, how much
 * of the main thread's time does it take, and how much memory. A stall is told twice: as the clock saw it, which depends on who else uses
 * the machine, and as processor time between two beats of a timer, which is what a quiet machine would see.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { startProduct } from './product.ts'

const ROWS = 480_000

const playbook = (name: string, ...steps: readonly string[]): string =>
  `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: { name: ${name}, path: bench/${name} }\nworkflow:\n${steps.join('\n')}`

const start = (rows: number, next: string, more = ''): string =>
  `  - step: start
    tool:
      kind: python
      code: |
        result = {'rows': [{'id': i, 'text': 'x' * 80} for i in range(${rows})], 'facts': {'count': ${rows}}}
      ${more}
    next: [${next}]`

const reader = (step: string, input: string): string =>
  `  - { step: ${step}, tool: { kind: python, code: "result = {'n': len(str(it))}", input: { it: "${input}" } } }`

const PLAYBOOKS = {
  'a small result': playbook('small', start(10, 'use'), reader('use', '{{ start.facts.count }}')),
  'kept, nobody reads it': playbook('kept', start(ROWS, 'use'), reader('use', '{{ 1 }}')),
  'a selected field is read': playbook(
    'selected',
    start(ROWS, 'use', 'output_select: [facts.count, "rows[7].id"]'),
    reader('use', '{{ start.count }}'),
  ),
  'all of it is read': playbook('whole', start(ROWS, 'use'), reader('use', '{{ start.rows }}')),
}

const MEGABYTE = 1e6

const product = await startProduct()

const processorMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The most processor time that the main thread used while nobody else had a turn. */
const watchTurns = (): (() => number) => {
  let last = processorMs()
  let longest = 0
  const beat = setInterval(() => {
    const now = processorMs()
    longest = Math.max(longest, now - last)
    last = now
  }, 1)
  return () => {
    clearInterval(beat)
    return longest
  }
}

/** Runs something and prints what it did to the process. */
const measure = async (name: string, run: () => Promise<unknown>): Promise<void> => {
  globalThis.gc?.()
  const delay = monitorEventLoopDelay({ resolution: 5 })
  const before = process.memoryUsage.rss()
  let most = before
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss())
  }, 50)
  const longestTurn = watchTurns()
  const used = processorMs()
  delay.enable()
  const began = performance.now()
  await run()
  const seconds = (performance.now() - began) / 1000
  delay.disable()
  const spent = processorMs() - used
  clearInterval(watch)
  const cells = [
    name.padEnd(32),
    `${seconds.toFixed(2).padStart(6)} s`,
    `stall ${(delay.max / 1e6).toFixed(0).padStart(4)} ms, of the processor ${longestTurn().toFixed(0).padStart(3)} ms`,
    `main thread ${spent.toFixed(0).padStart(5)} ms`,
    `memory +${((most - before) / MEGABYTE).toFixed(0).padStart(4)} MB`,
  ]
  console.log(cells.join('   '))
}

/** The reference of the newest large result. */
const newestReference = async (): Promise<string> => {
  const { rows } = await product.stack.core.shards.cluster.query<{
    execution: string
    name: string
    id: string
  }>(
    'select execution_id::text as execution, name, result_id::text as id from noetl.result where source_step is not null order by result_id desc limit 1',
  )
  const [newest] = rows
  if (!newest) throw new Error('nothing was stored')
  return `noetl://execution/${newest.execution}/result/${newest.name}/${newest.id}`
}

try {
  for (const content of Object.values(PLAYBOOKS)) await product.register(content)
  await product.run('bench/small', 5, 1)
  for (const [name, content] of Object.entries(PLAYBOOKS)) {
    const path = /path: (\S+) /.exec(content)?.[1] ?? ''
    await measure(name, () => product.run(path, 1, 1))
  }
  const ref = await newestReference()
  const [, execution] = /execution\/(\d+)/.exec(ref) ?? []
  const resolve = `${product.stack.url}/api/result/resolve?ref=${encodeURIComponent(ref)}`
  let body = Buffer.alloc(0)
  await measure('answered over HTTP', async () => {
    body = Buffer.from(await (await fetch(resolve)).arrayBuffer())
  })
  const envelope = Buffer.concat([Buffer.from('{"name":"it","data":'), body, Buffer.from('}')])
  await measure('stored over HTTP', async () => {
    const headers = { 'content-type': 'application/json' }
    const url = `${product.stack.url}/api/result/${execution}`
    const answer = await fetch(url, { method: 'PUT', headers, body: envelope })
    if (!answer.ok) throw new Error(await answer.text())
    await answer.text()
  })
} finally {
  await product.stop()
}
