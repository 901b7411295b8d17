/** How an execution that was followed ended: its result and a summary, or the same as one JSON document. */
import type { ExecutionEnd } from '../client/answers.ts'
import type { Client } from '../client/client.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { countOf } from './diagnostics.ts'
import { durationText } from './duration.ts'
import { resultLines } from './result-lines.ts'
import type { RunProgress } from './run-progress.ts'
import type { Shown } from './show-execution.ts'
import type { Terminal } from './terminal.ts'
import { wholeData } from './whole-data.ts'

export interface Ended {
  readonly executionId: string
  readonly shown: Shown
  readonly client: Pick<Client, 'url' | 'resolve'>
  readonly terminal: Terminal
  /** What stands in front of the JSON document; null for lines. */
  readonly json: JsonObject | null
}

export const printEnding = async ({ executionId, shown, client, terminal, json }: Ended): Promise<void> => {
  const result = await wholeData(shown.progress.result() ?? null, client)
  if (json !== null) {
    terminal.out(JSON.stringify({ ...json, ...endDocument(executionId, shown, result) }))
    return
  }
  const where = `curl ${client.url}/api/executions/${executionId}/result`
  const lines = shown.end.status === 'COMPLETED' ? resultSection(result, terminal, where) : []
  terminal.out([...lines, summary(shown.end, shown.progress, terminal)].join('\n'))
}

const resultSection = (result: Json, terminal: Terminal, where: string): readonly string[] => {
  if (result === null) return []
  const { style, isInteractive } = terminal
  return [
    isInteractive ? `\n${style.bold('Result')}` : 'result',
    ...resultLines(result, terminal, where),
    ...(isInteractive ? [''] : []),
  ]
}

const SUMMARIES: Record<ExecutionEnd['status'], readonly [symbol: string, words: string]> = {
  COMPLETED: ['✓', 'Completed'],
  FAILED: ['✗', 'Failed'],
  CANCELLED: ['■', 'Cancelled'],
}

const summary = (end: ExecutionEnd, progress: RunProgress, { style, isInteractive }: Terminal): string => {
  const [symbol, words] = SUMMARIES[end.status]
  const ran = progress.runs.filter((run) => run.status !== 'skipped').length
  const facts = `after ${durationText(progress.durationMs())}, ${countOf(ran, 'step')}${end.error === null ? '' : `: ${end.error}`}`
  if (!isInteractive) return `${end.status.toLowerCase()} ${facts}`
  const paint = end.status === 'COMPLETED' ? style.green : end.status === 'FAILED' ? style.red : style.yellow
  return `${paint(style.bold(`${symbol} ${words}`))} ${facts}`
}

const endDocument = (executionId: string, { end, progress }: Shown, result: Json) => ({
  execution_id: executionId,
  status: end.status,
  result,
  error: end.error,
  steps: progress.runs.map((run) => ({
    step: run.step,
    run: run.run,
    status: run.status,
    tool: run.tool,
    duration_ms: run.durationMs,
    ...(run.loop ? { items: run.loop.total, failed_items: run.loop.failed } : {}),
    ...(run.reason === null ? {} : { reason: run.reason }),
    ...(run.error ? { error: run.error } : {}),
  })),
})
