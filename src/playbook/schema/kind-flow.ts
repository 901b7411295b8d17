/** Kinds that are part of the flow itself: nothing, a reusable tool, another playbook, a sequence of tasks. */
import { kind } from './kind-field.ts'
import type { KindNotes } from './kind-field.ts'
import { about } from './parts.ts'

const playbook = {
  path: about('Path', 'Path of the playbook in the catalog; its newest version runs.', 'reports/daily'),
  catalog_id: about('Catalog id', 'Id of one version, instead of a path.', '1234567890'),
  version: about('Version', 'Version of the path.', 3),
  payload: about('Payload', 'Workload of the child; input wins over it.', { day: '2026-01-31' }),
  return_step: about(
    'Wait for a step',
    'Waits for the child and gives the data of this step of it. Without it, or return_result, the step does not wait.',
    'end',
  ),
  return_result: about('Wait for the result', 'true: waits for the child and gives its final data.', true),
  result_step: about('Step of the result', 'With return_result: the step whose data is meant.', 'report'),
  poll_interval: about('Interval', 'Seconds between two looks at the child.', 2),
}

export const flowKinds = {
  noop: kind('Nothing', 'Does nothing. Its data is result, or a note with the message.', {
    result: about('Result', 'The data of the step.', { ready: true }),
    message: about('Message', 'A note in the data.', 'done'),
  }),
  workbook: kind('Workbook tool', 'Runs a reusable tool of the workbook. Only its name and input are read.', {
    name: about('Name', 'Name of the tool in the workbook.', 'score'),
  }),
  playbook: kind('Playbook', 'Runs another playbook as a child. input is its workload.', playbook),
  playbooks: kind('Playbooks', 'Runs several playbooks where a worker offers it.', {
    path: about('Path', 'Path of the playbooks in the catalog.', 'reports'),
  }),
  agent: kind('Agent', 'Runs a playbook as an agent: its errors are part of the data.', {
    ...playbook,
    framework: about('Framework', 'What runs the agent.', 'noetl'),
  }),
  task_sequence: kind('Tasks', 'Runs tasks one after the other; a list under tool means the same.', {
    tasks: about('Tasks', 'The tasks.', [{ name: 'fetch', kind: 'http', url: 'https://example.com' }]),
  }),
  iterator: kind('Iterator', 'Kept for older playbooks; write loop on the step.'),
} satisfies Record<string, KindNotes>
