/**
 * Keeping loops supplied with work.
 *
 * 1. A loop never has more commands outstanding than its window, and issues nothing more once it has stopped.
 *    Iterations that have to be done once more come first.
 * 2. A cursor loop asks for rows, works through them, asks again, until it gets none.
 */
import { issueClaim, issueCommand } from './command.ts'
import { isStopped } from './evolve-steps.ts'
import type { Session } from './session.ts'
import type { CursorState, LoopState } from './state.ts'

/** Issues what the loop of a step may issue now; nothing for a step without one. */
export const refillLoop = (session: Session, name: string): void => {
  const run = session.state.steps.get(name)
  if (run?.loop) refillCollection(session, name, run.loop)
  else if (run?.cursor) refillCursor(session, name, run.cursor)
}

const refillCollection = (session: Session, name: string, loop: LoopState): void => {
  const step = session.graph.step(name)
  for (;;) {
    const index = loop.again[0] ?? loop.next
    if (index >= loop.total || loop.outstanding >= loop.window || isStopped(loop)) return
    issueCommand(session, step, { index, total: loop.total, item: loop.items[index] ?? null, frame: null })
  }
}

const refillCursor = (session: Session, name: string, cursor: CursorState): void => {
  const step = session.graph.step(name)
  const { rows } = cursor
  if (rows === null) {
    if (!cursor.claiming) issueClaim(session, step, cursor.frame)
    return
  }
  while (cursor.next < rows.length && cursor.outstanding < cursor.window && !isStopped(cursor)) {
    issueCommand(session, step, {
      index: cursor.next,
      total: rows.length,
      item: rows[cursor.next] ?? null,
      frame: cursor.frame,
    })
  }
}
