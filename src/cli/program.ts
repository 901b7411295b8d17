/** The command line: what can be asked for and how it is explained. What is done about it comes in as functions. */
import { Command, CommanderError } from 'commander'
import { ProblemError } from '../contract/problem.ts'
import { errorLine, EXIT, Reported } from './failure.ts'
import { helpAfter } from './help-text.ts'
import type { HistoryFlags } from './history-program.ts'
import { addHistory } from './history-program.ts'
import type { LogsFlags } from './logs.ts'
import { addLogs } from './logs-program.ts'
import type { ReplayFlags } from './replay.ts'
import { addReplay } from './replay-program.ts'
import type { RunFlags } from './run.ts'
import type { Terminal } from './terminal.ts'
import type { TokenFlags } from './token.ts'
import { addToken } from './token-program.ts'
import type { ValidateFlags } from './validate.ts'

export interface ServerFlags {
  readonly host?: string
  readonly port?: string
  readonly dataDir?: string
  readonly slots?: string
  readonly insecure?: boolean
  /** False with `--no-examples`. */
  readonly examples?: boolean
}

export interface ConnectFlags {
  readonly server?: string
  readonly dataDir?: string
  readonly token?: string
}

export interface WorkerFlags {
  readonly server?: string
  readonly token?: string
  readonly pool?: string
  readonly slots?: string
  readonly capabilities?: string
  readonly grace?: string
  readonly wait?: string
}

/** Each does its work and answers the exit code. */
export interface Actions {
  readonly up: (flags: ServerFlags) => Promise<number>
  readonly run: (flags: RunFlags & ConnectFlags) => Promise<number>
  readonly validate: (flags: ValidateFlags) => Promise<number>
  readonly history: (flags: HistoryFlags) => Promise<number>
  readonly replay: (flags: ReplayFlags & ConnectFlags) => Promise<number>
  readonly logs: (flags: LogsFlags & ConnectFlags) => Promise<number>
  readonly worker: (flags: WorkerFlags) => Promise<number>
  readonly token: (flags: TokenFlags & ConnectFlags) => Promise<number>
}

export interface ProgramOptions {
  readonly argv: readonly string[]
  readonly version: string
  readonly terminal: Terminal
  readonly actions: Actions
}

/** Runs the command that the arguments name; answers the exit code. */
export const runProgram = async ({ argv, version, terminal, actions }: ProgramOptions): Promise<number> => {
  let exitCode: number = EXIT.ok
  const finish = (action: Promise<number>): Promise<void> => action.then((code) => void (exitCode = code))
  const program = new Command('noetl')
    .description(
      'Runs YAML playbooks: steps that call tools, joined by conditions and loops, every event recorded.',
    )
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .showHelpAfterError('(add --help to see how it is used)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text),
      writeErr: (text) => terminal.err(text),
      outputError: (text, write) => write(usageError(text, terminal)),
      getOutHelpWidth: () => Math.min(110, terminal.columns()),
    })
    .addHelpText('after', EXAMPLES)
  addUp(program, (flags) => finish(actions.up(flags)))
  addRun(program, (flags) => finish(actions.run(flags)))
  addValidate(program, (flags) => finish(actions.validate(flags)))
  addHistory(program, (flags) => finish(actions.history(flags)))
  addReplay(program, (flags) => finish(actions.replay(flags)))
  addLogs(program, (flags) => finish(actions.logs(flags)))
  addWorker(program, (flags) => finish(actions.worker(flags)))
  addToken(program, (flags) => finish(actions.token(flags)))
  try {
    await program.parseAsync([...withoutVainHelp(argv, program)], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    throw new Reported(error.exitCode === 0 ? EXIT.ok : EXIT.usage)
  }
  await everythingWritten()
  const failure = terminal.failure()
  if (failure) throw new ProblemError('unavailable', `The output could not be written: ${failure.message}`)
  return exitCode
}

