/**
 * The tools of one worker, by kind.
 *
 * 1. A tool never sees a block that its declaration refuses: the call ends as a config error that names the fields.
 * 2. A kind that the language knows and this worker has not is `TOOL_UNAVAILABLE` with what it needs; any other kind that
 *    it has not is `TOOL_NOT_FOUND` with what it has.
 */
import { unavailableText } from '../../contract/tools/all.ts'
import { createConfigCheck } from '../../contract/tools/check-fields.ts'
import { configFailure, failed } from '../tool-failure.ts'
import type { Tool } from '../tool.ts'
import { toolUnavailable } from './tool-unavailable.ts'

export interface ToolRegistry {
  readonly kinds: readonly string[]
  find(kind: string): Tool | undefined
  /** Throws a ToolFailure that says what this worker has when it has no such tool. */
  get(kind: string): Tool
  close(): Promise<void>
}

/** The tool behind the check of its declaration. */
const checked = (tool: Tool): Tool => {
  if (tool.declaration === undefined) return tool
  const problemsOf = createConfigCheck(tool.declaration)
  return {
    ...tool,
    run(call) {
      const problems = problemsOf(call.config)
      return problems.length === 0 ? tool.run(call) : failed(configFailure(problems.join('; ')))
    },
  }
}

export const createToolRegistry = (tools: readonly Tool[]): ToolRegistry => {
  const byKind = new Map<string, Tool>()
  for (const tool of tools) {
    if (byKind.has(tool.kind)) throw new Error(`Two tools of kind "${tool.kind}"`)
    byKind.set(tool.kind, checked(tool))
  }
  const kinds = [...byKind.keys()].sort()
  return {
    kinds,
    find: (kind) => byKind.get(kind),
    get(kind) {
      const tool = byKind.get(kind)
      if (tool !== undefined) return tool
      const needs = unavailableText(kind)
      if (needs !== null) throw toolUnavailable(needs)
      const list = kinds.length === 0 ? 'no tools' : kinds.join(', ')
      throw configFailure(`This worker has no tool of kind "${kind}". It has: ${list}.`, 'TOOL_NOT_FOUND')
    },
    async close() {
      await Promise.all(tools.map(async (tool) => tool.close?.()))
    },
  }
}
