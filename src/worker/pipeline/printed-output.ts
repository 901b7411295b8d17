/** What the tasks of a pipeline printed, one after another: the last 256 K characters of each stream. */
import type { ToolResult } from '../tool.ts'

const MOST_CHARACTERS = 256 * 1024
const CUT_NOTE = '[earlier output dropped]\n'

export interface PrintedOutput {
  add(result: ToolResult): void
  /** The streams that have something in them. */
  streams(): Pick<ToolResult, 'stdout' | 'stderr'>
}

interface Stream {
  add(text: string | undefined): void
  text(): string
}

const createStream = (): Stream => {
  let kept = ''
  let isCut = false
  const cut = (): void => {
    kept = kept.slice(-MOST_CHARACTERS).toWellFormed()
    isCut = true
  }
  return {
    add(text) {
      if (text === undefined || text === '') return
      kept += text
      // Twice the limit, so that many small pieces do not cost a copy each.
      if (kept.length > 2 * MOST_CHARACTERS) cut()
    },
    text() {
      if (kept.length > MOST_CHARACTERS) cut()
      return isCut ? CUT_NOTE + kept : kept
    },
  }
}

export const createPrintedOutput = (): PrintedOutput => {
  const stdout = createStream()
  const stderr = createStream()
  return {
    add(result) {
      stdout.add(result.stdout)
      stderr.add(result.stderr)
    },
    streams() {
      const [out, err] = [stdout.text(), stderr.text()]
      return { ...(out === '' ? {} : { stdout: out }), ...(err === '' ? {} : { stderr: err }) }
    },
  }
}
