/** Kinds that the language itself takes apart; no worker ever sees them. */
import type { ToolDeclaration } from './tool-declaration.ts'

export const workbook: ToolDeclaration = {
  kind: 'workbook',
  title: 'Workbook tool',
  description: 'Runs a reusable tool of the workbook. Only its name and input are read.',
  fields: {
    name: {
      title: 'Name',
      type: 'text',
      description: 'Name of the tool in the workbook.',
      examples: ['score'],
    },
  },
  open: true,
  examples: [{ name: 'score', input: { n: 2 } }],
}

export const taskSequence: ToolDeclaration = {
  kind: 'task_sequence',
  title: 'Tasks',
  description: 'Runs tasks one after the other; a list under tool means the same.',
  fields: {
    tasks: {
      title: 'Tasks',
      type: 'any',
      description: 'The tasks.',
      examples: [[{ name: 'fetch', kind: 'http', url: 'https://example.com' }]],
    },
  },
  open: true,
  examples: [{ tasks: [{ name: 'fetch', kind: 'http', url: 'https://example.com' }] }],
}

export const iterator: ToolDeclaration = {
  kind: 'iterator',
  title: 'Iterator',
  description: 'Kept for older playbooks; write loop on the step.',
  fields: {},
  open: true,
  examples: [{ collection: '{{ workload.items }}' }],
  unavailable: 'an older engine; write loop on the step',
}
