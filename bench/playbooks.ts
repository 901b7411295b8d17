/** The workloads: a chain, short executions, one wide loop. All tools are no-ops: what is left is the engine. */
const header = (name: string): string =>
  `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: { name: ${name}, path: bench/${name} }\n`

export const chainPlaybook = (name: string, steps: number): string =>
  header(name) +
  'workflow:\n' +
  Array.from({ length: steps }, (_, index) => {
    const step = index === 0 ? 'start' : `step_${index}`
    const next = index < steps - 1 ? `\n    next: step_${index + 1}` : ''
    return `  - step: ${step}\n    tool: { kind: noop, result: { index: ${index} } }${next}`
  }).join('\n')

export const loopPlaybook = (name: string): string =>
  header(name) +
  `workload: { items: 1000 }
workflow:
  - step: start
    tool: { kind: noop }
    next: work
  - step: work
    loop: { in: "{{ range(items) }}", iterator: item, spec: { mode: parallel } }
    tool: { kind: noop, result: { item: "{{ item }}" } }
`
