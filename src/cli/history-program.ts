/** The commands that move along the history of executions, as they are asked for and explained. */
import type { Command } from 'commander'
import type { CancelFlags } from './cancel.ts'
import type { DiffFlags } from './diff.ts'
import type { DoctorFlags } from './doctor.ts'
import { addExecutions } from './executions-program.ts'
import type { ExplainFlags } from './explain.ts'
import type { ExportFlags } from './export.ts'
import type { Raw } from './connect-options.ts'
import { connected, connectOf, text } from './connect-options.ts'
import { executionArgument } from './flag-values.ts'
import { helpAfter, WHICH_SERVER } from './help-text.ts'
import type { ImportFlags } from './import.ts'
import type { ListFlags } from './list.ts'
import type { ConnectFlags } from './program.ts'
import type { RerunFlags } from './rerun.ts'
import type { RetryFlags } from './retry.ts'
import type { StateFlags } from './state.ts'

export type HistoryFlags = (
  | ListFlags
  | CancelFlags
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

export type Act = (flags: HistoryFlags) => Promise<void>

const EXECUTION = 'the id of the execution'
const LEAVING = 'Ctrl-C ends the waiting, not the execution; noetl cancel does that.'

export const addHistory = (program: Command, act: Act): void => {
  addExecutions(program, act)
  addState(program, act)
  addExplain(program, act)
  addRerun(program, act)
  addRetry(program, act)
  addDiff(program, act)
  addTransfer(program, act)
  addDoctor(program, act)
}

const list = (value: unknown): readonly string[] => (Array.isArray(value) ? (value as string[]) : [])
const append = (value: string, former: readonly string[] = []): readonly string[] => [...former, value]

const addState = (program: Command, act: Act): void => {
  connected(program.command('state'))
    .description('show an execution as it stood: variables, steps, what runs and why it waits')
    .argument('<execution>', EXECUTION, executionArgument)
    .option('--as-of-event <id>', 'after the event with this id')
    .option('--as-of-position <number>', 'after the event at this position')
    .option('--as-of-time <instant>', 'at this instant, such as 2026-01-31T12:00:00Z')
    .option('--step <name>', 'only this step, with its whole data')
    .option('--json', 'print the answer as JSON')
    .addHelpText(
      'after',
      helpAfter(
        [
          'noetl state 377081312                                        now',
          'noetl state 377081312 --as-of-position 12                    after its 12th event',
          'noetl state 377081312 --as-of-time 2026-01-31T12:00:00Z --step load',
        ],
        WHICH_SERVER,
      ),
    )
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
    .argument('<execution>', EXECUTION, executionArgument)
    .argument('<step>', 'the name of the step')
    .option('--run <number>', 'which of its runs, counted from 1 (default: the latest)')
    .option('--json', 'print the answer as JSON')
    .addHelpText(
      'after',
      helpAfter(['noetl explain 377081312 notify', 'noetl explain 377081312 fetch --run 2'], WHICH_SERVER),
    )
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
    .argument('<execution>', EXECUTION, executionArgument)
    .option('--from <place>', 'start, or failed: what failed in it and what follows (default: start)')
    .option('--from-step <name>', 'the latest run of this step and what follows')
    .option('--from-event <id>', 'as it stood after this event')
    .option('--playbook-version <number>', 'another version of the playbook, or latest')
    .option('--set <key=value>', 'edit a workload value, JSON or text; repeatable', append)
    .option('--payload <json|@file>', 'workload values to edit as a JSON object')
    .option('--var <name=value>', 'edit a variable, JSON or text; repeatable', append)
    .option('--wait', 'show its steps until its end, then its result')
    .option('--json', 'print the answer as JSON')
    .addHelpText(
      'after',
      helpAfter(
        [
          'noetl rerun 377081312                                        everything again',
          'noetl rerun 377081312 --from failed --var url=https://...    what failed, with another value',
          'noetl rerun 377081312 --from-step load --wait                that step and what follows',
        ],
        'Results before the place are kept.',
        LEAVING,
        'Exit code with --wait: 0 completed, 1 failed, 3 cancelled, 130 left by Ctrl-C; without: 0 when it was started.',
        WHICH_SERVER,
      ),
    )
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
    .argument('<execution>', EXECUTION, executionArgument)
    .option('--step <name>', 'only this failed step; repeatable', append)
    .option('--var <name=value>', 'set a variable first, JSON or text; repeatable', append)
    .option('--reason <text>', 'to be recorded with it')
    .option('--wait', 'show its steps until its end, then its result')
    .option('--json', 'print the answer as JSON')
    .addHelpText(
      'after',
      helpAfter(
        [
          'noetl retry 377081312 --wait',
          'noetl retry 377081312 --step load --reason "the disk is free again"',
        ],
        LEAVING,
        'Exit code with --wait: 0 completed, 1 failed, 3 cancelled, 130 left by Ctrl-C; without: 0 when it runs again.',
        WHICH_SERVER,
      ),
    )
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
    .argument('<a>', 'the id of an execution', executionArgument)
    .argument('<b>', 'the id of another one', executionArgument)
    .option('--json', 'print the answer as JSON')
    .addHelpText(
      'after',
      helpAfter(
        ['noetl diff 377081312 377090001'],
        'Versions with the same definition are no difference.',
        'Exit code: 0 when they did the same, 1 when they differ.',
        WHICH_SERVER,
      ),
    )
    .action((a: string, b: string, raw: Raw) =>
      act({ ...connectOf(raw), command: 'diff', a, b, json: raw['json'] === true }),
    )
}

const addTransfer = (program: Command, act: Act): void => {
  connected(program.command('export'))
    .description('write an execution to stdout as one file: definition, events, results')
    .argument('<execution>', EXECUTION, executionArgument)
    .option('--with-children', 'with the executions that it started')
    .option('--include-secrets', 'with everything that is otherwise replaced; for admins')
    .option('-o, --output <file>', 'write it here instead, once it is whole')
    .addHelpText(
      'after',
      helpAfter(
        [
          'noetl export 377081312 > execution.ndjson',
          'noetl export 377081312 --with-children -o execution.ndjson',
        ],
        WHICH_SERVER,
      ),
    )
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
    .addHelpText(
      'after',
      helpAfter(['noetl import execution.ndjson', 'noetl import execution.ndjson --resume'], WHICH_SERVER),
    )
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
    .argument('[execution]', `${EXECUTION}; all of them without one`, executionArgument)
    .option('--json', 'print the answer as JSON')
    .addHelpText(
      'after',
      helpAfter(
        ['noetl doctor', 'noetl doctor 377081312'],
        'Exit code: 0 when nothing differs, 1 otherwise.',
        WHICH_SERVER,
      ),
    )
    .action((execution: string | undefined, raw: Raw) =>
      act({
        ...connectOf(raw),
        command: 'doctor',
        execution: execution ?? null,
        json: raw['json'] === true,
      }),
    )
}
