import type { ToolDeclaration, ToolField } from './tool-declaration.ts'

const reference: ToolField = {
  title: 'Reference',
  type: ['text', 'mapping'],
  description: 'The reference of a stored result, or what stands for it; may be given as input, too.',
  aliases: ['ref', '_ref'],
  examples: ['{{ load_items._ref }}'],
}

export const artifact: ToolDeclaration = {
  kind: 'artifact',
  title: 'Artifact',
  description:
    'Loads data that is stored apart (get), or stores data apart (put): then the step has a reference.',
  fields: {
    action: {
      title: 'Action',
      type: 'text',
      description: 'get, which is meant when left out, or put.',
      words: ['get', 'put'],
      examples: ['get', 'put'],
    },
    result_ref: reference,
    data: {
      title: 'Data',
      type: 'any',
      description: 'With put: what is stored; may be given as input, too.',
      examples: ['{{ build_report }}'],
    },
    uri: {
      title: 'Address',
      type: 'text',
      description: 'The reference as an address.',
      examples: ['noetl://execution/1/result/load/2'],
    },
  },
  examples: [
    { action: 'get', input: { result_ref: '{{ load_items._ref }}' } },
    { action: 'put', input: { data: '{{ build_report }}' } },
  ],
  notes: [
    'With put, the data of the step is what was stored, and `_ref` of the step is its reference. It needs a step of its own, outside of pipelines and loops.',
    'A reference that leads nowhere is an error of kind `storage` with the code `REFERENCE_NOT_AVAILABLE`.',
  ],
}

export const resultFetch: ToolDeclaration = {
  kind: 'result_fetch',
  title: 'Result',
  description: 'Loads the result that a reference stands for.',
  fields: {
    ref: { ...reference, aliases: ['result_ref', 'uri', '_ref'] },
    prefer: { title: 'Way', type: 'text', description: 'flight or http; http is used.', examples: ['http'] },
    flight_endpoint: {
      title: 'Flight',
      type: 'text',
      description: 'Kept for existing playbooks; has no effect.',
    },
  },
  examples: [{ ref: '{{ load_items._ref }}' }],
}
