/** Every tool this worker has. A new kind is a new file and a line here. */
import type { ControlPlane } from '../../contract/command.ts'
import { createArtifactTools } from './artifact.ts'
import { createHttpTool } from './http.ts'
import { noopTool } from './noop.ts'
import { createPlaybookTool } from './playbook.ts'
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
  readonly controlPlane: ControlPlane
}

export const createTools = ({ env, python, controlPlane }: ToolOptions): ToolRegistry =>
  createToolRegistry([
    noopTool,
    createPythonTool({ env, ...(python === null ? {} : { python }) }),
    createHttpTool({ env }),
    createShellTool({ env }),
    createPostgresTool(),
    createPlaybookTool(controlPlane),
    ...createArtifactTools(controlPlane),
  ])
