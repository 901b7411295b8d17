/** The port between what asks for a secret by its path and where secrets live. */
import type { Json, JsonObject } from '../../../contract/json.ts'
import { ToolFailure } from '../../tool-failure.ts'

export interface SecretQuestion {
  /** What the provider calls the secret: a variable, a file, a path, a name. */
  readonly path: string
  /** Further settings of whoever asks, such as `mount` and the credential to ask with; templates are rendered. */
  readonly options: JsonObject
  readonly signal: AbortSignal
}

/** Rejects with a ToolFailure when there is no such secret, or with the reason of the abort. */
export type SecretProvider = (question: SecretQuestion) => Promise<Json>

export const secretNotFound = (message: string): ToolFailure =>
  new ToolFailure({ kind: 'not_found', code: 'SECRET_NOT_FOUND', message, retryable: false })
