/** What runs in the thread that masks large data. */
import { serveJobs } from '../../lib/job-thread.ts'
import { createMasker } from '../credentials/masker.ts'
import { maskJson } from './mask-json.ts'
import type { MaskJob } from './mask-large.ts'

serveJobs((job) => {
  const { json, texts } = job as MaskJob
  const masker = createMasker()
  masker.hideTexts(texts)
  const { buffer, byteOffset, byteLength } = json
  const masked = maskJson(Buffer.from(buffer, byteOffset, byteLength), masker)
  // Given back now, not when somebody collects it.
  if (buffer instanceof ArrayBuffer) buffer.transfer(0)
  return { value: masked, transfer: [masked.buffer as ArrayBuffer] }
})
