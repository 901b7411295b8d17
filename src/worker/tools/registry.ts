/** The tools of one worker, by kind. */
import { configFailure } from '../tool-failure.ts'
import type { Tool } from '../tool.ts'

export interface ToolRegistry {
  readonly kinds: readonly string[]
  find(kind: string): Tool | undefined
  /** Throws a ToolFailure that says what this worker has when it has no such tool. */
  get(kind: string): Tool
  close(): Promise<void>
}

export const createToolRegistry = (tools: readonly Tool[]): ToolRegistry => {
  const byKind = new Map<string, Tool>()
  for (const tool of tools) {
    if (byKind.has(tool.kind)) throw new Error(`Two tools of kind "${tool.kind}"`)
    byKind.set(tool.kind, tool)
  }
  const kinds = [...byKind.keys()].sort()
  return {
    kinds,
    find: (kind) => byKind.get(kind),
    get(kind) {
      const tool = byKind.get(kind)
      if (tool !== undefined) return tool
      const list = kinds.length === 0 ? 'no tools' : kinds.join(', ')
      throw configFailure(`This worker has no tool of kind "${kind}". It has: ${list}.`, 'TOOL_NOT_FOUND')
    },
    async close() {
      await Promise.all(tools.map(async (tool) => tool.close?.()))
    },
  }
}
