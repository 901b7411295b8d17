/** Amounts as manifests write them (`512Mi`, `1G`, `500m`), as the runtimes take them. */
import type { Json } from '../../../contract/json.ts'
import { configFailure } from '../../tool-failure.ts'
import { textOf } from '../coerce.ts'

const FACTORS: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  K: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
  Ti: 1024 ** 4,
}

/** Bytes. */
export const memoryBytes = (value: Json, field: string): number => {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*$/.exec(textOf(value) ?? '')
  const factor = match === null ? undefined : FACTORS[match[2] ?? '']
  const bytes = Math.floor(Number(match?.[1]) * (factor ?? Number.NaN))
  if (Number.isSafeInteger(bytes) && bytes > 0) return bytes
  throw configFailure(`${field} must be an amount of memory such as 512Mi, not ${JSON.stringify(value)}`)
}

/** Cores. */
export const cpuCores = (value: Json, field: string): number => {
  const match = /^\s*(\d+(?:\.\d+)?)\s*(m?)\s*$/.exec(textOf(value) ?? '')
  const cores = Number(match?.[1]) / (match?.[2] === 'm' ? 1000 : 1)
  if (Number.isFinite(cores) && cores > 0) return cores
  throw configFailure(`${field} must be a number of cores such as 0.5 or 500m, not ${JSON.stringify(value)}`)
}
