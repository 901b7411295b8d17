/**
 * Writes into package-lock.json the packages of other platforms that npm could not look up. `npm ci` refuses a lock file
 * that does not know every optional dependency, also those it would never install here. Run it after `npm install`.
 */
import { readFileSync, writeFileSync } from 'node:fs'

interface Locked {
  version?: string
  dev?: boolean
  optional?: boolean
  license?: string
  cpu?: string[]
  os?: string[]
  libc?: string[]
  optionalDependencies?: Record<string, string>
}

const FILE = 'package-lock.json'
const SYSTEMS = [
  'android',
  'darwin',
  'freebsd',
  'linux',
  'openharmony',
  'win32',
  'windows',
  'sunos',
  'netbsd',
  'openbsd',
  'aix',
]
const PROCESSORS = [
  'arm',
  'arm64',
  'x64',
  'ia32',
  'ppc64',
  'riscv64',
  's390x',
  'loong64',
  'mips64el',
  'wasm32',
]

/** What the name of a platform package says: `@scope/binding-linux-arm64-musl`. */
const platformOf = (name: string): Pick<Locked, 'cpu' | 'os' | 'libc'> | null => {
  const words = name.split('/').at(-1)?.split('-') ?? []
  const cpu = words.find((word) => PROCESSORS.includes(word))
  const os = words.find((word) => SYSTEMS.includes(word))
  if (cpu === undefined || (os === undefined && cpu !== 'wasm32')) return null
  const libc = words.some((word) => word.startsWith('musl'))
    ? 'musl'
    : words.some((word) => word.startsWith('gnu'))
      ? 'glibc'
      : null
  return {
    cpu: [cpu],
    ...(os === undefined ? {} : { os: [os === 'windows' ? 'win32' : os] }),
    ...(libc === null ? {} : { libc: [libc] }),
  }
}

const lock = JSON.parse(readFileSync(FILE, 'utf8')) as { packages: Record<string, Locked> }
const { packages } = lock
let added = 0
for (const parent of Object.values(packages)) {
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    const path = `node_modules/${name}`
    const platform = platformOf(name)
    if (path in packages || !platform) continue
    const { dev, license } = parent
    packages[path] = {
      version,
      ...(dev ? { dev } : {}),
      ...(license ? { license } : {}),
      optional: true,
      ...platform,
    }
    added += 1
  }
}
lock.packages = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`)
console.log(`${added} packages of other platforms added to ${FILE}`)
