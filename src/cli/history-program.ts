/** The commands that move along the history of executions, as they are asked for and explained. */
import type { Command } from 'commander'
import type { DiffFlags } from './diff.ts'
import type { DoctorFlags } from './doctor.ts'
import type { ExplainFlags } from './explain.ts'
import type { ExportFlags } from './export.ts'
import type { ImportFlags } from './import.ts'
import type { ConnectFlags } from './program.ts'
import type { RerunFlags } from './rerun.ts'
import type { RetryFlags } from './retry.ts'
import type { StateFlags } from './state.ts'

export type HistoryFlags = (
  | StateFlags
  | ExplainFlags
  | RerunFlags
  | RetryFlags
  | DiffFlags
  | ExportFlags
  | ImportFlags
  | DoctorFlags
) &
  ConnectFlags

type Act = (flags: HistoryFlags) => Promise<void>

/** Options as commander gives them: those of the connection, and the command's own. */
type Raw = ConnectFlags & Readonly<Record<string, unknown>>

const EXECUTION = 'the id of the execution'

export const addHistory = (program: Command, act: Act): void => {
  addState(program, act)
  addExplain(program, act)
  addRerun(program, act)
  addRetry(program, act)
  addDiff(program, act)
  addTransfer(program, act)
  addDoctor(program, act)
}

/** Where the server is, and how to get in. */
const connected = (command: Command): Command =>
  command
    .option('--server <url>', 'the server to ask (env: NOETL_SERVER_URL)')
    .option('--data-dir <directory>', 'where the data lives (default: .noetl, env: NOETL_DATA_DIR)')
    .option('--token <token>', 'a token to show there (env: NOETL_TOKEN)')

const connectOf = ({ server, dataDir, token }: Raw): ConnectFlags => ({
  ...(server === undefined ? {} : { server }),
  ...(dataDir === undefined ? {} : { dataDir }),
  ...(token === undefined ? {} : { token }),
})

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)
const list = (value: unknown): readonly string[] => (Array.isArray(value) ? (value as string[]) : [])
const append = (value: string, former: readonly string[] = []): readonly string[] => [...former, value]

const addState = (program: Command, act: Act): void => {
  connected(program.command('state'))
    .description('show an execution as it stood: variables, steps, what runs and why it waits')
    .argument('<execution>', EXECUTION)
    .option('--as-of-event <id>', 'after the event with this id')
    .option('--as-of-position <number>', 'after the event at this position')
    .option('--as-of-time <instant>', 'at this instant, such as 2026-01-31T12:00:00Z')
    .option('--step <name>', 'only this step, with its whole data')
    .option('--json', 'print the answer as JSON')
    .action((execution: string, raw: Raw) =>
      act({
        ...connectOf(raw),
        command: 'state',
        execution,
        asOfEvent: text(raw['asOfEvent']),
        asOfPosition: text(raw['asOfPosition']),
        asOfTime: text(raw['asOfTime']),
        step: text(raw['step']),
        json: raw['json'] === true,
      }),
    )
}

const addExplain = (program: Command, act: Act): void => {
  connected(program.command('explain'))
    .description('say why a step ran, did not run, or waits')
    .argument('<execution>', EXECUTION)
    .argument('<step>', 'the name of the step')
    .option('--run <number>', 'which of its runs (default: the latest)')
    .option('--json', 'print the answer as JSON')
    .action((execution: string, step: string, raw: Raw) =>
      act({
        ...connectOf(raw),
        command: 'explain',
        execution,
        step,
        run: text(raw['run']),
        json: raw['json'] === true,
      }),
    )
}

