/** Which program runs containers on this machine: the one that was named, else docker, else podman, whichever answers. */
import { runProcess } from '../shell/run-process.ts'
import { toolUnavailable } from '../tool-unavailable.ts'

type Env = Readonly<Record<string, string | undefined>>

const CANDIDATES = ['docker', 'podman'] as const
const never = new AbortController().signal

/** Null when it answers; else why it does not. */
const complaintOf = async (program: string, env: Env): Promise<string | null> => {
  try {
    const { exitCode, stderr } = await runProcess({
      program,
      args: ['version'],
      cwd: process.cwd(),
      env,
      stdin: null,
      script: null,
      maxOutputBytes: 10_000,
      signal: never,
      onOutput: () => undefined,
    })
    return exitCode === 0 ? null : (stderr.trim().split('\n').at(-1) ?? `exit code ${exitCode}`)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Throws a ToolFailure that says what to install. */
export const findRuntime = async (named: string | null, env: Env): Promise<string> => {
  const complaints: string[] = []
  for (const program of named === null ? CANDIDATES : [named]) {
    const complaint = await complaintOf(program, env)
    if (complaint === null) return program
    complaints.push(`${program}: ${complaint}`)
  }
  throw toolUnavailable(
    'This worker cannot run containers. Install docker or podman and see that its service runs, or name the program in ' +
      `NOETL_CONTAINER_RUNTIME. (${complaints.join('; ')})`,
  )
}
