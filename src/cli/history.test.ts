/** What the commands along the history of executions send, print and exit with. */
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { HistoryClient } from '../client/history.ts'
import type { DiffAnswer, DoctorAnswer, StateAnswer } from '../contract/api-history.ts'
import { diffExecutions } from './diff.ts'
import { examine } from './doctor.ts'
import { explainStep } from './explain.ts'
import { exportExecution } from './export.ts'
import type { HistoryFlags } from './history-program.ts'
import { importExecution } from './import.ts'
import type { Actions } from './program.ts'
import { runProgram } from './program.ts'
import { rerunExecution } from './rerun.ts'
import { retryExecution } from './retry.ts'
import { showState } from './state.ts'
import { createRecordingTerminal } from './testing/recording-terminal.ts'

/** A client that answers one verb and keeps what it was asked. */
const answering = (verb: keyof HistoryClient, ...answers: readonly unknown[]) => {
  const asked: unknown[] = []
  const left = [...answers]
  const history = {
    [verb]: async (...args: unknown[]) => {
      asked.push(args)
      return left.length > 1 ? left.shift() : left[0]
    },
  } as unknown as HistoryClient
  return { asked, history }
}

/** The rest of a client, which shows an execution until it ended like that. */
const ending = (history: HistoryClient, status: string, error: string | null = null) => ({
  history,
  url: 'http://here',
  resolve: () => Promise.reject(new Error('nothing is stored apart')),
  follow: async function* () {
    yield { type: 'end', end: { status, error } }
  } as never,
})

const WAITING = { interrupted: new AbortController().signal, isOwnServer: false }

const flagsOf = async (...argv: string[]): Promise<HistoryFlags> => {
  let found: HistoryFlags | undefined
  const history = async (flags: HistoryFlags): Promise<number> => {
    found = flags
    return 0
  }
  await runProgram({
    argv,
    version: '0',
    terminal: createRecordingTerminal(),
    actions: { history } as unknown as Actions,
  })
  if (!found) throw new Error('the command did nothing')
  return found
}

const STATE: StateAnswer = {
  execution_id: '1',
  position: 7,
  event_id: '70',
  at: '2026-01-01T00:00:00.000Z',
  last_position: 9,
  status: 'RUNNING',
  path: 'tests/x',
  catalog_id: '5',
  version: 1,
  origin: { execution_id: '99', event_id: '3', position: 3 },
  parent_execution_id: null,
  started_at: null,
  finished_at: null,
  error: null,
  current_step: 'b',
  progress: { total_steps: 2, completed_steps: 1, running_steps: 1, failed_steps: 0 },
  workload: {},
  variables: { page: 3 },
  steps: [
    {
      step: 'a',
      state: 'completed',
      run: 2,
      handled: false,
      blocked: false,
      error: null,
      has_data: true,
      data: { n: 1 },
      loop: null,
      cursor: null,
    },
    {
      step: 'b',
      state: 'running',
      run: 1,
      handled: false,
      blocked: false,
      error: null,
      has_data: false,
      loop: { total: 5, issued: 3, running: 2, done: 1, failed: 0, window: 2 },
      cursor: null,
    },
    {
      step: 'c',
      state: 'failed',
      run: 1,
      handled: false,
      blocked: false,
      error: { message: 'no' },
      has_data: false,
      loop: null,
      cursor: null,
    },
  ],
  tokens: [{ from: 'a', to: 'd' }],
  failures: [],
  commands: [
    {
      command_id: 'x',
      event_id: '1',
      step: 'b',
      run: 1,
      index: 1,
      tool_kind: 'noop',
      attempt: 0,
      max_attempts: 3,
      waits: { for: 'worker', pool: 'shared' },
    },
    {
      command_id: 'y',
      event_id: '2',
      step: 'b',
      run: 1,
      index: 2,
      tool_kind: 'noop',
      attempt: 1,
      max_attempts: 3,
      waits: { for: 'report', pool: 'shared', worker: 'w1', until: '2026-01-01T00:01:00.000Z' },
    },
  ],
  commands_total: 2,
}

