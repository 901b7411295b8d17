import { cwd, env, script as scriptField } from './shared-fields.ts'
import type { ToolDeclaration } from './tool-declaration.ts'

export const script: ToolDeclaration = {
  kind: 'script',
  title: 'Script',
  description:
    'Runs a whole script, by default on the worker itself. Its data is {status, exit_code, output, stdout, stderr}.',
  fields: {
    script: {
      ...scriptField,
      description:
        'The script: {type, content} written here, {uri} for a file or an address, or the path as text. type is python, bash or sh; without it the ending of uri decides.',
      required: true,
      aliases: ['code'],
      also: ['content'],
      examples: [{ uri: 'scripts/load.py' }, { type: 'bash', content: 'echo done' }],
    },
    type: {
      title: 'Type',
      type: 'text',
      description: 'The same as script.type.',
      words: ['python', 'python3', 'bash', 'sh', 'shell'],
      examples: ['python', 'bash', 'sh'],
    },
    env,
    cwd,
    job: {
      title: 'Job',
      type: 'mapping',
      description:
        'Fields of a cluster job: image, namespace, ttl_seconds, timeout, resources, env, … On this worker env and timeout count; run: container runs the image.',
      examples: [{ image: 'python:3.12-slim', timeout: 600 }],
    },
  },
  examples: [
    { script: { type: 'python', content: 'print("hello", argv)' }, input: { argv: ['x'] } },
    { script: { uri: 'scripts/load.sh' }, job: { timeout: 600 } },
  ],
  data: {
    status: 'completed or failed',
    'exit_code, succeeded, failed': 'how it ended; the last two are counts',
    'output, stdout, stderr': 'what it printed; output is stdout',
    execution_time: 'seconds',
    result: 'of a Python script: the variable result, when it is set',
    'job_name, namespace, pod_name': 'local names in the place of those of a job',
  },
  notes: [
    'Runs with the Python and the shells of the worker; `job.image` is ignored unless `job.run: container` asks for it, which needs docker or podman.',
    '`input` of a Python script are its variables; of a shell script its environment, structures as JSON.',
  ],
}