const addRerun = (program: Command, act: Act): void => {
  connected(program.command('rerun'))
    .description('run an execution again as a new one')
    .argument('<execution>', EXECUTION)
    .option('--from <place>', 'start, or failed: what failed in it and what follows (default: start)')
    .option('--from-step <name>', 'the latest run of this step and what follows')
    .option('--from-event <id>', 'as it stood after this event')
    .option('--playbook-version <number>', 'another version of the playbook, or latest')
    .option('--set <key=value>', 'edit a workload value, JSON or text; repeatable', append)
    .option('--payload <json|@file>', 'workload values to edit as a JSON object')
    .option('--var <name=value>', 'edit a variable, JSON or text; repeatable', append)
    .option('--wait', 'wait for its end')
    .option('--json', 'print the answer as JSON')
    .addHelpText('after', '\nResults before the place are kept. Exit code with --wait: as of run.')
    .action((execution: string, raw: Raw) =>
      act({
        ...connectOf(raw),
        command: 'rerun',
        execution,
        from: text(raw['from']),
        fromStep: text(raw['fromStep']),
        fromEvent: text(raw['fromEvent']),
        version: text(raw['playbookVersion']),
        set: list(raw['set']),
        payload: text(raw['payload']),
        vars: list(raw['var']),
        wait: raw['wait'] === true,
        json: raw['json'] === true,
      }),
    )
}

const addRetry = (program: Command, act: Act): void => {
  connected(program.command('retry'))
    .description('open a failed execution again and run what failed in it')
    .argument('<execution>', EXECUTION)
    .option('--step <name>', 'only this failed step; repeatable', append)
    .option('--var <name=value>', 'set a variable first, JSON or text; repeatable', append)
    .option('--reason <text>', 'to be recorded with it')
    .option('--wait', 'wait for its end')
    .option('--json', 'print the answer as JSON')
    .action((execution: string, raw: Raw) =>
      act({
        ...connectOf(raw),
        command: 'retry',
        execution,
        steps: list(raw['step']),
        vars: list(raw['var']),
        reason: text(raw['reason']),
        wait: raw['wait'] === true,
        json: raw['json'] === true,
      }),
    )
}

const addDiff = (program: Command, act: Act): void => {
  connected(program.command('diff'))
    .description('compare two executions: inputs, the way taken, results, timings')
    .argument('<a>', 'the id of an execution')
    .argument('<b>', 'the id of another one')
    .option('--json', 'print the answer as JSON')
    .addHelpText('after', '\nExit code: 0 when they did the same, 1 when they differ.')
    .action((a: string, b: string, raw: Raw) =>
      act({ ...connectOf(raw), command: 'diff', a, b, json: raw['json'] === true }),
    )
}

const addTransfer = (program: Command, act: Act): void => {
  connected(program.command('export'))
    .description('write an execution to stdout as one file: definition, events, results')
    .argument('<execution>', EXECUTION)
    .option('--with-children', 'with the executions that it started')
    .option('--include-secrets', 'with everything that is otherwise replaced; for admins')
    .option('-o, --output <file>', 'write it here instead')
    .action((execution: string, raw: Raw) =>
      act({
        ...connectOf(raw),
        command: 'export',
        execution,
        withChildren: raw['withChildren'] === true,
        includeSecrets: raw['includeSecrets'] === true,
        output: text(raw['output']),
      }),
    )
  connected(program.command('import'))
    .description('bring in executions from a file, to be looked at and replayed')
    .argument('<file>', 'what export wrote')
    .option('--resume', 'go on from there, as an execution of its own')
    .option('--json', 'print the answer as JSON')
    .action((file: string, raw: Raw) =>
      act({
        ...connectOf(raw),
        command: 'import',
        file,
        resume: raw['resume'] === true,
        json: raw['json'] === true,
      }),
    )
}

const addDoctor = (program: Command, act: Act): void => {
  connected(program.command('doctor'))
    .description('compare what is stored with what the logs say')
    .argument('[execution]', `${EXECUTION}; all of them without one`)
    .option('--json', 'print the answer as JSON')
    .addHelpText('after', '\nExit code: 0 when nothing differs, 1 otherwise.')
    .action((execution: string | undefined, raw: Raw) =>
      act({
        ...connectOf(raw),
        command: 'doctor',
        execution: execution ?? null,
        json: raw['json'] === true,
      }),
    )
}
