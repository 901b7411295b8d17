/** The tool kinds a playbook may name. Which of them a worker can run is the worker's business. */
export const TOOL_KINDS = [
  'http',
  'postgres',
  'duckdb',
  'ducklake',
  'python',
  'workbook',
  'playbook',
  'playbooks',
  'secrets',
  'iterator',
  'container',
  'script',
  'snowflake',
  'transfer',
  'snowflake_transfer',
  'gcs',
  'gateway',
  'nats',
  'shell',
  'artifact',
  'noop',
  'task_sequence',
  'rhai',
  'subscription',
  'wasm',
  'mcp',
  'provider',
  'result_fetch',
  'agent',
] as const

type ToolKind = (typeof TOOL_KINDS)[number]

export const isToolKind = (word: string): word is ToolKind => TOOL_KINDS.some((kind) => kind === word)
