/**
 * Starts a server program that does not outlive this process, however this process ends.
 *
 * A small shell stands between: it holds the reading end of a pipe whose other end only this process has.
 * When this process ends, also by SIGKILL, the kernel closes the pipe and the shell tells the program to
 * shut down.
 *
 * 1. The program is told to shut down (SIGINT) as soon as this process is gone.
 * 2. The shell is in a session of its own, so Ctrl-C in a terminal reaches this process alone, which can
 *    finish its work before it stops its database.
 * 3. The shell waits for the program: `ended` means that the program is gone, and until then its pid is its own.
 * 4. When this process died, the shell tidies up in its place.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { text } from 'node:stream/consumers'
import type { Readable } from 'node:stream'

export interface GuardedProgram {
  readonly pid: Promise<number>
  /** Resolves with the program's exit status (128 + n after signal n) once it is gone. */
  readonly ended: Promise<number>
  isRunning(): boolean
  /** Lets the shell do what it does when this process dies. */
  interrupt(): void
  /** Whether a running program keeps this process from ending by itself; at first it does. */
  holdProcess(hold: boolean): void
}

export interface GuardOptions {
  /** Open file that receives everything the program prints. */
  readonly logFile: number
  /** Removed with its contents if this process dies. */
  readonly removeAfterDeath?: string | undefined
}

// Descriptors: 3 reports the program's pid, 4 is the pipe (a background command's own input is /dev/null).
// The program gets neither. It inherits ignored signals, but installs handlers of its own.
// A watcher that had to be killed had seen no end of the pipe.
const GUARD_SCRIPT = `
trap '' HUP INT QUIT TERM
remove=$1; shift
exec 4<&0 </dev/null
"$@" 3>&- 4<&- &
program=$!
echo "$program" >&3
exec 3>&-
( while read -r _ <&4; do :; done; kill -INT "$program" ) 2>/dev/null &
watcher=$!
wait "$program"; status=$?
kill -KILL "$watcher" 2>/dev/null
wait "$watcher" 2>/dev/null
if [ $? -lt 128 ] && [ -n "$remove" ]; then rm -rf -- "$remove"; fi
exit "$status"
`

export function startGuarded(command: readonly string[], options: GuardOptions): GuardedProgram {
  const args = ['-c', GUARD_SCRIPT, 'noetl-guard', options.removeAfterDeath ?? '', ...command]
  const child = spawn('/bin/sh', args, {
    detached: true,
    stdio: ['pipe', options.logFile, options.logFile, 'pipe'],
    // Messages are matched and shown: one language, whatever the user's.
    env: { ...process.env, LC_ALL: 'C' },
  })
  let running = true
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', (error) => {
      running = false
      reject(error)
    })
    child.once('exit', (code) => {
      running = false
      resolve(code ?? 128)
    })
  })
  // Whoever awaits `ended` sees the failure; nobody has to.
  ended.catch(() => undefined)
  // The writing end breaks when the shell is killed from outside; `ended` tells that already.
  child.stdin?.on('error', () => undefined)
  return {
    pid: text(child.stdio[3] as Readable).then(Number),
    ended,
    isRunning: () => running,
    interrupt: () => child.stdin?.destroy(),
    holdProcess: (hold) => (hold ? child.ref() : letGo(child)),
  }
}

function letGo(child: ChildProcess): void {
  child.unref()
  // The pipe is a socket underneath, which its type does not tell.
  const pipe = child.stdin as unknown as { unref?: () => void } | null
  pipe?.unref?.()
}
