/** What tools print while they run, on its way from the worker to whoever watches. */
import type { LeaseKey } from './command.ts'

export const OUTPUT_STREAMS = ['stdout', 'stderr'] as const
export type OutputStream = (typeof OUTPUT_STREAMS)[number]

/** A piece of the output of one attempt. Parts count from 1, so that a piece that is sent twice is kept once. */
export interface OutputPart {
  readonly part: number
  readonly stream: OutputStream
  /** ISO-8601 UTC. */
  readonly at: string
  readonly text: string
}

export interface CommandOutput extends LeaseKey {
  readonly parts: readonly OutputPart[]
}
