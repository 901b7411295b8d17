/** Playbooks of a given shape, for tests of the path they take rather than of the language. */

const playbook = (path: string, steps: readonly string[], workload = ''): string =>
  `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: { name: ${path}, path: ${path} }\n${workload}workflow:\n${steps.join('')}`

const step = (name: string, next: readonly string[], extra = ''): string => {
  const arcs = next.map((to) => `{ step: ${to} }`).join(', ')
  const routing = next.length === 0 ? '' : `    next: { spec: { mode: inclusive }, arcs: [${arcs}] }\n`
  return `  - step: ${name}\n${extra === '' ? '    tool: { kind: noop, result: { from: ' + name + ' } }\n' : extra}${routing}`
}

/** start -> s2 -> s3 ... */
export const chain = (path: string, length: number): string => {
  const names = Array.from({ length }, (_, index) => (index === 0 ? 'start' : `s${index + 1}`))
  return playbook(
    path,
    names.map((name, index) => step(name, index + 1 < length ? [names[index + 1] ?? ''] : [])),
  )
}

/** start -> p1 .. pN -> join */
export const fanOut = (path: string, width: number): string => {
  const branches = Array.from({ length: width }, (_, index) => `p${index + 1}`)
  return playbook(path, [
    step('start', branches),
    ...branches.map((name) => step(name, ['join'])),
    step('join', []),
  ])
}

/** A parallel loop over the numbers below `count`, then one more step. */
export const loopOver = (path: string, count: number): string => {
  const items = `[${Array.from({ length: count }, (_, index) => index).join(', ')}]`
  const body = `    loop: { in: ${items}, iterator: item, spec: { mode: parallel } }\n    tool: { kind: noop, result: "{{ item }}" }\n`
  return playbook(path, [step('start', ['after'], body), step('after', [])])
}

/** One step of a python tool that nobody here runs: whoever leases it decides what comes of it. */
export const single = (path: string): string =>
  playbook(path, [step('start', [], '    tool: { kind: python, code: "result = 1" }\n')])