/** Help for a command that does not exist is answered like that command: it is unknown, and which one may be meant. */
const withoutVainHelp = (argv: readonly string[], { commands }: Command): readonly string[] => {
  const [first, name, below] = argv
  if (first !== 'help' || name === undefined || name.startsWith('-')) return argv
  const command = commands.find((each) => each.name() === name)
  if (command === undefined) return [name]
  // One below a command is not known to its help.
  if (below === undefined || command.commands.length === 0) return argv
  return command.commands.some((each) => each.name() === below) ? [name, below, '--help'] : [name, below]
}

/** Errors of writing come after the turn in which something was written. */
const everythingWritten = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const usageError = (text: string, terminal: Terminal): string => {
  const [first = '', ...rest] = text.trimEnd().split('\n')
  return [errorLine(first.replace(/^error: /, ''), terminal), ...rest].join('\n')
}

const EXAMPLES = `
Examples:
  noetl up                                        start everything on this machine
  noetl run examples/hello.yaml --set name=Ada    run a playbook and watch its steps
  noetl run examples/loop.yaml --json             the same for programs
  noetl validate playbooks/*.yaml                 check files without running them
  noetl list --status running                     what runs now
  noetl cancel <execution>                        end it, with everything it started
  noetl logs <execution> --follow                 what its tools print
  noetl explain <execution> <step>                why a step ran, waits or did not run

noetl help <command> explains each of them. Settings can come from the environment, too; flags win.`

type Collect<T> = (flags: T) => Promise<void>

const addUp = (program: Command, action: Collect<ServerFlags>): void => {
  program
    .command('up')
    .description('start database, control plane and worker in one process')
    .option('--host <address>', 'address to listen on (default: 127.0.0.1, env: NOETL_HOST)')
    .option('--port <number>', 'port to listen on, 0 for any free one (default: 8082, env: NOETL_PORT)')
    .option('--data-dir <directory>', 'where the data lives (default: .noetl, env: NOETL_DATA_DIR)')
    .option('--slots <number>', 'commands run at once, 0 for no worker here (default: 32, env: NOETL_SLOTS)')
    .option(
      '--no-examples',
      'do not register and run examples on a fresh data directory (env: NOETL_EXAMPLES=false)',
    )
    .option('--insecure', 'serve other machines without access control (env: NOETL_INSECURE=true)')
    .addHelpText(
      'after',
      `
Further environment:
  NOETL_DATABASE_URL    a PostgreSQL of your own instead of the embedded one
  NOETL_SHARDS          several of them, separated by commas
  NOETL_ENCRYPTION_KEY  base64 of 32 bytes that seal secrets (default: a key file in the data directory)
  NOETL_LEASE_SECONDS   how long a silent worker keeps its command (default: 60)
  NOETL_STATE_CACHE_MB  memory for the states of executions (default: a quarter of what there is)
  NOETL_AUTH            required: no caller without a token; open: none needed (default: from the first token on)
  NOETL_ADMIN_TOKEN     a token of an admin that needs no database
  NOETL_TLS_CERT, NOETL_TLS_KEY, NOETL_TLS_CLIENT_CA    files for encrypted connections; see docs/access.md
  NOETL_PYTHON          the Python to run steps with (default: python3)
  NOETL_LOG_LEVEL       debug, info, warn, error or silent (default: warn)

Examples:
  noetl up
  noetl up --port 8090 --data-dir /var/lib/noetl --no-examples
  noetl up --host 0.0.0.0 --slots 0               for other machines (needs a token), workers elsewhere`,
    )
    .action((flags: ServerFlags) => action(withoutDefault(flags)))
}

/** Commander makes a `--no-` flag true when it is absent; absent must mean undecided. */
const withoutDefault = ({ examples, ...flags }: ServerFlags): ServerFlags =>
  examples === false ? { ...flags, examples } : flags

