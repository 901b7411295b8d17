/**
 * The trace context that a tool hands on, so that whatever it calls appears under its command.
 *
 * 1. What the playbook sets itself is left alone, and nothing of ours is put beside it.
 */
import type { LeasedCommand } from '../contract/command.ts'
import { toolTrace, type ToolTrace } from '../contract/trace.ts'

export const traceOf = ({ executionId, eventId, meta }: LeasedCommand): ToolTrace =>
  toolTrace(executionId, eventId, meta['trace'])

/**
 * The context as variables of the environment, for a program that the playbook gives `own` variables. The state is empty
 * where there is none: one that the worker itself was started with belongs to another trace.
 */
export const traceVariables = (
  command: LeasedCommand,
  own: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> => {
  if ('TRACEPARENT' in own) return {}
  const { traceparent, tracestate } = traceOf(command)
  return { TRACEPARENT: traceparent, TRACESTATE: tracestate ?? '' }
}
