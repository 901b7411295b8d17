/** Every tool this worker has. A new kind is a new file and a line here. */
import { join } from 'node:path'

import type { ControlPlane } from '../../contract/command.ts'
import { NO_SECRET_SETTINGS, type SecretSettings } from '../credentials/secret-settings.ts'
import { createArtifactTools } from './artifact.ts'
import { createContainerTool } from './container.ts'
import { createDatabasePaths } from './duckdb/database-path.ts'
import { createDuckdbTool, createSharedEngine } from './duckdb.ts'
import { createDucklakeTool } from './ducklake.ts'
import { expressionTool } from './expression.ts'
import { createOutboundFetch } from './http/outbound-fetch.ts'
import { createHttpTool } from './http.ts'
import { createMcpTool } from './mcp.ts'
import { createNatsTool } from './nats.ts'
import { noopTool } from './noop.ts'
import { createPlaybookTool } from './playbook.ts'
import { createPostgresTool } from './postgres.ts'
import { createPythonTool } from './python.ts'
import type { ToolRegistry } from './registry.ts'
import { createToolRegistry } from './registry.ts'
import { createScriptTool } from './script.ts'
import { createSecretsTool } from './secrets.ts'
import { createShellTool } from './shell.ts'
import { createTransferTool } from './transfer.ts'

export interface ToolOptions {
  /** Environment that tools may see: without the server's own secrets. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Python interpreter to use instead of `python3`. */
  readonly python: string | null
  readonly controlPlane: ControlPlane
  /** Where tools keep files of executions; a folder of their own is made in it. */
  readonly dataDirectory: string
  readonly limits?: ToolLimits
  readonly surroundings?: ToolSurroundings
}

/** What this machine has for tools; what is not given is not there, or looked for. */
export interface ToolSurroundings {
  /** The worker's own settings, of which tools read those that are for them: `NOETL_MCP_…`. */
  readonly settings: Readonly<Record<string, string | undefined>>
  /** Program that runs containers; null looks for docker and podman. */
  readonly containerRuntime: string | null
  readonly secrets: SecretSettings
  /** Most memory that a python call may have; null for no limit. */
  readonly pythonMemoryBytes: number | null
}

const NO_SURROUNDINGS: ToolSurroundings = {
  settings: {},
  containerRuntime: null,
  secrets: NO_SECRET_SETTINGS,
  pythonMemoryBytes: null,
}

/** What is not given is as large as the tools themselves think right. */
export interface ToolLimits {
  /** False keeps what tools fetch by the word of a playbook away from loopback, private and link-local addresses. */
  readonly allowPrivateAddresses?: boolean
  readonly maxResponseBytes?: number
  readonly maxResultBytes?: number
}

export const createTools = ({
  env,
  python,
  controlPlane,
  dataDirectory,
  limits = {},
  surroundings = NO_SURROUNDINGS,
}: ToolOptions): ToolRegistry => {
  const { maxResultBytes, ...ofRequests } = limits
  const ofResults = maxResultBytes === undefined ? {} : { maxResultBytes }
  const environmentsDirectory = join(dataDirectory, 'python-environments')
  const fetch = createOutboundFetch(limits.allowPrivateAddresses ?? true)
  const pythonTool = createPythonTool({
    env,
    fetch,
    environmentsDirectory,
    ...(python === null ? {} : { python }),
    ...(surroundings.pythonMemoryBytes === null ? {} : { memoryBytes: surroundings.pythonMemoryBytes }),
    ...ofResults,
  })
  const shellTool = createShellTool({ env, fetch })
  const httpTool = createHttpTool({ env, ...ofRequests })
  const containerTool = createContainerTool({ env, runtime: surroundings.containerRuntime })
  const engine = createSharedEngine()
  const duckdb = { engine, fetch, paths: createDatabasePaths(dataDirectory) }
  return createToolRegistry([
    noopTool,
    expressionTool,
    pythonTool,
    httpTool,
    shellTool,
    createPostgresTool({ fetch, ...ofResults }),
    createDuckdbTool({ ...duckdb, ...ofResults }),
    createDucklakeTool({ engine, fetch, ...ofResults }),
    createTransferTool({ duckdb, http: httpTool }),
    createScriptTool({ python: pythonTool, shell: shellTool, container: containerTool, fetch }),
    containerTool,
    createNatsTool(),
    createMcpTool({ env, fetch, settings: surroundings.settings }),
    createSecretsTool({ settings: surroundings.secrets, controlPlane }),
    createPlaybookTool(controlPlane),
    ...createArtifactTools(controlPlane),
  ])
}
