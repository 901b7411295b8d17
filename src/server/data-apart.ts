/**
 * Data of executions that is too large for their logs, on the way in and on the way out.
 *
 * 1. It is written before the events that refer to it, once, however often a turn is taken.
 * 2. A decision that needs such data is made again with the data at hand. The turn keeps what it needed: two results that
 *    do not fit into the cache together must not push each other out for ever.
 */
import type { Json } from '../contract/json.ts'
import type { Input, ReportInput } from '../engine/input.ts'
import { ResultMissing, ResultNeeded } from '../engine/reference.ts'
import type { Session } from '../engine/session.ts'
import type { CommandState } from '../engine/state.ts'
import { isLargerThan } from '../lib/json-size.ts'
import type { LargeResults } from './large-results.ts'
import { CONTEXT_LIMIT } from './large-results.ts'

/** Data stored apart that a turn turned out to need. */
export type Needed = Map<string, Json>

export interface DataApart {
  /** The report with its data stored apart; the same report when the data is small. */
  slim(session: Session, input: ReportInput): Promise<ReportInput> | ReportInput
  /** The same for the contexts of commands. The worker beside us has already got the whole one. */
  slimCommands(session: Session): Promise<void>
  /** Fetches what the failed decision needed (2); throws any other error again. */
  fetchNeeded(error: unknown, needed: Needed): Promise<'again'>
}

export const createDataApart = (largeResults: LargeResults): DataApart => {
  const slimmed = new WeakMap<Input, Promise<ReportInput>>()

  /** The rows of a cursor are work to be issued, those of a loop become one list: both stay in the log. */
  const slimContext = ({ graph, state }: Session, command: CommandState, context: Json): Promise<Json> => {
    const { step, isClaim, index } = command
    return isClaim || index !== null
      ? largeResults.internalise(context)
      : largeResults.externalise(state.executionId, step, context, graph.step(step).outputSelect)
  }

  return {
    slim: (session, input) => {
      const command = input.commandId === null ? undefined : session.state.commands.get(input.commandId)
      if (!command || largeResults.isInline(input.context)) return input
      let slimInput = slimmed.get(input)
      if (!slimInput) {
        slimInput = slimContext(session, command, input.context).then((context) =>
          context === input.context ? input : { ...input, context },
        )
        slimmed.set(input, slimInput)
      }
      return slimInput
    },
    slimCommands: async (session) => {
      for (const issued of session.issued) {
        if (!isLargerThan(issued.context, CONTEXT_LIMIT)) continue
        const ref = await largeResults.storeContext(issued.executionId, issued.nodeName ?? '', issued.context)
        session.events[session.events.indexOf(issued)] = { ...issued, context: { _ref: ref } }
      }
    },
    fetchNeeded: async (error, needed) => {
      if (!(error instanceof ResultNeeded)) throw error
      try {
        needed.set(error.ref, await largeResults.fetch(error.ref))
      } catch (problem) {
        // Deciding again finds out that it is gone, and what to make of that.
        if (!(problem instanceof ResultMissing)) throw problem
      }
      return 'again'
    },
  }
}
