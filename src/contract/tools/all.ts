/** Every kind a playbook may name, with its declaration. A new kind is a file beside this one and a line here. */
import { artifact, resultFetch } from './artifact.ts'
import { gateway, gcs, provider, rhai, snowflake, subscription, wasm } from './cloud.ts'
import { container } from './container.ts'
import { duckdb, ducklake } from './duckdb.ts'
import { expression } from './expression.ts'
import { iterator, taskSequence, workbook } from './flow.ts'
import { http } from './http.ts'
import { mcp } from './mcp.ts'
import { nats } from './nats.ts'
import { noop } from './noop.ts'
import { agent, playbook, playbooks } from './playbook.ts'
import { postgres } from './postgres.ts'
import { python } from './python.ts'
import { script } from './script.ts'
import { secrets } from './secrets.ts'
import { shell } from './shell.ts'
import type { ToolDeclaration } from './tool-declaration.ts'
import { snowflakeTransfer, transfer } from './transfer.ts'

export const TOOL_DECLARATIONS: readonly ToolDeclaration[] = [
  http,
  postgres,
  duckdb,
  ducklake,
  python,
  workbook,
  playbook,
  playbooks,
  secrets,
  iterator,
  container,
  script,
  snowflake,
  transfer,
  snowflakeTransfer,
  gcs,
  gateway,
  nats,
  shell,
  artifact,
  noop,
  taskSequence,
  expression,
  rhai,
  subscription,
  wasm,
  mcp,
  provider,
  resultFetch,
  agent,
]

const byKind: ReadonlyMap<string, ToolDeclaration> = new Map(
  TOOL_DECLARATIONS.map((declaration) => [declaration.kind, declaration]),
)

export const declarationOf = (kind: string): ToolDeclaration | null => byKind.get(kind) ?? null

/** What a kind without a tool here needs, as the end of a sentence; null for kinds that can be run. */
export const unavailableText = (kind: string): string | null => {
  const needs = declarationOf(kind)?.unavailable
  return needs === undefined ? null : `kind '${kind}' is not part of this worker: it needs ${needs}`
}
