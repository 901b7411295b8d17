/**
 * Runs another playbook from inside a pipeline. (As a step of its own a playbook needs no worker at all.)
 *
 * 1. The call's id makes the start repeatable: a call that is run again finds the child it started before.
 * 2. A child that fails, is cancelled or takes too long is an error; without waiting there is nothing to fail.
 * 3. Who waits for a child keeps no slot that the child may need.
 */
import type { ControlPlane, PlaybookOutcome } from '../../contract/command.ts'
import type { Json, JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { childData } from '../../contract/child-data.ts'
import { playbook } from '../../contract/tools/playbook.ts'
import { traceOf } from '../command-trace.ts'
import { configFailure, ToolFailure } from '../tool-failure.ts'
import type { Tool, ToolCall, ToolResult } from '../tool.ts'
import { whenAvailable } from '../when-available.ts'

const DEFAULT_WAIT_SECONDS = { step: 300, result: 180 } as const
const POLL_MS = 20_000

export const createPlaybookTool = (
  controlPlane: Pick<ControlPlane, 'startPlaybook' | 'awaitPlaybook'>,
): Tool => ({
  kind: 'playbook',
  declaration: playbook,
  instant: false,
  run: async (call): Promise<ToolResult> => {
    const { path, catalog_id: catalogId, version } = call.config
    if (!path && !catalogId) throw configFailure("A playbook tool needs 'path' or 'catalog_id'")
    const wantedPlaybook = Object.fromEntries(
      Object.entries({ path, catalog_id: catalogId, version }).filter(
        ([, value]) => value !== undefined && value !== null,
      ),
    ) as JsonObject
    const parentExecutionId = call.command.executionId
    const start = {
      callId: call.callId,
      parentExecutionId,
      playbook: { ...wantedPlaybook, trace: { ...traceOf(call.command) } },
      payload: payloadOf(call),
    }
    const { executionId } = await whenAvailable(call.signal, () => controlPlane.startPlaybook(start))
    const wanted = wantedOf(call.config)
    if (!wanted)
      return {
        outcome: 'ok',
        data: { status: 'started', execution_id: executionId, path: path ?? null, async: true },
      }
    const waiting = waitFor(controlPlane, executionId, wanted, call.signal)
    const outcome = await (call.aside?.(waiting) ?? waiting)
    return outcome.status === 'COMPLETED'
      ? { outcome: 'ok', data: childData({ ...outcome, executionId }) }
      : failedChild(executionId, outcome)
  },
})

interface Wanted {
  readonly step: string | null
  readonly seconds: number
}

const wantedOf = (config: JsonObject): Wanted | null => {
  const step =
    typeof config['return_step'] === 'string' && config['return_step'] !== '' ? config['return_step'] : null
  const wantsResult = config['return_result'] === true || config['return_result'] === 'true'
  if (step === null && !wantsResult) return null
  const fallback = step === null ? DEFAULT_WAIT_SECONDS.result : DEFAULT_WAIT_SECONDS.step
  const seconds = Number(config['timeout'] ?? config['timeout_seconds'] ?? fallback)
  const resultStep = typeof config['result_step'] === 'string' ? config['result_step'] : null
  return { step: step ?? resultStep, seconds: seconds > 0 ? seconds : fallback }
}

const payloadOf = ({ input, config }: ToolCall): JsonObject => {
  if (Object.keys(input).length > 0) return input
  const payload: Json | undefined = config['payload']
  return isObject(payload) ? payload : {}
}

const waitFor = async (
  controlPlane: Pick<ControlPlane, 'awaitPlaybook'>,
  executionId: string,
  { step, seconds }: Wanted,
  signal: AbortSignal,
): Promise<PlaybookOutcome> => {
  const deadline = performance.now() + seconds * 1000
  for (;;) {
    const left = deadline - performance.now()
    const waitMs = Math.max(0, Math.min(POLL_MS, Math.ceil(left)))
    const outcome = await whenAvailable(signal, () =>
      controlPlane.awaitPlaybook({ executionId, step, waitMs, signal }),
    )
    if (outcome) return outcome
    signal.throwIfAborted()
    if (left <= 0)
      throw new ToolFailure({
        kind: 'timeout',
        code: 'TIMEOUT',
        message: `Execution ${executionId} did not end within ${seconds} s`,
        retryable: true,
      })
  }
}

const failedChild = (executionId: string, { status, path, error }: PlaybookOutcome): ToolResult => {
  const what = status === 'CANCELLED' ? 'was cancelled' : 'failed'
  const message = `Playbook ${path} (execution ${executionId}) ${what}${error === null ? '' : `: ${error}`}`
  return {
    outcome: 'error',
    error: { kind: 'sub_playbook', code: `CHILD_${status}`, message, retryable: false },
  }
}
