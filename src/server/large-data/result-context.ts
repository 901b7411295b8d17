/** A worker's report whose data is stored apart: where the reference stands, and what takes the place of the data. */
import type { Json, JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { storeOf } from '../../contract/summary.ts'
import { reportedData } from '../../engine/envelope.ts'
import type { ResultMissing } from '../../engine/reference.ts'

/** The reference that the worker itself names beside the data. */
export const declaredReference = (context: JsonObject): JsonObject | null => {
  const result = context['result']
  const reference = isObject(result) ? result['reference'] : undefined
  return isObject(reference) ? reference : null
}

type DeclaredMarker = JsonObject & { readonly _ref: string }

/** True when the data stands for what lies behind that reference. */
export const isDeclared = (context: JsonObject, data: Json | undefined): data is DeclaredMarker => {
  const ref = declaredReference(context)?.['ref']
  return typeof ref === 'string' && isObject(data) && data['_ref'] === ref
}

/** A report whose data is gone is a failure, whatever else it says. */
export const failedBy = (context: JsonObject, { message }: ResultMissing): JsonObject => {
  const error = { kind: 'missing_reference', code: 'MISSING_REFERENCE', message, retryable: false }
  return { ...context, error, result: { status: 'error', context: { error } } }
}

export interface OtherData {
  readonly data: Json
  readonly reference: JsonObject | null
  /** Variables that the data exports. They stand beside it from here on: inside a summary they would be cut. */
  readonly updates: Json | undefined
}

/** The context with other data, at the one place where all programs look for it. */
export const withData = (context: JsonObject, { data, reference, updates }: OtherData): JsonObject => {
  const { data: _data, response: _response, ...rest } = context
  const result = isObject(context['result']) ? context['result'] : {}
  const inner = isObject(result['context']) ? result['context'] : {}
  const status = result['status']
  return {
    ...rest,
    result: {
      ...(status === undefined ? {} : { status }),
      context: { ...(updates === undefined ? {} : { context_updates: updates }), ...inner, data },
      ...(reference ? { reference } : {}),
    },
  }
}

/** The variables that the reported data exports. */
export const updatesOf = (context: JsonObject): Json | undefined => {
  const data = reportedData(context)
  return isObject(data) ? data['_context_updates'] : undefined
}

/** The reference as other programs look for it in an event. */
export const referenceFact = ({
  ref,
  bytes,
  sha256,
}: {
  readonly ref: string
  readonly bytes: number
  readonly sha256: string
}): JsonObject => ({
  kind: 'result_ref',
  ref,
  store: storeOf(bytes),
  scope: 'execution',
  meta: { bytes, sha256, media_type: 'application/json' },
})
