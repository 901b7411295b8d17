/** A terminal that keeps what is written to it. */
import type { Terminal } from '../terminal.ts'
import { createTerminal } from '../terminal.ts'

export interface RecordingTerminal extends Terminal {
  /** Everything written, in order, stdout and stderr together. */
  written(): string
}

export interface RecordingOptions {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly env?: Readonly<Record<string, string>>
}

/** Without colour unless the environment asks for it. */
export const createRecordingTerminal = ({
  isTTY = false,
  columns = 80,
  env = { NO_COLOR: '1' },
}: RecordingOptions = {}): RecordingTerminal => {
  let text = ''
  const stream = { isTTY, columns, write: (piece: string) => void (text += piece), on: () => undefined }
  return { ...createTerminal({ stdout: stream, stderr: stream, env }), written: () => text }
}
