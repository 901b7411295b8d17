/** Hides secrets in large data, in a thread of its own: looking through it would hold up the other commands. */
import type { LargeData } from '../../contract/large-data.ts'
import { createJobThread, type JobThread } from '../../lib/job-thread.ts'
import type { Masker } from '../credentials/masker.ts'

export interface MaskJob {
  readonly json: Uint8Array
  readonly texts: readonly string[]
}

// One for all workers of the process: it is started when it is needed and ends by itself.
let thread: JobThread | null = null

/** The data without what the masker hides; what is handed in is gone afterwards. */
export const maskLarge = async (masker: Masker, { json }: LargeData): Promise<LargeData> => {
  thread ??= createJobThread(new URL('mask-program.ts', import.meta.url))
  const job: MaskJob = { json, texts: masker.texts() }
  return { json: (await thread.run(job, [json.buffer as ArrayBuffer])) as Uint8Array }
}
