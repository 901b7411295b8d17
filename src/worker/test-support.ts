/** Commands and tool calls for tests. */
import type { LeasedCommand } from '../contract/command.ts'
import type { JsonObject } from '../contract/json.ts'
import type { ToolCall } from './tool.ts'

let sequence = 0

export const aCommand = (over: Partial<LeasedCommand> = {}, toolConfig: JsonObject = {}): LeasedCommand => {
  sequence += 1
  return {
    executionId: '1000',
    eventId: String(sequence),
    commandId: `command-${sequence}`,
    catalogId: '77',
    step: 'try_it',
    toolKind: 'noop',
    attempt: 1,
    leaseToken: `token-${sequence}`,
    context: { tool_config: toolConfig, args: {}, render_context: {} },
    meta: {},
    ...over,
  }
}

export const aCall = (
  config: JsonObject,
  over: { input?: JsonObject; variables?: JsonObject; signal?: AbortSignal; log?: ToolCall['log'] } = {},
): ToolCall => ({
  config,
  input: over.input ?? {},
  command: aCommand({ context: { tool_config: config, args: {}, render_context: over.variables ?? {} } }),
  callId: `call-${sequence}`,
  signal: over.signal ?? new AbortController().signal,
  log: over.log ?? (() => undefined),
})
