import type { ToolDeclaration, ToolField } from './tool-declaration.ts'

const ofClusters = (title: string, example: string | number): ToolField => ({
  title,
  type: 'any',
  description: 'Kept for existing playbooks; has no effect on one machine.',
  examples: [example],
})

export const container: ToolDeclaration = {
  kind: 'container',
  title: 'Container',
  description:
    'Runs a container image to its end, with docker or podman of the worker. Its data is {status, exit_code, stdout, stderr, …}; another exit code than 0 is an error.',
  fields: {
    image: {
      title: 'Image',
      type: 'text',
      description: 'The container image.',
      required: true,
      examples: ['python:3.12-slim'],
    },
    command: {
      title: 'Command',
      type: 'texts',
      description: 'Replaces the entry point of the image. A text is for its shell.',
      examples: [['python', 'main.py'], 'echo hello'],
    },
    args: {
      title: 'Arguments',
      type: 'texts',
      description: 'Arguments of the program; not an input.',
      examples: [['--verbose']],
    },
    env: {
      title: 'Environment',
      type: ['list', 'mapping'],
      description: 'Variables as a mapping, or as a list of {name, value}.',
      examples: [{ MODE: 'fast' }, [{ name: 'MODE', value: 'fast' }]],
    },
    stdin: {
      title: 'Standard input',
      type: 'any',
      description: 'What the program reads; data is given as JSON.',
      examples: ['{{ workload.rows }}'],
    },
    resources: {
      title: 'Resources',
      type: 'mapping',
      description: 'Limits of memory and of cores.',
      examples: [{ limits: { memory: '512Mi', cpu: '500m' } }],
    },
    volumes: {
      title: 'Volumes',
      type: 'list',
      description:
        'host:container[:ro], or {source, target, read_only}, or {name, host_path | empty_dir} with volume_mounts.',
      examples: [['./data:/data:ro'], [{ source: '/srv/data', target: '/data', read_only: true }]],
    },
    volume_mounts: {
      title: 'Volume mounts',
      type: 'list',
      description: 'Where volumes with a name are mounted: {name, mount_path, read_only}.',
      examples: [[{ name: 'data', mount_path: '/data' }]],
    },
    image_pull_policy: {
      title: 'Pull policy',
      type: 'text',
      description: 'Always, IfNotPresent or Never.',
      aliases: ['pull'],
      words: ['Always', 'IfNotPresent', 'Never', 'missing'],
      examples: ['IfNotPresent'],
    },
    network: { title: 'Network', type: 'text', description: 'Network of the runtime.', examples: ['none'] },
    user: { title: 'User', type: 'text', description: 'User inside of the container.', examples: ['1000'] },
    cwd: {
      title: 'Working directory',
      type: 'text',
      description: 'Directory inside of the container.',
      aliases: ['working_dir'],
      examples: ['/work'],
    },
    service_account: ofClusters('Service account', 'runner'),
    namespace: ofClusters('Namespace', 'noetl'),
    backoff_limit: ofClusters('Retries', 0),
    restart_policy: ofClusters('Restart policy', 'Never'),
    node_selector: ofClusters('Node selector', 'disk=ssd'),
    tolerations: ofClusters('Tolerations', ''),
  },
  examples: [
    { image: 'python:3.12-slim', command: ['python', '-c', 'print(1)'] },
    {
      image: 'alpine:3',
      command: 'wc -l',
      stdin: '{{ workload.text }}',
      resources: { limits: { memory: '64Mi' } },
      timeout: '5m',
    },
  ],
  data: {
    status: 'succeeded or failed',
    exit_code: 'of the program',
    'stdout, stderr': 'what it printed',
    json: 'standard output, when it is JSON',
    'image, container': 'what ran, under which name',
  },
  notes: [
    'The runtime is docker or podman, whichever answers, or the program in NOETL_CONTAINER_RUNTIME. Without one the code is `TOOL_UNAVAILABLE`.',
    'Another exit code than 0 is an error of kind `process` with the code `EXIT_<n>`; a container that could not be started is `CONTAINER_NOT_STARTED`.',
    'Time that runs out and cancellation remove the container, and so does the end of the worker, also when that one is killed. One that runs on another machine (`DOCKER_HOST`) stays when the machine of the worker fails as a whole.',
    'Secrets of a cluster (`value_from`) are not there; write `value: "{{ keychain.<name>.<field> }}"`. Values of variables are never arguments of the runtime, where others could read them.',
  ],
}
