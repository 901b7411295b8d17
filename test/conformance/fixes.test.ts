/**
 * Every number of the list of required corrections, with the tests that hold it. Nothing is taken on trust: each named
 * test must exist in its file, and must run. Likewise every one of the 113 numbered cases has a test here.
 */
import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const FIXES = 81
const CASES = 113

const CONFORMANCE = {
  document: 'test/conformance/document.pg.test.ts',
  workload: 'test/conformance/workload.pg.test.ts',
  templates: 'test/conformance/templates.pg.test.ts',
  routing: 'test/conformance/routing.pg.test.ts',
  joins: 'test/conformance/guards-joins.pg.test.ts',
  cycles: 'test/conformance/cycles.pg.test.ts',
  loops: 'test/conformance/loops.pg.test.ts',
  pipelines: 'test/conformance/pipelines.pg.test.ts',
  failure: 'test/conformance/failure.pg.test.ts',
  children: 'test/conformance/sub-playbooks-results.pg.test.ts',
  fixes: 'test/conformance/fixes.pg.test.ts',
} as const

/** Number of the correction, where its test is, and how the name of that test begins. */
const COVERED: readonly (readonly [number, string, string])[] = [
  [1, CONFORMANCE.fixes, 'fix 1:'],
  [2, CONFORMANCE.fixes, 'fix 2:'],
  [3, CONFORMANCE.workload, 'case 21:'],
  [4, CONFORMANCE.children, 'case 112:'],
  [4, CONFORMANCE.fixes, 'fix 4:'],
  [5, CONFORMANCE.workload, 'case 24:'],
  [6, CONFORMANCE.document, 'case 13:'],
  [6, CONFORMANCE.templates, 'case 34:'],
  [7, CONFORMANCE.fixes, 'fix 7:'],
  [7, CONFORMANCE.document, 'case 16:'],
  [8, 'src/playbook/body.test.ts', 'names the offending key'],
  [9, CONFORMANCE.document, 'case 18:'],
  [10, CONFORMANCE.joins, 'case 53:'],
  [11, CONFORMANCE.joins, 'case 54:'],
  [12, CONFORMANCE.joins, 'case 55:'],
  [13, CONFORMANCE.workload, 'case 23:'],
  [14, CONFORMANCE.fixes, 'fix 14:'],
  [15, CONFORMANCE.fixes, 'fix 15:'],
  [16, CONFORMANCE.pipelines, 'case 81:'],
  [17, CONFORMANCE.pipelines, 'case 93:'],
  [18, CONFORMANCE.document, 'case 11:'],
  [18, 'src/playbook/body.test.ts', 'may be of any known kind'],
  [19, CONFORMANCE.pipelines, 'case 79:'],
  [20, CONFORMANCE.fixes, 'fix 20:'],
  [
    21,
    CONFORMANCE.fixes,
    'fix 20: every statement of an SQL text has its result, and RETURNING has its rows (fix 21)',
  ],
  [
    21,
    'src/worker/tools/postgres.pg.test.ts',
    'of a change says how many rows, and RETURNING has rows whatever comes first',
  ],
  [22, CONFORMANCE.fixes, 'fix 22:'],
  [23, CONFORMANCE.children, 'case 107:'],
  [24, CONFORMANCE.children, 'case 108: the input of a pipeline task'],
  [
    24,
    'src/worker/pipeline/read-pipeline.test.ts',
    'the argument vector of a container is rendered and stays in its block',
  ],
  [25, CONFORMANCE.fixes, 'fix 25:'],
  [26, CONFORMANCE.fixes, 'fix 26:'],
  [27, CONFORMANCE.loops, 'case 72:'],
  [28, CONFORMANCE.loops, 'case 69:'],
  [29, CONFORMANCE.loops, 'case 77: a cursor loop claims frames'],
  [
    29,
    'src/engine/start.test.ts',
    'over anything else refuses the start with the type, and nothing is written',
  ],
  [30, CONFORMANCE.fixes, 'fix 30:'],
  [31, CONFORMANCE.loops, 'case 71:'],
  [32, CONFORMANCE.fixes, 'fix 32:'],
  [33, CONFORMANCE.loops, 'case 74: a parallel loop'],
  [34, CONFORMANCE.loops, 'case 75:'],
  [35, CONFORMANCE.fixes, 'fix 35:'],
  [36, CONFORMANCE.loops, 'case 77: a cursor loop claims frames'],
  [37, CONFORMANCE.loops, 'case 68:'],
  [38, CONFORMANCE.routing, 'case 50:'],
  [39, CONFORMANCE.fixes, 'fix 39:'],
  [40, CONFORMANCE.routing, 'case 46:'],
  [41, CONFORMANCE.failure, 'case 99:'],
  [42, CONFORMANCE.routing, 'case 47:'],
  [43, CONFORMANCE.templates, 'case 32:'],
  [44, CONFORMANCE.templates, 'case 30:'],
  [45, CONFORMANCE.templates, 'case 26:'],
  [46, CONFORMANCE.pipelines, 'case 79:'],
  [46, CONFORMANCE.fixes, 'fix 46:'],
  [47, CONFORMANCE.templates, 'case 33:'],
  [48, CONFORMANCE.failure, 'case 102:'],
  [49, CONFORMANCE.fixes, 'fix 49:'],
  [49, CONFORMANCE.pipelines, 'case 90:'],
  [50, CONFORMANCE.templates, 'case 36:'],
  [51, CONFORMANCE.fixes, 'fix 51:'],
  [52, CONFORMANCE.fixes, 'fix 52:'],
  [53, CONFORMANCE.fixes, 'fix 53:'],
  [53, CONFORMANCE.pipelines, 'case 91:'],
  [54, CONFORMANCE.routing, 'case 51:'],
  [55, CONFORMANCE.pipelines, 'case 94:'],
  [56, CONFORMANCE.fixes, 'fix 56:'],
  [57, CONFORMANCE.pipelines, 'case 92:'],
  [58, CONFORMANCE.loops, 'case 78:'],
  [59, CONFORMANCE.fixes, 'fix 59:'],
  [60, CONFORMANCE.fixes, 'fix 60:'],
  [61, CONFORMANCE.document, 'case 1:'],
  [62, CONFORMANCE.children, 'case 111'],
  [63, CONFORMANCE.failure, 'case 103:'],
  [64, CONFORMANCE.children, 'case 113:'],
  [65, CONFORMANCE.fixes, 'fix 65:'],
  [66, CONFORMANCE.joins, 'case 57:'],
  [67, CONFORMANCE.joins, 'case 58:'],
  [68, CONFORMANCE.cycles, 'case 63:'],
  [69, CONFORMANCE.cycles, 'case 65:'],
  [70, CONFORMANCE.fixes, 'fix 70:'],
  [70, CONFORMANCE.cycles, 'case 66:'],
  [71, CONFORMANCE.failure, 'case 100:'],
  [72, CONFORMANCE.failure, 'case 97'],
  [73, CONFORMANCE.joins, 'case 61:'],
  [74, CONFORMANCE.routing, 'case 44:'],
  [75, 'src/engine/routing.test.ts', 'starts ready steps in workflow order, not in arc order'],
  [75, 'src/engine/histories.test.ts', 'is decided the same way again'],
  [76, CONFORMANCE.children, 'case 109:'],
  [77, 'src/server/routes/executions.pg.test.ts', 'tells status and progress, the same in every answer'],
  [78, CONFORMANCE.failure, 'case 104:'],
  [79, CONFORMANCE.cycles, 'case 64:'],
  [80, CONFORMANCE.fixes, 'fix 80:'],
  [81, CONFORMANCE.fixes, 'fix 81:'],
]

/** The beginning of a test that runs: `test.todo`, `test.skip` and `test.fails` are none. */
const TEST = /^\s*(?:test|it)(?:\.each\([\s\S]*?\))?\(\s*(['"`])(.*?)(?<!\\)\1/gm
/** Names that stand in the rows of a table of tests. */
const ROW = /^\s*\[\s*(['"`])(case \d+.*?)(?<!\\)\1/gm

const namesOf = (file: string): readonly string[] => {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(TEST), ...text.matchAll(ROW)].map((match) => match[2] ?? '')
}

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1)

test.each(COVERED)('correction %i is held by %s, %s', (_, file, name) => {
  expect(namesOf(file).filter((found) => found.startsWith(name))).not.toEqual([])
})

test('no correction is left out', () => {
  const numbers = new Set(COVERED.map(([number]) => number))
  expect(range(FIXES).filter((number) => !numbers.has(number))).toEqual([])
})

test('every numbered case has a test that runs', () => {
  const names = globSync('test/conformance/*.pg.test.ts').flatMap(namesOf)
  const numbers = new Set(names.map((name) => Number(/^case (\d+)\b/.exec(name)?.[1] ?? 0)))
  expect(range(CASES).filter((number) => !numbers.has(number))).toEqual([])
})
