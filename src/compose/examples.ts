/** The examples on a fresh data directory: all registered, hello run once, so that the first start shows the product. */
import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { countOf } from '../cli/diagnostics.ts'
import { showExecution } from '../cli/show-execution.ts'
import { noWorkerLine, tryNextLines } from '../cli/up-lines.ts'
import type { Client } from '../client/client.ts'
import type { CommandContext } from './command-context.ts'

export interface ExampleOptions {
  readonly client: Client
  readonly context: CommandContext
  readonly hasWorker: boolean
  /** True when commands started here find this server without being told where. */
  readonly isFoundFromHere: boolean
  readonly signal: AbortSignal
}

export const showExamples = async ({
  client,
  context,
  hasWorker,
  isFoundFromHere,
  signal,
}: ExampleOptions): Promise<void> => {
  const { terminal } = context
  const directory = join(context.homeDirectory, 'examples')
  const files = globSync('*.yaml', { cwd: directory }).sort()
  const paths = new Map<string, string>()
  for (const file of files)
    paths.set(file, (await client.register(readFileSync(join(directory, file), 'utf8'))).path)
  terminal.out(`\nRegistered ${countOf(files.length, 'example')} from ${shortPath(directory, context)}`)
  const hello = paths.get('hello.yaml')
  const executionId = hasWorker && hello !== undefined ? await runHello(client, hello, context, signal) : null
  if (!hasWorker) terminal.out(noWorkerLine(client.url, commandName(context)))
  const flags = isFoundFromHere ? '' : ` --server ${client.url}`
  const facts = {
    url: client.url,
    command: commandName(context),
    examples: shortPath(directory, context),
    flags,
    executionId,
  }
  terminal.out(`\n${tryNextLines(facts, terminal).join('\n')}`)
}

const runHello = async (
  client: Client,
  path: string,
  { terminal }: CommandContext,
  signal: AbortSignal,
): Promise<string> => {
  const { execution_id: executionId } = await client.execute({ path })
  terminal.out(`Running ${path} once:`)
  const { end, progress } = await showExecution({ client, executionId, terminal, stepNames: [], signal })
  const result = progress.result()
  if (end.status !== 'COMPLETED') terminal.out(`  It ended ${end.status}: ${end.error ?? 'no reason given'}`)
  else if (result !== undefined) terminal.out(`  ${terminal.style.dim('result')} ${JSON.stringify(result)}`)
  return executionId
}

/** How this program is called from where the user is. */
export const commandName = (context: CommandContext): string =>
  shortPath(join(context.homeDirectory, 'bin', 'noetl'), context)

const shortPath = (path: string, { workingDirectory }: CommandContext): string => {
  const short = relative(workingDirectory, path)
  return short.startsWith('..') ? path : short
}
