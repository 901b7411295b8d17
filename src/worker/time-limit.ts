/**
 * Runs a tool under a limit of time and under the abort of its command.
 *
 * 1. When the limit passes or the outer signal aborts, the tool's own signal aborts with the reason.
 * 2. A tool that then answers by itself within the grace decides what the answer is (it may have output to show).
 * 3. A tool that does not answer is left behind: the command ends with the reason, never later than the grace.
 */
import type { Clock } from './clock.ts'
import { failed, ToolFailure } from './tool-failure.ts'
import type { ToolResult } from './tool.ts'

/** How long an aborted tool has for an answer of its own. */
export const GRACE_MS = 5_000

export const timeoutFailure = (limitMs: number): ToolFailure =>
  new ToolFailure({
    kind: 'timeout',
    code: 'TIMEOUT',
    message: `Timed out after ${limitMs / 1000} ${limitMs === 1000 ? 'second' : 'seconds'}`,
    retryable: true,
  })

export interface TimeLimitOptions {
  readonly limitMs: number | null
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly graceMs?: number
}

export const withTimeLimit = (
  options: TimeLimitOptions,
  run: (signal: AbortSignal) => Promise<ToolResult> | ToolResult,
): Promise<ToolResult> =>
  new Promise((resolve) => {
    const { clock, limitMs, signal: outer, graceMs = GRACE_MS } = options
    const controller = new AbortController()
    let cancelGrace: (() => void) | undefined

    const stop = (reason: unknown): void => {
      if (controller.signal.aborted) return
      cancelGrace = clock.after(graceMs, () => settle(failed(reason)))
      controller.abort(reason)
    }
    const onOuterAbort = (): void => stop(outer.reason)
    const cancelLimit =
      limitMs === null ? undefined : clock.after(limitMs, () => stop(timeoutFailure(limitMs)))
    const settle = (result: ToolResult): void => {
      cancelLimit?.()
      cancelGrace?.()
      outer.removeEventListener('abort', onOuterAbort)
      resolve(result)
    }

    if (outer.aborted) {
      settle(failed(outer.reason))
      return
    }
    outer.addEventListener('abort', onOuterAbort, { once: true })
    const running = (async () => run(controller.signal))()
    running.then(settle, (thrown: unknown) =>
      settle(failed(controller.signal.aborted ? controller.signal.reason : thrown)),
    )
  })
