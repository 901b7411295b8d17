/**
 * Data that is stored apart: kind `artifact` fetches it (`action: get`) and stores it (`put`), kind `result_fetch` fetches it.
 *
 * 1. What `put` is given is the data of its step, stored apart however small it is: the step has a reference from then on.
 * 2. Tasks of a pipeline and iterations of a loop have no result of their own, so `put` refuses to be one.
 */
import type { ControlPlane } from '../../contract/command.ts'
import type { JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { artifact, resultFetch } from '../../contract/tools/artifact.ts'
import { writeLarge } from '../../lib/write-large.ts'
import { iterationInput } from '../iteration.ts'
import { configFailure, ToolFailure } from '../tool-failure.ts'
import type { Tool, ToolCall, ToolResult } from '../tool.ts'
import { textField } from './coerce.ts'

const REFERENCE_KEYS = ['result_ref', 'ref', 'uri', '_ref'] as const

export const createArtifactTools = (controlPlane: Pick<ControlPlane, 'result'>): readonly Tool[] =>
  [artifact, resultFetch].map((declaration) => ({
    kind: declaration.kind,
    declaration,
    instant: false,
    run: (call: ToolCall) => runAction(controlPlane, call),
  }))

const runAction = (controlPlane: Pick<ControlPlane, 'result'>, call: ToolCall): Promise<ToolResult> => {
  const action = (textField(call.config, 'action') ?? 'get').toLowerCase()
  if (action === 'get') return fetchResult(controlPlane, call)
  if (action === 'put') return storeData(call)
  throw configFailure(`Artifact action ${JSON.stringify(action)} is not known; "get" and "put" are`)
}

const storeData = async ({ config, input, command, takesLarge = false }: ToolCall): Promise<ToolResult> => {
  if (!takesLarge || iterationInput(command) !== null) {
    throw configFailure('Artifact action "put" needs a step of its own, outside of pipelines and loops')
  }
  const data = input['data'] ?? config['data']
  if (data === undefined) throw configFailure('Which data? Give it as input: { data: "{{ step }}" }')
  return { outcome: 'ok', large: { json: await writeLarge(data) } }
}

const fetchResult = async (
  controlPlane: Pick<ControlPlane, 'result'>,
  { config, input, signal }: ToolCall,
): Promise<ToolResult> => {
  const ref = referenceIn(input) ?? referenceIn(config)
  if (ref === null)
    throw configFailure('Which result? Give its reference as input: { result_ref: "{{ step._ref }}" }')
  const found = await controlPlane.result({ ref, signal })
  if (found) return { outcome: 'ok', data: found.data }
  signal.throwIfAborted()
  throw new ToolFailure({
    kind: 'storage',
    code: 'REFERENCE_NOT_AVAILABLE',
    message: `The result ${ref} does not exist any more`,
    retryable: true,
  })
}

/** A reference is a text, or the mapping that stands for a stored result. */
const referenceIn = (fields: JsonObject): string | null => {
  for (const key of REFERENCE_KEYS) {
    const value = fields[key]
    if (typeof value === 'string' && value !== '') return value
    const inner = isObject(value ?? null) ? referenceIn(value as JsonObject) : null
    if (inner !== null) return inner
  }
  return null
}
