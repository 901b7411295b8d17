/** Type-checks the whole project, then each pure folder by itself, where the compiler knows no platform. */
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const folders = [
  '.',
  ...globSync('src/*/tsconfig.json', { cwd: root })
    .map((file) => dirname(file))
    .sort(),
]
const failed = folders.filter((folder) => {
  const { status } = spawnSync(resolve(root, 'node_modules/.bin/tsc'), ['-p', folder], {
    cwd: root,
    stdio: 'inherit',
  })
  return status !== 0
})
if (failed.length > 0) {
  console.error(`Types do not hold in: ${failed.join(', ')}`)
  process.exitCode = 1
}
