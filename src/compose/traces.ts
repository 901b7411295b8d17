/** Traces of executions, when somebody said where to send them. */
import type { Core } from '../server/core.ts'
import { createCollector } from '../server/traces/collector.ts'
import { createTraceExporter } from '../server/traces/trace-exporter.ts'
import type { StackOptions } from './stack.ts'
import type { Undo } from './undo.ts'

export const startTraces = (core: Core, { otlp, version, log }: StackOptions, undo: Undo[]): void => {
  if (!otlp) return
  const exporter = createTraceExporter(core, createCollector({ ...otlp, version, log }))
  exporter.start()
  undo.push({ what: 'traces to be sent', run: () => exporter.stop() })
}
