import { cwd, env, script } from './shared-fields.ts'
import type { ToolDeclaration } from './tool-declaration.ts'

export const shell: ToolDeclaration = {
  kind: 'shell',
  title: 'Shell',
  description:
    'Runs a command of the shell. Its data is {exit_code, stdout, stderr}; another exit code than 0 is an error.',
  fields: {
    command: {
      title: 'Command',
      type: 'texts',
      description: 'The command line. A list stops at the first command that fails.',
      aliases: ['cmd'],
      examples: ['ls -l /tmp'],
    },
    cmds: {
      title: 'Commands',
      type: 'texts',
      description: 'Several commands; the first that fails ends the tool.',
      aliases: ['commands'],
      examples: [['set -x', 'make build']],
    },
    script,
    shell: {
      title: 'Shell',
      type: 'text',
      description: 'The shell to use.',
      examples: ['sh', 'bash'],
    },
    env,
    cwd: { ...cwd, aliases: ['working_dir'] },
    stdin: {
      title: 'Standard input',
      type: 'any',
      description: 'What the command reads; data is given as JSON.',
      examples: ['{{ workload.text }}'],
    },
    capture: {
      title: 'Capture',
      type: 'flag',
      description: 'false: the output is not kept.',
      examples: [true],
    },
  },
  oneOf: [{ fields: ['command', 'cmds', 'script'] }],
  examples: [{ command: 'echo "$NAME"', env: { NAME: 'x' } }, { cmds: ['cd /tmp', 'ls'] }],
  data: {
    'exit_code, returncode': 'of the command',
    'stdout, stderr': 'what it printed',
    json: 'standard output, when it is JSON',
    signal: 'when one ended it',
  },
  notes: [
    'Another exit code than 0 is an error of kind `process` with the code `EXIT_<n>`.',
    'What the command started ends with it, and with the worker, also when that one is killed. A program that leaves the session on purpose (`setsid`) stays.',
  ],
}