interface RawRunFlags extends ConnectFlags {
  readonly set?: readonly string[]
  readonly payload?: string
  readonly json?: boolean
}

const addRun = (program: Command, action: Collect<RunFlags & ConnectFlags>): void => {
  program
    .command('run')
    .description('run a playbook file and show each step as it happens')
    .argument('<file>', 'the playbook, a YAML file')
    .option(
      '--set <key=value>',
      'set a workload value, JSON or text; a.b=1 reaches into mappings; repeatable',
      append,
    )
    .option('--payload <json|@file>', 'workload values as a JSON object')
    .option('--server <url>', 'the server to run on (env: NOETL_SERVER_URL)')
    .option('--token <token>', 'the access token to show there (env: NOETL_TOKEN)')
    .option('--data-dir <directory>', 'where the data lives (default: .noetl, env: NOETL_DATA_DIR)')
    .option('--json', 'print one JSON document instead of lines')
    .addHelpText(
      'after',
      `
Examples:
  noetl run hello.yaml --set name=Ada --set 'tags=["a", "b"]' --set address.city=Oslo
  noetl run hello.yaml --payload @values.json --json

Runs on the server of the data directory or at http://127.0.0.1:8082 if one is up, else starts one for this run.

Exit code: 0 completed, 1 failed, 2 not a valid playbook or flag, 3 cancelled.`,
    )
    .action((file: string, { set, payload, json, ...connect }: RawRunFlags) =>
      action({ ...connect, file, set: set ?? [], payload: payload ?? null, json: json ?? false }),
    )
}

const append = (value: string, former: readonly string[] = []): readonly string[] => [...former, value]

const addValidate = (program: Command, action: Collect<ValidateFlags>): void => {
  program
    .command('validate')
    .description('check playbook files without running them')
    .argument('<files...>', 'the playbooks, YAML files')
    .option('--json', 'print the problems as JSON')
    .addHelpText(
      'after',
      helpAfter(
        ['noetl validate hello.yaml', 'noetl validate playbooks/*.yaml --json'],
        'Warnings do not count.',
        'Exit code: 0 when every file is a valid playbook, 2 otherwise.',
      ),
    )
    .action((files: string[], { json }: { json?: boolean }) => action({ files, json: json ?? false }))
}

const addWorker = (program: Command, action: Collect<WorkerFlags>): void => {
  program
    .command('worker')
    .description('run commands for a server elsewhere')
    .option(
      '--server <url>',
      'the server to work for (default: http://127.0.0.1:8082, env: NOETL_SERVER_URL)',
    )
    .option('--token <token>', 'an access token of role worker (env: NOETL_TOKEN)')
    .option('--pool <name>', 'the pool to take work from (default: shared, env: NOETL_POOL)')
    .option('--slots <number>', 'commands run at once (default: 32, env: NOETL_SLOTS)')
    .option(
      '--capabilities <words>',
      'what playbooks may require of this worker, such as gpu,eu-west (env: NOETL_CAPABILITIES)',
    )
    .option(
      '--grace <seconds>',
      'how long running commands may take to finish after Ctrl-C (default: 30, env: NOETL_GRACE_SECONDS)',
    )
    .option(
      '--wait <seconds>',
      'how long to wait for a server that is not there yet (default: without end, env: NOETL_WORKER_WAIT)',
    )
    .addHelpText(
      'after',
      helpAfter(
        [
          'noetl worker --server http://box:8082',
          'NOETL_TOKEN=noetl_2_... noetl worker --server https://noetl.example.com --pool gpu --slots 4',
        ],
        'Executions may name a pool when they are started (execution_pool); those that do not are mostly in shared, those of playbooks below system/ and subscription/ in system and subscription.',
        'A server that goes away later on is waited for without end.',
        'Exit code: 0 stopped, 1 no server came, or it does not let this worker in (any more), 2 not a valid flag.',
      ),
    )
    .action((flags: WorkerFlags) => action(flags))
}
