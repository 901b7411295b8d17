/**
 * `noetl logs`: what the tools of an execution printed, or print right now.
 *
 * 1. Text goes to the stream it was printed on, so that redirections work as if the tools ran here.
 * 2. Several steps are told apart by a prefix; a line that is not finished waits for its rest.
 * 3. With `--json` every piece is one line of JSON on stdout.
 * 4. Ctrl-C ends the following, not the execution, and is no failure. So does a reader that went away (`| head`).
 * 5. A step that the playbook does not have is told as that, not as one that printed nothing.
 */
import type { ExecutionEnd, LogEntry } from '../client/answers.ts'
import type { Client } from '../client/client.ts'
import type { HistoryClient } from '../client/history.ts'
import { ProblemError } from '../contract/problem.ts'
import { errorLine, EXIT, READING_ON } from './failure.ts'
import type { Terminal } from './terminal.ts'

export interface LogsFlags {
  readonly execution: string
  readonly step: string | null
  readonly follow: boolean
  readonly json: boolean
}

export interface LogsClient extends Pick<Client, 'logs' | 'followLogs'> {
  readonly history: Pick<HistoryClient, 'explain'>
}

export const showLogs = async (
  flags: LogsFlags,
  client: LogsClient,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> => {
  const { execution, follow, json } = flags
  const filter: Record<string, string> = flags.step === null ? {} : { step: flags.step }
  const lines = createLinePrinter(terminal, flags.step === null)
  const show = (entry: LogEntry): void => (json ? terminal.out(JSON.stringify(entry)) : lines.add(entry))
  if (!follow) {
    let shown = 0
    for (let cursor: string | null = ''; cursor !== null && !terminal.abandoned.aborted;) {
      const page = await client.logs(execution, cursor === '' ? filter : { ...filter, after: cursor })
      for (const entry of page.entries) show(entry)
      shown += page.entries.length
      cursor = page.next_cursor
    }
    lines.flush()
    if (shown === 0 && (await lacksStep(flags, client, terminal))) return EXIT.failed
    if (shown === 0 && !json) terminal.err(terminal.errorStyle.dim(nothingPrinted(flags.step)))
    return EXIT.ok
  }
  if (await lacksStep(flags, client, terminal)) return EXIT.failed
  let end: ExecutionEnd | null = null
  const left = AbortSignal.any([signal, terminal.abandoned])
  const onBreak = (): void => terminal.err(terminal.errorStyle.dim(READING_ON))
  try {
    for await (const item of client.followLogs(execution, filter, { signal: left, onBreak })) {
      if (item.type === 'output') show(item.entry)
      else ({ end } = item)
    }
  } catch (error) {
    if (!left.aborted) throw error
  }
  lines.flush()
  if (end && !json)
    terminal.err(terminal.errorStyle.dim(`Execution ${execution} ${end.status.toLowerCase()}`))
  return EXIT.ok
}

/** Whether the playbook has no such step; if so, that is told. Whatever else is wrong, reading the output will say. */
const lacksStep = async (
  { execution, step }: LogsFlags,
  { history }: LogsClient,
  terminal: Terminal,
): Promise<boolean> => {
  if (step === null) return false
  const problem = await history.explain(execution, { step }).then(
    () => null,
    (error: unknown) => error,
  )
  if (!(problem instanceof ProblemError) || problem.code !== 'invalid') return false
  terminal.err(errorLine(`Execution ${execution} has no such step: ${problem.message}`, terminal))
  return true
}

const nothingPrinted = (step: string | null): string =>
  step === null ? 'No tool of this execution printed anything' : `No tool of step '${step}' printed anything`

/** Puts pieces together to lines. */
const createLinePrinter = (terminal: Terminal, withPrefix: boolean) => {
  const pending = new Map<string, { entry: LogEntry; text: string }>()
  const print = (entry: LogEntry, line: string): void => {
    const isError = entry.stream === 'stderr'
    const style = isError ? terminal.errorStyle : terminal.style
    const text = withPrefix ? `${style.dim(`${entry.step} |`)} ${line}` : line
    if (isError) terminal.err(text)
    else terminal.out(text)
  }
  return {
    add: (entry: LogEntry): void => {
      const key = `${entry.event_id} ${entry.attempt} ${entry.stream}`
      const lines = `${pending.get(key)?.text ?? ''}${entry.text}`.split('\n')
      const rest = lines.pop() ?? ''
      for (const line of lines) print(entry, line.replace(/\r$/, ''))
      if (rest === '') pending.delete(key)
      else pending.set(key, { entry, text: rest })
    },
    flush: (): void => {
      for (const { entry, text } of pending.values()) print(entry, text)
      pending.clear()
    },
  }
}
