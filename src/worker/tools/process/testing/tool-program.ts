/**
 * A program that runs tools, for tests that kill it. Each line it reads is a call, `{kind, config}`; what the tool's processes print appears on its
 * standard output. It ends when it has nothing more to read and to run.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

import type { JsonObject } from '../../../../contract/json.ts'
import { aCall } from '../../../test-support.ts'
import type { Tool } from '../../../tool.ts'
import { createContainerTool } from '../../container.ts'
import { createMcpTool } from '../../mcp.ts'
import { createPythonTool } from '../../python.ts'
import { createScriptTool } from '../../script.ts'
import { createShellTool } from '../../shell.ts'
import { createKeeper } from '../keeper.ts'

const env = { PATH: process.env['PATH'] }
const shell = createShellTool({ env })
const python = createPythonTool({ env })
const container = createContainerTool({ env, runtime: process.argv[2] ?? null })
const tools: Readonly<Record<string, Tool>> = {
  shell,
  python,
  container,
  script: createScriptTool({ shell, python, container }),
  mcp: createMcpTool({ env, settings: {} }),
}

/** Starts two processes, lets the first one go, and dies before anything else can happen. */
const startAndDie = (): void => {
  const keeper = createKeeper()
  const pids = [1, 2].map(() => {
    const { pid } = spawn('sleep', ['600'], { env, detached: true, stdio: 'ignore' })
    keeper.hold(pid as number, 'at-once')
    return pid as number
  })
  keeper.letGo(pids[0] as number)
  process.stdout.write(`${pids.join(' ')}\n`)
  process.kill(process.pid, 'SIGKILL')
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { kind, config } = JSON.parse(line) as { kind: string; config: JsonObject }
  if (kind === 'start-and-die') startAndDie()
  else void tools[kind]?.run(aCall(config, { log: (_stream, text) => void process.stdout.write(text) }))
})
