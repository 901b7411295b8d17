/**
 * The worker in this process looks at secrets and keeps them without a request: that is put on record here, by the same
 * rules as in audit-trail.ts.
 */
import type { ControlPlane } from '../../contract/command.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { AuditOutcome } from '../../store/audit.ts'
import { insertAudit } from '../../store/audit.ts'
import type { Database } from '../../store/database.ts'
import type { Instruments } from '../instruments.ts'
import type { Log } from '../log.ts'
import { LOCAL } from './caller.ts'

interface Done {
  readonly action: string
  readonly target: string
  readonly executionId: string | null
  readonly outcome: AuditOutcome
  readonly details?: JsonObject
}

interface AuditOptions {
  readonly database: Database
  readonly workerId: string
  readonly log: Log
  readonly recorded: Instruments['recorded']
}

export const auditSecrets = (
  controlPlane: ControlPlane,
  { database, workerId, log, recorded }: AuditOptions,
): ControlPlane => {
  const record = async ({ details = {}, ...done }: Done): Promise<void> => {
    let isWritten = false
    try {
      await insertAudit(database, {
        ...done,
        details,
        actor: LOCAL.name,
        role: 'worker',
        tokenId: null,
        address: null,
        workerId,
        parentExecutionId: null,
      })
      isWritten = true
    } finally {
      recorded(done.action, done.outcome, isWritten)
    }
  }
  const tryToRecord = (done: Done): Promise<void> =>
    record(done).catch((error: unknown) => log.error({ error, ...done }, 'not put on record'))

  /** Without a record there is no secret. */
  const look = async <T>(
    action: string,
    { alias, executionId }: { readonly alias: string; readonly executionId: string },
    find: () => Promise<T | null>,
  ): Promise<T | null> => {
    const done = { action, target: alias, executionId }
    const found = await find().catch(async (error: unknown) => {
      await tryToRecord({ ...done, outcome: 'error' })
      throw error
    })
    await record({ ...done, outcome: found === null ? 'not_found' : 'success' })
    return found
  }

  return {
    ...controlPlane,
    credential: (request) => look('credential.read', request, () => controlPlane.credential(request)),
    keychainRecipe: (request) => look('keychain.recipe', request, () => controlPlane.keychainRecipe(request)),
    keepKeychain: async (request) => {
      await controlPlane.keepKeychain(request)
      const { name, catalogId, scope, executionId } = request.entry.address
      const details = { catalog_id: catalogId, scope_type: scope }
      await tryToRecord({ action: 'keychain.write', target: name, executionId, outcome: 'success', details })
    },
  }
}
