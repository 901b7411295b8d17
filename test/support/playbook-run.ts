/**
 * Playbooks through the whole product: a server with its worker, its timers and its HTTP face on a database of its own.
 *
 * 1. Registering, executing and asking go over HTTP, as users do it; the log is then read from the store.
 * 2. Every run that ended has a sound history: the log without gaps, one terminal event, the row equal to the fold.
 * 3. A run that does not end fails its test with the log so far; no execution of a file may be left without a cause to
 *    go on, and what is stored of all of them is what their logs say.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import type { Stack } from '../../src/compose/stack.ts'
import { startStack } from '../../src/compose/stack.ts'
import type { EventRecord, ExecutionStatus } from '../../src/contract/event.ts'
import { EVENT, terminalStatusOf } from '../../src/contract/event.ts'
import type { Json, JsonObject } from '../../src/contract/json.ts'
import { evolve } from '../../src/engine/evolve.ts'
import type { State } from '../../src/engine/state.ts'
import { createState } from '../../src/engine/state.ts'
import { parseJson } from '../../src/lib/exact-json.ts'
import { silentLog } from '../../src/worker/log.ts'
import { historyProblems, readLog, storedDifferences, stuckExecutions } from './history.ts'
import type { TestDatabase } from './postgres.ts'
import { createTestDatabase } from './postgres.ts'
import { textOf } from './server.ts'

/** The key of `testSealer`, with which the helpers for histories read the log. */
const TEST_KEY = Buffer.alloc(32, 7).toString('base64')
const END_WITHIN_MS = 40_000

export interface PlaybookRun {
  readonly executionId: string
  readonly status: ExecutionStatus | null
  readonly error: string | null
  /** Data of the terminal event. */
  readonly result: Json
  /** As they were written, secrets included. */
  readonly events: readonly EventRecord[]
  /** Steps in the order they were entered. */
  readonly runs: readonly string[]
  /** Skipped steps with the reason, in order. */
  readonly skipped: readonly string[]
  readonly commands: readonly EventRecord[]
  readonly state: State
  /** User data of a step; undefined when it has none. */
  data(step: string): Json | undefined
}

export interface Playbook {
  /** Items of the workflow list. */
  readonly steps: string
  /** Top-level keys besides the header and the workflow. */
  readonly top?: string
  readonly path?: string
}

export interface ExecuteOptions {
  readonly payload?: JsonObject
  readonly pool?: string
}

export interface Answer {
  readonly status: number
  readonly body: JsonObject
  readonly text: string
}

export interface Refusal {
  readonly status: number
  readonly codes: readonly string[]
  readonly problems: readonly { code: string; message: string; line: number; column: number }[]
  readonly text: string
}

export interface Product {
  readonly stack: () => Stack
  /** The database of the product, which tools may use as well. */
  readonly databaseUrl: () => string
  get(path: string): Promise<Answer>
  post(path: string, body: unknown): Promise<Answer>
  register(playbook: Playbook | string): Promise<string>
  /** Why a playbook cannot be registered. */
  refusal(playbook: Playbook | string): Promise<Refusal>
  /** Warnings of a playbook that can. */
  warnings(playbook: Playbook | string): Promise<readonly string[]>
  /** Registers and starts; answers the execution id. */
  start(playbook: Playbook | string, options?: ExecuteOptions): Promise<string>
  /** Waits for the end of an execution. */
  ended(executionId: string): Promise<PlaybookRun>
  /** What there is of an execution now, whether it ended or not. */
  look(executionId: string): Promise<PlaybookRun>
  /** Waits until an event of the execution fits. */
  seen(executionId: string, fits: (event: EventRecord) => boolean): Promise<EventRecord>
  /** Registers, starts, waits for the end. */
  run(playbook: Playbook | string, options?: ExecuteOptions): Promise<PlaybookRun>
}

const indent = (text: string, by: number): string =>
  text
    .replace(/^\n+/, '')
    .trimEnd()
    .split('\n')
    .map((line) => ' '.repeat(by) + line)
    .join('\n')

/** Removes the indentation that all lines share. */
const dedent = (text: string): string => {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const margin = Math.min(...lines.map((line) => line.length - line.trimStart().length))
  return lines.map((line) => line.slice(margin)).join('\n')
}

let paths = 0

/** The text of a playbook; a bare text is its list of steps. */
export const playbookText = (playbook: Playbook | string): string => {
  const {
    steps,
    top = '',
    path = `conformance/case-${(paths += 1)}`,
  } = typeof playbook === 'string' ? { steps: playbook } : playbook
  const head = `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: { name: case, path: ${path} }\n`
  return `${head}${top === '' ? '' : `${dedent(top)}\n`}workflow:\n${indent(dedent(steps), 2)}\n`
}

const asText = (playbook: Playbook | string): string =>
  typeof playbook === 'string' && playbook.startsWith('apiVersion') ? playbook : playbookText(playbook)