describe('noetl state', () => {
  it('asks for a place in the log and shows what stands there', async () => {
    const { history, asked } = answering('state', STATE)
    const terminal = createRecordingTerminal()
    const flags = await flagsOf('state', '1', '--as-of-position', '7')
    expect(await showState(flags as never, ending(history, ''), terminal)).toBe(0)
    expect(asked).toEqual([['1', { as_of_position: '7' }]])
    expect(terminal.written()).toBe(`tests/x RUNNING at position 7 of 9, 2026-01-01T00:00:00.000Z
rerun of 99

variables
  page = 3

steps
  a (run 2)  completed  {"n":1}
  b          running  1 of 5 done, 2 running
  c          failed  no

about to start
  d  after a

waits
  b[1]  for a worker of the pool shared
  b[2]  for w1, which holds it until 2026-01-01T00:01:00.000Z
`)
  })

  it('shows all of the data of a step that is asked for', async () => {
    const [step] = STATE.steps
    const text = 'long '.repeat(50)
    const { history } = answering('state', { ...STATE, steps: [{ ...step, run: 1, data: { text } }] })
    const terminal = createRecordingTerminal()
    await showState((await flagsOf('state', '1', '--step', 'a')) as never, ending(history, ''), terminal)
    expect(terminal.written()).toContain('\nsteps\n  a  completed\n')
    expect(terminal.written()).toContain(`\ndata\n  {\n    "text": "${text}"\n  }\n`)
  })
})

/** The same, of an execution that stands somewhere. */
const withState = (history: HistoryClient): HistoryClient => ({
  ...history,
  state: () => Promise.resolve({ ...STATE, workload: { n: 1, name: 'Eve' } }),
})

