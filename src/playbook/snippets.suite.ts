/** Small playbooks for tests: a valid frame around the few lines that a test is about. */
import { parsePlaybook } from './parse.ts'
import type { ParseResult } from './parse.ts'
import type { Playbook, Step, Task } from './model.ts'
import type { Diagnostic } from './problem.ts'

export const HEADER = `apiVersion: noetl.io/v2
kind: Playbook
metadata: { name: sample }
`

/** Indents a snippet; its own relative indentation stays. */
const indent = (text: string, by: number): string =>
  text
    .trim()
    .split('\n')
    .map((line) => ' '.repeat(by) + line)
    .join('\n')

/** A playbook whose workflow is this list. */
export const workflow = (steps: string): string => `${HEADER}workflow:\n${indent(steps, 2)}\n`

/** A playbook whose step `start` has these keys, followed by the routers `b` and `c`. */
export const startStep = (keys: string): string =>
  `${HEADER}workflow:\n  - step: start\n${indent(keys, 4)}\n  - step: b\n  - step: c\n`

export const diagnostics = (text: string): readonly Diagnostic[] => {
  const result = parsePlaybook(text)
  return result.ok ? result.warnings : result.problems
}

export const codes = (text: string, severity: Diagnostic['severity'] = 'error'): readonly string[] =>
  diagnostics(text)
    .filter((each) => each.severity === severity)
    .map((each) => each.code)

/** Warnings other than those about the unconnected steps of the frame. */
export const advice = (text: string): readonly string[] =>
  codes(text, 'warning').filter((code) => code !== 'unreachable-step')

export const find = (text: string, code: string): Diagnostic => {
  const found = diagnostics(text).find((each) => each.code === code)
  if (found === undefined) throw new Error(`no ${code} among ${JSON.stringify(diagnostics(text))}`)
  return found
}

export const valid = (text: string): Playbook => {
  const result: ParseResult = parsePlaybook(text)
  if (!result.ok) throw new Error(result.problems.map((each) => `${each.line}: ${each.message}`).join('\n'))
  return result.playbook
}

/** The step `start` of a playbook whose start step has these keys. */
export const start = (keys: string): Step => stepNamed(valid(startStep(keys)), 'start')

const stepNamed = (playbook: Playbook, name: string): Step => {
  const step = playbook.steps.find((each) => each.name === name)
  if (step === undefined) throw new Error(`no step ${name}`)
  return step
}

/** The first task of the step `start`. */
export const firstTask = (keys: string): Task => {
  const [task] = start(keys).body.tasks
  if (task === undefined) throw new Error('no task')
  return task
}
