/** Versions of catalog entries as clients write them. */
import { ProblemError } from '../contract/problem.ts'

/** As far as the version column counts. */
const MAX_VERSION = 2 ** 31 - 1

/** Null means the newest version. */
export const parseVersion = (version: string | number | null): number | null => {
  if (version === null || version === '' || version === 'latest') return null
  const number = Number(version)
  if (!Number.isInteger(number) || number < 1 || number > MAX_VERSION)
    throw new ProblemError('invalid', 'Invalid version number')
  return number
}
