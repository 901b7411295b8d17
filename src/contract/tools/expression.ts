import type { ToolDeclaration } from './tool-declaration.ts'

export const expression: ToolDeclaration = {
  kind: 'expression',
  title: 'Expression',
  description:
    'Computes values from its input with the expressions of the template language. Its data is the value.',
  fields: {
    expr: {
      title: 'Expression',
      type: 'any',
      description: 'One expression, or a mapping or list of them. Input keys are its names.',
      aliases: ['code', 'expression'],
      required: true,
      examples: ['price * count', { total: 'price * count', label: 'name | upper' }],
    },
  },
  examples: [{ input: { price: 2, count: 3 }, expr: 'price * count' }],
}