describe('noetl explain', () => {
  it('prints the text, or all of it as JSON', async () => {
    const { history, asked } = answering('explain', { text: 'b ran', verdict: 'completed' })
    const terminal = createRecordingTerminal()
    expect(
      await explainStep((await flagsOf('explain', '1', 'b', '--run', '2')) as never, history, terminal),
    ).toBe(0)
    expect(asked).toEqual([['1', { step: 'b', run: '2' }]])
    await explainStep((await flagsOf('explain', '1', 'b', '--json')) as never, history, terminal)
    expect(terminal.written()).toMatch(/^b ran\n\{\n {2}"text"/)
  })
})

describe('noetl rerun', () => {
  const started = { execution_id: '2', kept_steps: ['a'], dropped_steps: [], status: 'started' }

  it('sends the place and the edits', async () => {
    const { history, asked } = answering('rerun', started)
    const terminal = createRecordingTerminal()
    const flags = await flagsOf(
      'rerun',
      '1',
      '--from-step',
      'b',
      '--playbook-version',
      '3',
      '--set',
      'n=5',
      '--set',
      'name=Ada',
      '--var',
      'page=[1]',
    )
    expect(
      await rerunExecution(flags as never, ending(withState(history), 'COMPLETED'), terminal, WAITING),
    ).toBe(0)
    expect(asked).toEqual([
      ['1', { from: { step: 'b' }, version: '3', workload: { n: 5, name: 'Ada' }, variables: { page: [1] } }],
    ])
    expect(terminal.written()).toBe('execution 2, a rerun of 1\nkept     a\n')
  })

  it('waits for the end when asked to, and exits with it', async () => {
    const { history, asked } = answering('rerun', started)
    const terminal = createRecordingTerminal()
    const flags = await flagsOf('rerun', '1', '--wait', '--from', 'failed', '--json')
    expect(
      await rerunExecution(flags as never, ending(withState(history), 'FAILED', 'no'), terminal, WAITING),
    ).toBe(1)
    expect(asked).toEqual([['1', { from: 'failed' }]])
    expect(JSON.parse(terminal.written())).toEqual({
      ...started,
      status: 'FAILED',
      result: null,
      error: 'no',
      steps: [],
    })
  })

  it.each([
    [
      ['--from', 'failed', '--from-step', 'b'],
      'Give one of --from, --from-step and --from-event, not several',
    ],
    [['--from', 'middle'], "--from middle: it is 'start' or 'failed'"],
    [['--from-event', 'x'], "--from-event must be a whole number, got 'x'"],
    [['--playbook-version', 'x'], "--playbook-version must be a whole number or 'latest', got 'x'"],
    [['--set', 'a.b=1'], "--set a.b=1: give the whole of 'a'"],
  ])('refuses %j', async (args, message) => {
    const { history } = answering('rerun', started)
    const flags = await flagsOf('rerun', '1', ...args)
    await expect(
      rerunExecution(flags as never, ending(history, 'COMPLETED'), createRecordingTerminal(), WAITING),
    ).rejects.toThrow(message)
  })
})

describe('noetl retry', () => {
  it('names the steps and says what runs', async () => {
    const { history, asked } = answering('retry', { steps: ['b'], commands_generated: 1 })
    const terminal = createRecordingTerminal()
    const flags = await flagsOf('retry', '1', '--step', 'b', '--reason', 'fixed', '--var', 'x=1')
    expect(await retryExecution(flags as never, ending(history, 'COMPLETED'), terminal, WAITING)).toBe(0)
    expect(asked).toEqual([['1', { steps: ['b'], variables: { x: 1 }, reason: 'fixed' }]])
    expect(terminal.written()).toBe('execution 1 runs again, 1 command: b\n')
  })
})

describe('noetl diff', () => {
  const side = {
    execution_id: '1',
    path: 'tests/x',
    version: 1,
    status: 'COMPLETED',
    error: null,
    duration_ms: 1500,
    origin_execution_id: null,
    steps: 2,
  }
  const run = {
    outcome: 'completed',
    reason: null,
    duration_ms: 10,
    commands: 1,
    released: 0,
    next: [],
    error: null,
  }
  const answer: DiffAnswer = {
    same: false,
    same_definition: true,
    a: side,
    b: { ...side, execution_id: '2', status: 'FAILED', error: 'no', origin_execution_id: '1' },
    first_difference: { aspect: 'workload', step: null, run: null, text: 'workload.n is 1 and 2' },
    workload: [{ path: 'n', kind: 'changed', a: 1, b: 2 }],
    path: { only_in_a: [], only_in_b: ['c'] },
    steps: [
      { step: 'a', run: 1, differs: [], a: run, b: run, input: [], result: [] },
      {
        step: 'b',
        run: 1,
        differs: ['outcome', 'result', 'routing'],
        a: { ...run, next: ['c'] },
        b: { ...run, outcome: 'failed', duration_ms: null, error: 'no' },
        input: [],
        result: [{ path: '', kind: 'removed', a: 'x'.repeat(80), b: null }],
      },
      { step: 'c', run: 2, differs: ['path'], a: null, b: run, input: [], result: [] },
    ],
    steps_total: 3,
    steps_differing: 2,
    result: [{ path: 'rows[0]', kind: 'added', a: null, b: 1 }],
  }

  it('can be read in a terminal, and exits with 1 when they differ', async () => {
    const { history } = answering('diff', answer)
    const terminal = createRecordingTerminal()
    expect(await diffExecutions((await flagsOf('diff', '1', '2')) as never, history, terminal)).toBe(1)
    expect(terminal.written()).toBe(`a  1  tests/x version 1  COMPLETED after 1.5 s
b  2  tests/x version 1  FAILED after 1.5 s, rerun of 1
   no

first difference  workload.n is 1 and 2

workload
  n: 1 → 2

steps
  = a          completed  10 ms → 10 ms
  ≠ b          completed → failed  10 ms → …  (outcome, result, routing)
      result "${'x'.repeat(59)}… →
      leads to c → nothing
      error none → no
  + c (run 2)  completed, only in b

result
  rows[0]: → 1
`)
  })

  it('exits with 0 when they did the same, also under another number of the version', async () => {
    const b = { ...side, execution_id: '2', version: 2 }
    const { history } = answering('diff', { ...answer, b, same: true, first_difference: null })
    const terminal = createRecordingTerminal()
    const flags = await flagsOf('diff', '1', '2')
    expect(await diffExecutions(flags as never, history, terminal)).toBe(0)
    expect(terminal.written()).toContain('   both versions have the same definition\n\nno difference\n')
  })
})

describe('noetl export and import', () => {
  const directory = mkdtempSync(join(tmpdir(), 'noetl-cli-'))
  const FILE = '{"type":"header"}\n{"type":"event","text":"ü"}\n{"type":"end"}\n'
  /** Cut at places that are no ends of lines, also within a character. */
  const pieces = async function* (text: string): AsyncGenerator<Uint8Array> {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7)
  }

  it('prints the file as it is', async () => {
    const { history, asked } = answering('export', pieces(FILE))
    const terminal = createRecordingTerminal()
    const flags = await flagsOf('export', '1', '--with-children', '--include-secrets')
    expect(await exportExecution(flags as never, history, terminal)).toBe(0)
    expect(asked).toEqual([['1', { with_children: 'true', include_secrets: 'true' }]])
    expect(terminal.written()).toBe(FILE)
  })

  it('writes it to a file, which appears only when it is whole', async () => {
    const output = join(directory, 'whole.ndjson')
    const whole = answering('export', pieces(FILE))
    await exportExecution(
      (await flagsOf('export', '1', '-o', output)) as never,
      whole.history,
      createRecordingTerminal(),
    )
    expect(readFileSync(output, 'utf8')).toBe(FILE)
    const broken = answering('export', pieces(FILE.slice(0, 30)))
    const flags = {
      command: 'export',
      execution: '1',
      withChildren: false,
      includeSecrets: false,
      output: join(directory, 'broken'),
    } as const
    await expect(exportExecution(flags, broken.history, createRecordingTerminal())).rejects.toThrow(
      'The export broke off',
    )
    expect(readdirSync(directory)).toEqual(['whole.ndjson'])
    const nowhere = { ...flags, output: join(directory, 'no', 'such', 'place') }
    const unwritten = answering('export', pieces(FILE))
    await expect(exportExecution(nowhere, unwritten.history, createRecordingTerminal())).rejects.toThrow(
      `${nowhere.output} cannot be written: ENOENT`,
    )
  })

  it('sends a file and says what came of it', async () => {
    const file = join(directory, 'sent.ndjson')
    writeFileSync(file, FILE)
    const { history, asked } = answering('import', {
      status: 'imported',
      execution_id: '1',
      executions: ['1'],
      events: 1,
      results: 0,
      resumed_as: '2',
    })
    const terminal = createRecordingTerminal()
    expect(
      await importExecution((await flagsOf('import', file, '--resume')) as never, history, terminal),
    ).toBe(0)
    const [[bytes, query]] = asked as [[Readable, unknown]]
    expect([bytes instanceof Readable, query]).toEqual([true, { resume: 'true' }])
    expect(terminal.written()).toBe(
      'imported execution 1: 1 execution, 1 event, 0 results\nit goes on as execution 2\n',
    )
    bytes.destroy()
  })

  it('names a file that does not exist', async () => {
    const { history } = answering('import', {})
    const flags = { command: 'import', file: join(directory, 'none'), resume: false, json: false } as const
    await expect(importExecution(flags, history, createRecordingTerminal())).rejects.toThrow(
      'none does not exist',
    )
  })
})

