/**
 * What the late templates of a command can see, by precedence: the facts of the command, then the input of the
 * task, then the command's variables.
 */
import type { LeasedCommand } from '../contract/command.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { type Scope, VIEW, type View } from '../template/scope.ts'

export interface CommandScopeOptions {
  readonly command: LeasedCommand
  readonly workerId: string
  /** Rendered input; null while the input itself is being rendered. */
  readonly input: JsonObject | null
  readonly now: string
  readonly uuid: () => string
}

const own = (object: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined

const commandFacts = (command: LeasedCommand, workerId: string): JsonObject => ({
  execution_id: command.executionId,
  catalog_id: command.catalogId,
  command_id: command.commandId,
  step: command.step,
  node_name: command.step,
  action: command.toolKind,
  worker_id: workerId,
})

export const commandScope = (options: CommandScopeOptions): Scope => {
  const { command, input } = options
  const variables = command.context.render_context
  const facts = commandFacts(command, options.workerId)
  const layers = input === null ? [facts, variables] : [facts, input, variables]
  const job: JsonObject = {
    uuid: command.executionId,
    id: command.executionId,
    execution_id: command.executionId,
  }

  const lookup = (name: string): unknown => {
    // Not `??`: a null is a value and hides what is below it.
    for (const layer of layers) {
      const found = own(layer, name)
      if (found !== undefined) return found
    }
    if (name === 'input' || name === 'args') return input ?? undefined
    if (name === 'job') return job
    if (name === 'ctx') return wholeSpace
    return undefined
  }
  // `ctx.x` and a bare `x` read the same space, so `ctx` asks back here instead of holding a copy.
  const wholeSpace: View = { [VIEW]: true, plain: () => variables, get: lookup }

  return { lookup, now: options.now, uuid: options.uuid }
}
