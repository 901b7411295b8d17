/** Does nothing and answers `result`, or a note that it did nothing. Never fails. */
import { noop } from '../../contract/tools/noop.ts'
import type { Tool, ToolCall, ToolResult } from '../tool.ts'

export const noopTool: Tool = {
  kind: 'noop',
  declaration: noop,
  instant: true,
  run({ config }: ToolCall): ToolResult {
    if (config['result'] !== undefined) return { outcome: 'ok', data: config['result'] }
    return { outcome: 'ok', data: { status: 'ok', message: config['message'] ?? 'noop' } }
  },
}