export const useProduct = (): Product => {
  let database: TestDatabase
  let stack: Stack
  const dataDir = mkdtempSync(join(tmpdir(), 'noetl-conformance-'))
  beforeAll(async () => {
    database = await createTestDatabase()
    stack = await startStack({
      ...settings(database.url, dataDir),
      version: '0.0.0-test',
      log: silentLog,
      toolEnv: process.env,
    })
  })
  afterAll(async () => {
    const stuck = await stuckExecutions(stack.core.shards.all)
    const differences = await storedDifferences(stack.core)
    await stack.stop()
    await database.drop()
    rmSync(dataDir, { recursive: true, force: true })
    expect(stuck).toEqual([])
    expect(differences).toEqual([])
  })

  const send = async (path: string, init?: RequestInit): Promise<Answer> => {
    const response = await fetch(`${stack.url}${path}`, init)
    const text = await response.text()
    return { status: response.status, body: (text === '' ? {} : parseJson(text)) as JsonObject, text }
  }
  const post: Product['post'] = (path, body) =>
    send(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const tryRegister = (playbook: Playbook | string): Promise<Answer> =>
    post('/api/catalog/register', { content: asText(playbook) })
  const register: Product['register'] = async (playbook) =>
    textOf(expectOk(await tryRegister(playbook))['catalog_id'])
  const look: Product['look'] = async (executionId) =>
    describeRun(executionId, await readLog(stack.core.shards.of(executionId), executionId))
  const start: Product['start'] = async (playbook, { payload = {}, pool } = {}) => {
    const catalog_id = await register(playbook)
    const answer = await post('/api/execute', {
      catalog_id,
      payload,
      ...(pool === undefined ? {} : { execution_pool: pool }),
    })
    return textOf(expectOk(answer)['execution_id'])
  }
  const ended: Product['ended'] = async (executionId) => {
    await until(stack, executionId, ({ status }) => status !== null && status !== 'RUNNING', look)
    expect(await historyProblems(stack.core.shards.of(executionId), executionId)).toEqual([])
    return look(executionId)
  }
  return {
    stack: () => stack,
    databaseUrl: () => database.url,
    get: (path) => send(path),
    post,
    register,
    refusal: async (playbook) => asRefusal(await tryRegister(playbook)),
    warnings: async (playbook) =>
      (expectOk(await tryRegister(playbook))['warnings'] as unknown as { code: string }[]).map(
        ({ code }) => code,
      ),
    start,
    ended,
    look,
    seen: async (executionId, fits) => {
      const { events } = await until(stack, executionId, (run) => run.events.some(fits), look)
      return events.find(fits) as EventRecord
    },
    run: async (playbook, options) => ended(await start(playbook, options)),
  }
}

const settings = (url: string, dataDir: string) =>
  ({
    host: '127.0.0.1',
    port: 0,
    dataDir,
    slots: 8,
    capabilities: [],
    graceSeconds: 10,
    databaseUrls: [url],
    machineId: 7,
    machineIdGiven: true,
    otlp: null,
    metrics: true,
    rawSql: false,
    encryptionKey: TEST_KEY,
    previousEncryptionKey: null,
    internalToken: null,
    pgBinDir: null,
    python: process.env['NOETL_PYTHON'] ?? null,
    logLevel: 'silent',
    leaseSeconds: 60,
    examples: false,
    insecure: false,
  }) as const

/** Looks after every commit of the execution, and now and then in case one was missed. */
const until = async (
  stack: Stack,
  executionId: string,
  isDone: (run: PlaybookRun) => boolean,
  look: (executionId: string) => Promise<PlaybookRun>,
): Promise<PlaybookRun> => {
  const deadline = performance.now() + END_WITHIN_MS
  let wake: () => void = () => undefined
  const forget = stack.core.onCommit((state) => {
    if (state.executionId === executionId) wake()
  })
  try {
    for (;;) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve
        setTimeout(resolve, 500)
      })
      const run = await look(executionId)
      if (isDone(run)) return run
      if (performance.now() > deadline)
        throw new Error(`the execution does not get there:\n${listing(run.events)}`)
      await woken
    }
  } finally {
    forget()
  }
}

const listing = (events: readonly EventRecord[]): string =>
  events
    .map((event) => `${event.position} ${event.eventType} ${event.nodeName} ${event.error ?? ''}`)
    .join('\n')

const describeRun = (executionId: string, events: readonly EventRecord[]): PlaybookRun => {
  const state = createState(executionId)
  for (const event of events) evolve(state, event)
  const named = (type: string): readonly EventRecord[] => events.filter((event) => event.eventType === type)
  const end = events.find((event) => terminalStatusOf(event.eventType) !== null)
  return {
    executionId,
    status: state.status,
    error: state.error,
    result: end?.result?.context?.['data'] ?? null,
    events,
    runs: named(EVENT.stepEnter).map((event) => event.nodeName ?? ''),
    skipped: named(EVENT.stepSkipped).map(
      (event) => `${event.nodeName} ${textOf(event.result?.context?.['reason'] ?? event.meta['reason'])}`,
    ),
    commands: named(EVENT.commandIssued),
    state,
    data: (step) => state.steps.get(step)?.data,
  }
}

const asRefusal = ({ status, body, text }: Answer): Refusal => {
  const details = body['details'] as
    | { problems?: (Refusal['problems'][number] & { severity: string })[] }
    | undefined
  const problems = (details?.problems ?? []).filter((problem) => problem.severity === 'error')
  return { status, problems, codes: problems.map(({ code }) => code), text }
}

const expectOk = ({ status, body, text }: Answer): JsonObject => {
  if (status !== 200) throw new Error(`the server answered ${status}: ${text}`)
  return body
}
