/**
 * The one place where tools start processes.
 *
 * 1. A process leads a group and a session of its own: a Ctrl-C in the terminal is for the worker, which ends its tools in its own order.
 * 2. The group does not outlive this process. What left the group on purpose (`setsid`) does. The keeper is told before anything else happens
 *    here; it does not cover the fraction of a millisecond in which the start itself returns.
 * 3. After the end of a group no signal is sent to it any more: its number may belong to others by then.
 */
import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process'

import { createKeeper, type KillTime } from './keeper.ts'

export interface ToolProcessOptions {
  readonly cwd?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdio: StdioOptions
  /** When it is killed after the end of this process; at once when nothing is said. */
  readonly killed?: KillTime
}

export interface ProcessGroup {
  signal(name: NodeJS.Signals): void
  /** Kills whoever is left. Called once the first process is gone, at the latest. */
  end(): void
}

export interface ToolProcess {
  readonly child: ChildProcess
  readonly group: ProcessGroup
}

const keeper = createKeeper()

export const signalGroup = (leader: number, name: NodeJS.Signals): void => {
  try {
    process.kill(-leader, name)
  } catch {
    // Nobody is left in the group: that is what was wanted.
  }
}

const keptGroup = (leader: number, killed: KillTime): ProcessGroup => {
  let ended = false
  keeper.hold(leader, killed)
  const signal = (name: NodeJS.Signals): void => {
    if (!ended) signalGroup(leader, name)
  }
  return {
    signal,
    end() {
      signal('SIGKILL')
      ended = true
      keeper.letGo(leader)
    },
  }
}

const nothing = (): void => undefined
const NOBODY: ProcessGroup = { signal: nothing, end: nothing }

export const startToolProcess = (
  program: string,
  args: readonly string[],
  { killed = 'at-once', ...options }: ToolProcessOptions,
): ToolProcess => {
  keeper.prepare()
  const child = spawn(program, args, { ...options, detached: true })
  // Without an id it could not be started; an event of the child tells why.
  return { child, group: child.pid === undefined ? NOBODY : keptGroup(child.pid, killed) }
}
