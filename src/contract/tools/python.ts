import { cwd, env, script } from './shared-fields.ts'
import type { ToolDeclaration } from './tool-declaration.ts'

export const python: ToolDeclaration = {
  kind: 'python',
  title: 'Python',
  description:
    'Runs Python code. The input keys are its variables; its data is the variable result, or what main() or a top-level return gives.',
  fields: {
    code: {
      title: 'Code',
      type: 'text',
      description: 'The program. Input keys are variables in it; set result.',
      examples: ['result = {"doubled": n * 2}'],
    },
    code_b64: {
      title: 'Code in base64',
      type: 'text',
      description: 'The program, encoded.',
      aliases: ['code_base64'],
      examples: ['cmVzdWx0ID0gMQ=='],
    },
    script,
    libs: {
      title: 'Libraries',
      type: ['mapping', 'list', 'text'],
      description:
        'Modules to import before the code: {alias: module}, {alias: {from: module, import: name, package: name==version}}, or a list such as [json, "numpy as np"].',
      examples: [{ pd: 'pandas' }, ['json', 'numpy as np']],
    },
    env,
    cwd,
    deps: {
      title: 'Dependencies',
      type: 'mapping',
      description:
        'packages to install in an environment of their own (made once, kept in the data directory), venv_path of one that exists, sys_path to import from.',
      examples: [{ packages: ['requests==2.32'] }, { sys_path: ['/opt/lib'] }],
    },
    memory_mb: {
      title: 'Memory',
      type: 'number',
      description: 'Megabytes the program may use.',
      examples: [256],
    },
    python: {
      title: 'Interpreter',
      type: 'text',
      description: 'The interpreter to run.',
      examples: ['python3'],
    },
    raw: {
      title: 'Raw',
      type: 'flag',
      description: 'true: the code is no template.',
      examples: [true],
    },
  },
  oneOf: [
    {
      fields: ['code', 'code_b64', 'script'],
      message: 'A python tool needs `code` (or `code_b64`, or `script`)',
    },
  ],
  examples: [{ input: { n: 2 }, code: 'result = {"doubled": n * 2}' }],
  notes: [
    'A credential in `auth` is the variable auth and, by field, AUTH_<FIELD> in the environment.',
    'Packages that cannot be fetched are `PACKAGES_UNAVAILABLE` and worth another try; packages that do not exist are `PACKAGES_NOT_INSTALLED`.',
    'Without a result the data is {stdout, stderr}. An exception has the code `PY_<class>` and the kind `schema`, `parse`, `timeout`, `connection` or `runtime`.',
    'Processes that the code started end with it, and with the worker, also when that one is killed; those that leave the session on purpose stay.',
  ],
}
