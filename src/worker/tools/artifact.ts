/** Fetches data that is stored apart: kinds `artifact` (`action: get`) and `result_fetch`. */
import type { ControlPlane } from '../../contract/command.ts'
import type { JsonObject } from '../../contract/json.ts'
import { configFailure, failed } from '../tool-failure.ts'
import type { Tool, ToolCall, ToolResult } from '../tool.ts'

const REFERENCE_KEYS = ['result_ref', 'ref', 'uri', '_ref'] as const

export const createArtifactTools = (controlPlane: Pick<ControlPlane, 'result'>): readonly Tool[] =>
  ['artifact', 'result_fetch'].map((kind) => ({
    kind,
    instant: false,
    run: (call: ToolCall) => fetchResult(controlPlane, call),
  }))

const fetchResult = async (
  controlPlane: Pick<ControlPlane, 'result'>,
  { config, input, signal }: ToolCall,
): Promise<ToolResult> => {
  const action = config['action'] ?? 'get'
  if (action !== 'get')
    throw configFailure(`Artifact action ${JSON.stringify(action)} is not known; "get" is`)
  const ref = referenceIn(input) ?? referenceIn(config)
  if (ref === null)
    throw configFailure('Which result? Give its reference as input: { result_ref: "{{ step._ref }}" }')
  const found = await controlPlane.result({ ref, signal })
  if (found) return { outcome: 'ok', data: found.data }
  return failed({
    kind: 'storage',
    code: 'REFERENCE_NOT_AVAILABLE',
    message: `The result ${ref} does not exist any more`,
    retryable: true,
  })
}

const referenceIn = (fields: JsonObject): string | null => {
  for (const key of REFERENCE_KEYS) {
    const value = fields[key]
    if (typeof value === 'string' && value !== '') return value
  }
  return null
}
