/**
 * Secrets are not handed to other playbooks: the input of a child is its workload, which is written to its log. The child names the
 * credential itself, and the worker looks it up there.
 */
import type { ReadContext } from './context.ts'
import type { Field } from './reader.ts'
import { templateReads } from './template-roots.ts'

const CHILD_KINDS: ReadonlySet<string> = new Set(['playbook', 'playbooks'])

export const startsPlaybook = (kind: string | null): boolean => kind !== null && CHILD_KINDS.has(kind)

/** Reports the first place of each field that reads the keychain. */
export const refuseSecrets = (fields: readonly (Field | null)[], { report }: ReadContext): void => {
  for (const field of fields) {
    const read = field === null ? undefined : templateReads(field).find(({ path }) => path[0] === 'keychain')
    if (read === undefined) continue
    const name = read.path[1] ?? '<name>'
    const message =
      `'${read.field.label}' hands a secret to another playbook, whose input is written to its log; ` +
      `let that playbook read {{ keychain.${name} }} or use auth: ${name} itself`
    report.error('KEYCHAIN_IN_PLAYBOOK', read.field, message)
  }
}
