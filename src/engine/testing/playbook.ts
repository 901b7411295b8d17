/** Playbooks for tests: the workflow is written out, the header is not. */
import { parsePlaybook } from '../../playbook/parse.ts'
import type { Graph } from '../graph.ts'
import { createGraph } from '../graph.ts'

export const HEADER = 'apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: test, path: tests/test}\n'

/** A whole document to its graph. */
export const graphOf = (text: string): Graph => {
  const result = parsePlaybook(text)
  if (result.ok) return createGraph(result.playbook)
  throw new Error(
    `The playbook of this test is not valid:\n${JSON.stringify(result.problems, null, 2)}\n${text}`,
  )
}

/** `head`: further top-level lines such as a workload or an executor. */
export const aPlaybook = (workflow: string, head = ''): Graph =>
  graphOf(`${HEADER}${head}\nworkflow:\n${workflow}`)
