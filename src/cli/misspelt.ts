/** Warns of workload keys that are most likely slips. */
import type { JsonObject } from '../contract/json.ts'
import { didYouMean } from '../playbook/suggest.ts'
import type { Terminal } from './terminal.ts'

/** A payload may have keys that the workload has not; one that resembles one of them was hardly meant. */
export const warnOfMisspelt = (payload: JsonObject, workload: JsonObject, terminal: Terminal): void => {
  for (const key of Object.keys(payload)) {
    const hint = Object.hasOwn(workload, key) ? '' : didYouMean(key, Object.keys(workload))
    if (hint !== '')
      terminal.err(
        `${terminal.errorStyle.yellow('warning:')} the workload of the playbook has no '${key}'.${hint}`,
      )
  }
}
