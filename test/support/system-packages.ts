/**
 * Programs of the system that tests run for real. Where one is missing it is installed from Debian's packages; where
 * that is not possible the run ends at once and says what to install.
 */
import { spawnSync } from 'node:child_process'

interface Needed {
  readonly program: string
  readonly debianPackage: string
  readonly reason: string
}

const NEEDED: readonly Needed[] = [
  { program: 'python3', debianPackage: 'python3', reason: 'python steps run in it' },
  { program: 'nats-server', debianPackage: 'nats-server', reason: 'the tool nats talks to one' },
]

const isThere = (program: string): boolean =>
  spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined

const mayInstall = (): boolean => process.getuid?.() === 0 && isThere('apt-get')

const install = (names: readonly string[]): void => {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...names]]) {
    spawnSync('apt-get', ['-qq', ...args], { stdio: ['ignore', 'ignore', 'inherit'], env })
  }
}

export default function setup(): void {
  const missing = NEEDED.filter(({ program }) => !isThere(program))
  if (missing.length > 0 && mayInstall()) install(missing.map(({ debianPackage }) => debianPackage))
  const still = missing.filter(({ program }) => !isThere(program))
  if (still.length === 0) return
  const lines = still.map(
    ({ program, debianPackage, reason }) => `${program} (${reason}): apt-get install ${debianPackage}`,
  )
  throw new Error(`The tests need programs that are not installed:\n  ${lines.join('\n  ')}`)
}
