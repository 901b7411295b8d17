/**
 * Families that have grown: every child there will be has been started, and the leaves wait for a worker. For tests of
 * what reaches a whole family, such as a cancel.
 */
import { expect } from 'vitest'
import type { Family } from './family.ts'
import { createFamily, familyPlaybook } from './family.ts'
import type { TestServer } from './server.ts'

/** The step of a leaf, which waits for a worker. */
export const WORK = 'tool: {kind: python, code: x}'

const waitingFor = (path: string, loop = ''): string =>
  `\n  - {step: start, ${loop}tool: {kind: playbook, path: tests/${path}, return_result: true}}`
const inParallel = (list: string): string => `loop: {in: ${list}, iterator: item, spec: {mode: parallel}}, `

const PLAYBOOKS = {
  leaf: `\n  - {step: start, ${WORK}}`,
  middle: waitingFor('leaf'),
  /** Two children, each with a child of its own. */
  top: waitingFor('middle', inParallel('[1, 2]')),
  wide: waitingFor('leaf', inParallel("'{{ range(120) | list }}'")),
  /** Its child is left running when it is over itself. */
  lets_go: `\n  - {step: start, tool: {kind: playbook, path: tests/leaf}}`,
}

/** A family on this server that can start any of the playbooks, as `tests/leaf` and so on. */
export const aFamily = async (server: TestServer): Promise<Family> => {
  for (const [path, steps] of Object.entries(PLAYBOOKS))
    await server.register(familyPlaybook(`tests/${path}`, steps))
  return createFamily(server)
}

/** Starts children until there are none to start. */
export const grow = async (family: Family): Promise<void> => {
  for (;;) {
    const commands = await family.leaseStarts()
    if (commands.length === 0) return
    for (const command of commands) await family.report(command, await family.start(command))
  }
}

const descendants = async (family: Family, id: string): Promise<readonly string[]> => {
  const children = await family.children(id)
  return [...children, ...(await Promise.all(children.map((child) => descendants(family, child)))).flat()]
}

export interface GrownFamily {
  readonly family: Family
  readonly id: string
  /** Every execution below it. */
  readonly below: readonly string[]
}

export const aGrownFamily = async (
  server: TestServer,
  path: keyof typeof PLAYBOOKS,
): Promise<GrownFamily> => {
  const family = await aFamily(server)
  const id = await server.execute(`tests/${path}`)
  await grow(family)
  return { family, id, below: await descendants(family, id) }
}

/** A grandparent with two children, each with a child of its own that waits for a worker. */
export const aTree = async (server: TestServer): Promise<GrownFamily> => {
  const tree = await aGrownFamily(server, 'top')
  expect(tree.below).toHaveLength(4)
  return tree
}

export const statusesOf = async (family: Family, ids: readonly string[]): Promise<readonly string[]> =>
  (await Promise.all(ids.map((id) => family.row(id)))).map((row) => row.status)