describe('noetl doctor', () => {
  const page: DoctorAnswer = {
    healthy: true,
    checked: 2,
    events: 10,
    snapshots: 1,
    timers: 1,
    results: 0,
    idle_timers: 0,
    unreferenced_results: 0,
    unreferenced_bytes: 0,
    next: null,
    differences: [],
  }

  it('goes through all pages and exits with 0 when all is well', async () => {
    const { history, asked } = answering('doctor', { ...page, next: '7' }, page)
    const terminal = createRecordingTerminal()
    expect(await examine((await flagsOf('doctor')) as never, history, terminal)).toBe(0)
    expect(asked).toEqual([[{}], [{ after: '7' }]])
    expect(terminal.written()).toBe(
      '✓ 4 executions, 20 events, 2 snapshots, 2 timers, 0 stored results examined: everything stored is what the logs say\n',
    )
  })

  it('tells what is left over, which is no difference, and how it goes away', async () => {
    const left = { ...page, idle_timers: 1, unreferenced_results: 2, unreferenced_bytes: 3_000_000 }
    const { history } = answering('doctor', left)
    const terminal = createRecordingTerminal()
    expect(await examine((await flagsOf('doctor')) as never, history, terminal)).toBe(0)
    expect(terminal.written()).toContain(
      '  1 timer with nothing left to tell: each goes away when it is due\n' +
        '  2 stored results (3 MB) that no event refers to: left by reports that came too late',
    )
    expect(terminal.written()).toContain('DELETE /api/result/ID')
  })

  it('prints the sums of all pages as JSON', async () => {
    const { history } = answering('doctor', { ...page, next: '7' }, { ...page, unreferenced_results: 3 })
    const terminal = createRecordingTerminal()
    await examine((await flagsOf('doctor', '--json')) as never, history, terminal)
    expect(JSON.parse(terminal.written())).toMatchObject({
      healthy: true,
      checked: 4,
      timers: 2,
      unreferenced_results: 3,
      differences: [],
    })
  })

  it('lists differences and exits with 1', async () => {
    const difference = {
      execution_id: '7',
      kind: 'row' as const,
      message: 'the column status is not what the log says',
      stored: 'RUNNING',
      folded: 'FAILED',
    }
    const stuck = { ...difference, kind: 'no_cause' as const, message: 'nothing moves it', folded: null }
    const untold = { ...difference, kind: 'timer' as const, message: 'no timer tells', stored: null }
    const { history, asked } = answering('doctor', { ...page, differences: [difference, stuck, untold] })
    const terminal = createRecordingTerminal()
    expect(await examine((await flagsOf('doctor', '7')) as never, history, terminal)).toBe(1)
    expect(asked).toEqual([[{ execution_id: '7' }]])
    expect(terminal.written()).toContain(
      '✗ 7  the column status is not what the log says: stored "RUNNING", by the log "FAILED"\n✗ 7  nothing moves it\n✗ 7  no timer tells\n',
    )
  })
})
