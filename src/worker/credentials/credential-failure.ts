/** What is wrong with a credential. Messages name it and never quote its data. */
import { ToolFailure } from '../tool-failure.ts'

const failure = (code: string, message: string): ToolFailure =>
  new ToolFailure({ kind: 'auth', code, message, retryable: false })

export const credentialNotFound = (alias: string): ToolFailure =>
  failure(
    'CREDENTIAL_NOT_FOUND',
    `There is no credential '${alias}'. Store one under this name, or correct the name.`,
  )

export const credentialMalformed = (alias: string, type: string, reason: string): ToolFailure =>
  failure('CREDENTIAL_MALFORMED', `The credential '${alias}' of type ${type} ${reason}`)
