import type { ToolDeclaration } from './tool-declaration.ts'

export const noop: ToolDeclaration = {
  kind: 'noop',
  title: 'Nothing',
  description: 'Does nothing. Its data is result, or a note with the message.',
  fields: {
    result: {
      title: 'Result',
      type: 'any',
      description: 'The data of the step.',
      examples: [{ ready: true }],
    },
    message: { title: 'Message', type: 'any', description: 'A note in the data.', examples: ['done'] },
  },
  examples: [{ result: { ready: true } }, { message: 'waiting for nothing' }],
  notes: ['It never fails.'],
}
