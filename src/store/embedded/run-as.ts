/**
 * PostgreSQL refuses to run as root, and NoETL often is root (containers, build machines). This decides under which
 * identity the server programs run.
 *
 * 1. A normal user runs them directly.
 * 2. Root runs them inside a user namespace, where root appears as an ordinary user: files stay owned by root, programs
 *    below /root stay reachable, and no account is created.
 * 3. Where user namespaces are forbidden, root runs them as an unprivileged user that keeps the one right to pass file
 *    permissions, for the same reason (programs and data may lie below /root).
 * 4. A cluster that belongs to a user is run as that user, so that `sudo` once does not lock its owner out.
 */
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { ProblemError } from '../../contract/problem.ts'

export interface Owner {
  readonly uid: number
  readonly gid: number
}

export interface RunAs {
  /** Who must own the files the server uses; null: whoever creates them. */
  readonly owner: Owner | null
  /** The command line that runs the given one under this identity. */
  wrap(command: readonly string[]): string[]
}

/** `nobody` on every common system; no account has to exist for it. */
const UNPRIVILEGED: Owner = { uid: 65_534, gid: 65_534 }

const DIRECT: RunAs = { owner: null, wrap: (command) => [...command] }

const IN_NAMESPACE: RunAs = {
  owner: { uid: 0, gid: 0 },
  wrap: (command) => ['unshare', '--user', '--map-user=1000', '--map-group=1000', ...command],
}

export function chooseRunAs(clusterDir: string): RunAs {
  if (process.getuid?.() !== 0) return DIRECT
  const existing = statSync(clusterDir, { throwIfNoEntry: false })
  const belongsToUser = existing !== undefined && existing.uid !== 0
  if (!belongsToUser && works(IN_NAMESPACE)) return IN_NAMESPACE
  const asUser = withoutPrivileges(belongsToUser ? { uid: existing.uid, gid: existing.gid } : UNPRIVILEGED)
  if (works(asUser)) return asUser
  throw new ProblemError(
    'unavailable',
    'PostgreSQL does not run as root, and neither `unshare --user` nor `setpriv` is available to give it another ' +
      'identity. Run NoETL as a normal user, or set NOETL_DATABASE_URL to a running server.',
  )
}

function withoutPrivileges(owner: Owner): RunAs {
  const identity = [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups']
  // Without no_setuid_fixup the kernel drops the kept right for access(2), which the server uses on its own files.
  const kept = ['--securebits=+no_setuid_fixup', '--inh-caps=+dac_override', '--ambient-caps=+dac_override']
  return { owner, wrap: (command) => ['setpriv', ...identity, ...kept, ...command] }
}

function works(runAs: RunAs): boolean {
  const [program, ...args] = runAs.wrap(['true'])
  return program !== undefined && spawnSync(program, args, { stdio: 'ignore' }).status === 0
}
