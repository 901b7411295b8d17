/** Commands, tool calls and a clock for tests. */
import type { Clock } from './clock.ts'
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

/** Lets everything that is ready to happen happen. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A clock that moves when it is told to. */
export const createHandClock = () => {
  let now = 1_000_000
  const timers = new Set<{ at: number; callback: () => void }>()
  const clock: Clock = {
    now: () => now,
    elapsed: () => now,
    after(delayMs, callback) {
      const timer = { at: now + delayMs, callback }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
  }
  const advance = async (ms: number): Promise<void> => {
    await settle()
    const end = now + ms
    for (;;) {
      const [next] = [...timers].filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)
      if (next === undefined) break
      timers.delete(next)
      now = Math.max(now, next.at)
      next.callback()
      await settle()
    }
    now = end
    await settle()
  }
  return { clock, advance, timerCount: () => timers.size }
}
