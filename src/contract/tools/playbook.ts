import type { ToolDeclaration, ToolFields } from './tool-declaration.ts'

const playbookFields: ToolFields = {
  path: {
    title: 'Path',
    type: 'text',
    description: 'Path of the playbook in the catalog; its newest version runs.',
    examples: ['reports/daily'],
  },
  catalog_id: {
    title: 'Catalog id',
    type: 'text',
    description: 'Id of one version, instead of a path.',
    examples: ['1234567890'],
  },
  version: { title: 'Version', type: 'text', description: 'Version of the path.', examples: [3] },
  payload: {
    title: 'Payload',
    type: 'mapping',
    description: 'Workload of the child; input wins over it.',
    examples: [{ day: '2026-01-31' }],
  },
  return_step: {
    title: 'Wait for a step',
    type: 'text',
    description:
      'Waits for the child and gives the data of this step of it. Without it, or return_result, the step does not wait.',
    examples: ['end'],
  },
  return_result: {
    title: 'Wait for the result',
    type: 'flag',
    description: 'true: waits for the child and gives its final data.',
    examples: [true],
  },
  result_step: {
    title: 'Step of the result',
    type: 'text',
    description: 'With return_result: the step whose data is meant.',
    examples: ['report'],
  },
  poll_interval: {
    title: 'Interval',
    type: 'duration',
    description: 'Kept for existing playbooks: the end of a child is told, not asked for.',
    examples: [2],
  },
  parent_execution_id: {
    title: 'Parent',
    type: 'text',
    description: 'Kept for existing playbooks: the parent is the execution that runs the tool.',
  },
}

export const playbook: ToolDeclaration = {
  kind: 'playbook',
  title: 'Playbook',
  description: 'Runs another playbook as a child. input is its workload.',
  fields: playbookFields,
  oneOf: [{ fields: ['path', 'catalog_id'], message: "A playbook tool needs 'path' or 'catalog_id'" }],
  examples: [{ path: 'reports/daily', return_step: 'end', input: { day: '2026-01-31' } }],
  data: {
    'execution_id, status, path': 'of the child',
    data: 'of the step that was asked for; its fields stand at the top level too',
  },
  notes: [
    'A child that fails is an error of kind `sub_playbook`. Without return_step or return_result nothing is waited for.',
  ],
}

export const agent: ToolDeclaration = {
  kind: 'agent',
  title: 'Agent',
  description: 'Runs a playbook as an agent: its errors are part of the data.',
  fields: {
    ...playbookFields,
    framework: {
      title: 'Framework',
      type: 'text',
      description: 'What runs the agent.',
      examples: ['noetl'],
    },
  },
  open: true,
  examples: [{ framework: 'noetl', path: 'agents/triage' }],
  unavailable:
    'an agent framework; use kind: playbook with return_result, and an arc that reads output.error',
}

export const playbooks: ToolDeclaration = {
  kind: 'playbooks',
  title: 'Playbooks',
  description: 'Runs several playbooks where a worker offers it.',
  fields: {
    path: {
      title: 'Path',
      type: 'text',
      description: 'Path of the playbooks in the catalog.',
      examples: ['reports'],
    },
  },
  open: true,
  examples: [{ path: 'reports' }],
  unavailable: 'a worker that runs whole folders; use a loop over paths with kind: playbook',
}
