/** Every tool this worker has. A new kind is a new file and a line here. */
import { createHttpTool } from './http.ts'
import { noopTool } from './noop.ts'
import { createPostgresTool } from './postgres.ts'
import { createPythonTool } from './python.ts'
import type { ToolRegistry } from './registry.ts'
import { createToolRegistry } from './registry.ts'
import { createShellTool } from './shell.ts'

export interface ToolOptions {
  /** Environment that tools may see: without the server's own secrets. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Python interpreter to use instead of `python3`. */
  readonly python: string | null
}

export const createTools = ({ env, python }: ToolOptions): ToolRegistry =>
  createToolRegistry([
    noopTool,
    createPythonTool({ env, ...(python === null ? {} : { python }) }),
    createHttpTool({ env }),
    createShellTool({ env }),
    createPostgresTool(),
  ])
