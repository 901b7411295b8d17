/**
 * The one check, the same on a laptop and in CI: format, lint, types, dead code, tests. Stops at the first stage
 * that fails and says how to repair it.
 *
 *   npm run check              everything
 *   npm run check -- --fix     first repairs what can be repaired by itself
 *   npm run check -- --no-tests
 */
import { spawnSync } from 'node:child_process'
import { delimiter, resolve } from 'node:path'
import { parseArgs } from 'node:util'

interface Stage {
  readonly name: string
  readonly command: readonly string[]
  /** What `--fix` runs before the stage. */
  readonly fix?: readonly string[]
  readonly advice: string
}

const STAGES: readonly Stage[] = [
  { name: 'format', command: ['oxfmt', '--check', '.'], fix: ['oxfmt', '.'], advice: 'npm run format' },
  {
    name: 'lint',
    command: ['oxlint', '--type-aware'],
    fix: ['oxlint', '--type-aware', '--fix'],
    advice: 'npm run check -- --fix, then look at what is left',
  },
  { name: 'types', command: ['node', 'scripts/types.ts'], advice: 'npm run types' },
  { name: 'dead code', command: ['knip'], advice: 'remove what is listed, or the export of it' },
  { name: 'tests', command: ['vitest', 'run'], advice: 'npx vitest run PATH for one file' },
]

const root = resolve(import.meta.dirname, '..')
const { values } = parseArgs({
  options: { fix: { type: 'boolean', default: false }, 'no-tests': { type: 'boolean', default: false } },
})

// The pinned Node and the tools of this checkout, whatever the caller's path says.
const env = {
  ...process.env,
  PATH: `${resolve(root, 'node_modules/.bin')}${delimiter}${process.env['PATH'] ?? ''}`,
}
const run = ([program = '', ...rest]: readonly string[]): boolean =>
  spawnSync(program, rest, { cwd: root, stdio: 'inherit', env }).status === 0

const begin = performance.now()
for (const stage of STAGES) {
  if (values['no-tests'] && stage.name === 'tests') continue
  console.log(`\n── ${stage.name}: ${stage.command.join(' ')}`)
  const start = performance.now()
  if (values.fix && stage.fix) run(stage.fix)
  const passed = run(stage.command)
  console.log(`── ${stage.name} ${passed ? 'passed' : 'FAILED'} in ${seconds(start)} s`)
  if (!passed) {
    console.log(`   to repair: ${stage.advice}`)
    process.exit(1)
  }
}
console.log(`\nEverything passed in ${seconds(begin)} s`)

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(1)
}
