/** The lines that show an execution: for people at a terminal with symbols and colour, else in plain words. */
import { countOf } from './diagnostics.ts'
import { durationText } from './duration.ts'
import type { StepRun, StepStatus } from './step-run.ts'
import type { Style, Terminal } from './terminal.ts'

export interface RunLines {
  step(run: StepRun): readonly string[]
  waitsAgain(run: StepRun, reason: string, attempt: number): string
  /** The one line about everything that runs now. */
  live(running: readonly StepRun[], nowMs: number, frame: number): string
}

interface Mark {
  readonly symbol: string
  readonly word: string
  readonly paint: (style: Style) => (text: string) => string
}

const MARKS: Record<StepStatus, Mark> = {
  running: { symbol: '·', word: 'running', paint: (style) => style.cyan },
  completed: { symbol: '✓', word: 'ok', paint: (style) => style.green },
  failed: { symbol: '✗', word: 'failed', paint: (style) => style.red },
  handled: { symbol: '!', word: 'failed', paint: (style) => style.yellow },
  skipped: { symbol: '-', word: 'skipped', paint: (style) => style.dim },
  stopped: { symbol: '■', word: 'stopped', paint: (style) => style.yellow },
}

const SKIP_REASONS: Readonly<Record<string, string>> = {
  guard: 'its condition is false',
  dead_path: 'no path leads to it',
  upstream_failed: 'a step before it failed',
}

const WORD_WIDTH = 8
const TOOL_WIDTH = 8
const WIDEST_NAME = 32
const OUTPUT_LINES = 10
const TRACEBACK_LINES = 10
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/** `stepNames` sets the width of their column. */
export const createRunLines = (terminal: Terminal, stepNames: readonly string[]): RunLines => {
  const { style, isInteractive } = terminal
  const width = Math.min(WIDEST_NAME, Math.max(8, ...stepNames.map((name) => name.length)))

  const head = ({ status, step, tool }: StepRun, extra: readonly string[]): string => {
    const { symbol, word, paint } = MARKS[status]
    const mark = isInteractive ? `  ${paint(style)(symbol)}` : word.padEnd(WORD_WIDTH)
    const name = status === 'skipped' ? style.dim(step.padEnd(width)) : step.padEnd(width)
    const columns = [mark, name, style.dim((tool ?? '').padEnd(TOOL_WIDTH)), ...extra]
    return columns.join(' ').trimEnd()
  }

  return {
    step: (run) => [head(run, factsOf(run, style)), ...detailLines(run, terminal)],
    waitsAgain: (run, reason, attempt) => {
      const why = reason === 'lease_expired' ? 'its worker stopped answering' : 'its worker handed it back'
      return head({ ...run, status: 'stopped' }, [
        style.yellow(`waits again after attempt ${attempt}: ${why}`),
      ])
    },
    live: (running, nowMs, frame) => {
      const parts = running.map((run) => livePart(run, nowMs))
      const text = `  ${FRAMES[frame % FRAMES.length] ?? ''} ${parts.join('   ')}`
      const room = terminal.columns() - 1
      return style.cyan(text.length > room ? `${text.slice(0, Math.max(0, room - 1))}…` : text)
    },
  }
}

const livePart = ({ step, loop, startedAt }: StepRun, nowMs: number): string => {
  const elapsed = durationText(Math.max(0, nowMs - startedAt))
  return loop
    ? `${step} ${bar(loop.done, loop.total)} ${loop.done}/${loop.total} ${elapsed}`
    : `${step} ${elapsed}`
}

const BAR_WIDTH = 16

const bar = (done: number, total: number): string => {
  // Items that are run again after the end count again.
  const filled = total === 0 ? BAR_WIDTH : Math.min(BAR_WIDTH, Math.round((done / total) * BAR_WIDTH))
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}`
}

const factsOf = (run: StepRun, style: Style): readonly string[] => {
  const facts: string[] = []
  if (run.durationMs !== null) facts.push(durationText(run.durationMs).padStart(7))
  if (run.loop) facts.push(loopText(run.loop))
  if (run.run > 1) facts.push(style.dim(`run ${run.run}`))
  if (run.status === 'handled')
    facts.push(style.yellow(`handled by ${run.next.length > 0 ? run.next.join(', ') : 'going on'}`))
  if (run.reason !== null) facts.push(style.dim(`(${SKIP_REASONS[run.reason] ?? run.reason})`))
  return [facts.join('  ')]
}

const loopText = ({ total, done, failed }: NonNullable<StepRun['loop']>): string => {
  const ran = done === total ? countOf(total, 'item') : `${done} of ${countOf(total, 'item')}`
  return failed > 0 ? `${ran}, ${failed} failed` : ran
}

const detailLines = (run: StepRun, { style, isInteractive }: Terminal): readonly string[] => {
  const indent = isInteractive ? '      ' : '  '
  const lines: string[] = []
  const quote = (text: string, keep: 'head' | 'tail'): void => {
    if (text.trim() === '') return
    for (const line of shortened(text.trimEnd().split('\n'), OUTPUT_LINES, keep))
      lines.push(`${indent}${style.dim('│')} ${line}`)
  }
  quote(run.output, 'head')
  // Programs say there why they failed, most often at the end.
  if (run.status === 'failed') quote(run.errorOutput, 'tail')
  if (!run.error) return lines
  const paint = run.status === 'handled' ? style.yellow : style.red
  lines.push(`${indent}${paint(run.error.message)}`)
  if (run.error.traceback !== null && run.status !== 'handled') {
    const traceback = run.error.traceback.trimEnd().split('\n')
    // Its last line repeats the message.
    if (traceback.at(-1)?.trim() === run.error.message) traceback.pop()
    lines.push(...shortened(traceback, TRACEBACK_LINES, 'tail').map((line) => `${indent}${style.dim(line)}`))
  }
  return lines
}

const shortened = (lines: readonly string[], most: number, keep: 'head' | 'tail'): readonly string[] => {
  if (lines.length <= most) return lines
  const left = countOf(lines.length - most, 'more line')
  return keep === 'head' ? [...lines.slice(0, most), `… ${left}`] : [`… ${left}`, ...lines.slice(-most)]
}
