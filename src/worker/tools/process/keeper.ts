/**
 * Ends process groups when this process is gone, however it went: SIGKILL, a crash, no memory left.
 *
 * A small shell stands beside, in a session of its own. It reads a pipe whose other end only this process has, and is told there which groups
 * there are. When this process ends, the kernel closes the pipe: the shell kills the groups it knows and ends. The processes themselves are
 * started as ever: nothing stands between, nothing is added to what they inherit.
 *
 * 1. Whatever is held when this process ends is killed at once. There is no moment to clean up: the same work may start elsewhere.
 * 2. One that ends itself, and what it started, when this process goes has a second to do so, and knows best how. Then it is killed, after the
 *    groups that its children lead.
 * 3. What was let go is never touched: its number may belong to somebody else by then.
 * 4. The shell does not keep this process from ending, and outlives it for as long as it takes to kill.
 * 5. A shell that ends too early is replaced, and the new one knows what the old one knew.
 * 6. A command for the time after is run once this process is gone, and never when it was called off before.
 */
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import type { Socket } from 'node:net'

/** When a group is killed after the end of this process. */
export type KillTime = 'at-once' | 'when-stuck'

export interface Keeper {
  /** Sees that the shell is there, so that holding takes no time. */
  prepare(): void
  hold(group: number, killed: KillTime): void
  letGo(group: number): void
}

export interface LastCommand {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** A shell that cannot live is not started over and over without a pause. */
const REPLACE_AFTER_MS = 100

// Signals are for those who work; the keeper ends with the pipe. A group is written with the first letter of its time. One that is gone already is
// what was wanted. Where the system does not list children, one that is stuck goes without them.
const KEEP = `
trap '' HUP INT QUIT TERM
held=' '
while read -r sign group; do
  case "$sign$held" in
    +*) held="$held$group " ;;
    -*" $group "*) held="\${held%% $group *} \${held#* $group }" ;;
  esac
done
stuck=
for group in $held; do
  case $group in
    a*) kill -s KILL -- "-\${group#a}" ;;
    w*) stuck="$stuck \${group#w}" ;;
  esac
done
[ -z "$stuck" ] || sleep 1
for leader in $stuck; do
  children=
  read -r children <"/proc/$leader/task/$leader/children"
  for child in $children; do kill -s KILL -- "-$child"; done
  kill -s KILL -- "-$leader"
done
`

// More than once: what it undoes may have been on its way when this process ended.
const LAST_COMMAND = `
trap '' HUP INT QUIT TERM
while read -r _; do :; done
for pause in 0 1 4; do sleep "$pause"; "$@"; done
`

/** Its name, for those who look at the list of processes, and what it is given stand behind the script. */
const startShell = (script: string, args: readonly string[], options: SpawnOptions): ChildProcess => {
  const shell = spawn('/bin/sh', ['-c', script, 'noetl-keeper', ...args], {
    ...options,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // The pipe of a shell that was killed breaks; its end says so.
  shell.stdin?.on('error', () => undefined)
  shell.unref()
  // The pipe is a socket underneath, which its type does not tell.
  const pipe = shell.stdin as Socket | null
  pipe?.unref()
  return shell
}

export const createKeeper = (): Keeper => {
  const held = new Map<number, KillTime>()
  let shell: ChildProcess | null = null

  const start = (): void => {
    const started = startShell(KEEP, [], { cwd: '/', env: {} })
    shell = started
    const gone = (): void => {
      if (shell !== started) return
      shell = null
      setTimeout(() => shell === null && held.size > 0 && start(), REPLACE_AFTER_MS).unref()
    }
    started.on('error', gone)
    started.on('exit', gone)
    for (const [group, killed] of held) tell('+', group, killed)
  }

  const tell = (sign: '+' | '-', group: number, killed: KillTime): void =>
    void shell?.stdin?.write(`${sign} ${killed[0]}${group}\n`)

  const prepare = (): void => {
    if (shell === null) start()
  }

  return {
    prepare,
    hold(group, killed) {
      prepare()
      held.set(group, killed)
      tell('+', group, killed)
    },
    letGo(group) {
      const killed = held.get(group)
      if (killed === undefined) return
      held.delete(group)
      tell('-', group, killed)
    },
  }
}

/** Answers how to call it off. */
export const runWhenThisProcessEnds = (command: LastCommand): (() => void) => {
  const { program, args, cwd, env } = command
  const shell = startShell(LAST_COMMAND, [program, ...args], { cwd, env })
  shell.on('error', () => undefined)
  return () => void shell.kill('SIGKILL')
}
