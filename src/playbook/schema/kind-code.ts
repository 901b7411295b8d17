/** Kinds that run code: on the worker, or in a container. */
import { kind, script } from './kind-field.ts'
import type { KindNotes } from './kind-field.ts'
import { about } from './parts.ts'

const env = about('Environment', 'Environment variables for the program.', { LOG_LEVEL: 'info' })
const cwd = about('Working directory', 'Directory the program runs in.', '/tmp')

export const codeKinds = {
  python: kind(
    'Python',
    'Runs Python code. The input keys are its variables; its data is the variable result, or what main() or a top-level return gives.',
    {
      code: about(
        'Code',
        'The program. Input keys are variables in it; set result.',
        'result = {"doubled": n * 2}',
      ),
      script,
      libs: about(
        'Libraries',
        'Modules to import before the code: {alias: module} or {alias: {from: module, import: name}}.',
        {
          pd: 'pandas',
        },
      ),
      env,
      cwd,
      deps: about('Dependencies', 'Further places to import from.', { sys_path: ['/opt/lib'] }),
      memory_mb: about('Memory', 'Megabytes the program may use.', 256),
      python: about('Interpreter', 'The interpreter to run.', 'python3'),
      code_b64: about('Code in base64', 'The program, encoded.'),
    },
  ),
  shell: kind(
    'Shell',
    'Runs a command of the shell. Its data is {exit_code, stdout, stderr}; another exit code than 0 is an error.',
    {
      command: about('Command', 'The command line.', 'ls -l /tmp'),
      cmd: about('Command', 'Another name for command.', 'ls'),
      cmds: about('Commands', 'Several commands; the first that fails ends the tool.', [
        'set -x',
        'make build',
      ]),
      shell: about('Shell', 'The shell to use.', 'sh'),
      env,
      cwd,
      capture: about('Capture', 'false: the output is not kept.', true),
    },
  ),
  rhai: kind('Rhai', 'Runs a Rhai script where a worker offers it.', {
    code: about('Code', 'The script.', 'let x = 1; x + 1'),
  }),
  wasm: kind('WebAssembly', 'Runs a WebAssembly plug-in where a worker offers it.'),
  container: kind('Container', 'Runs a container image as a job.', {
    image: about('Image', 'The container image.', 'python:3.12-slim'),
    command: about('Command', 'The program of the container.', ['python', 'main.py']),
    args: about('Arguments', 'Arguments of the program; not an input.', ['--verbose']),
    env: about('Environment', 'Variables as a list of {name, value} or {name, value_from}.', [
      { name: 'MODE', value: 'fast' },
    ]),
    resources: about('Resources', 'Requests and limits.', { limits: { memory: '512Mi' } }),
    service_account: about('Service account', 'Account the job runs as.', 'runner'),
    namespace: about('Namespace', 'Namespace of the job.', 'noetl'),
    backoff_limit: about('Retries', 'How often the job is tried again.', 0),
    restart_policy: about('Restart policy', 'Restart policy of the pod.', 'Never'),
    node_selector: about('Node selector', 'Labels a node must have.', { disk: 'ssd' }),
    tolerations: about('Tolerations', 'Tolerations of the pod.'),
    volumes: about('Volumes', 'Volumes of the pod.'),
    volume_mounts: about('Volume mounts', 'Where the volumes are mounted.'),
  }),
  script: kind('Script job', 'Runs a script as a job of its own.', {
    script: about('Script', 'The script: {type, uri} or {content}.', { uri: 'scripts/load.py' }),
    job: about('Job', 'Image, namespace and limits of the job.', { image: 'python:3.12-slim', timeout: 600 }),
  }),
} satisfies Record<string, KindNotes>
