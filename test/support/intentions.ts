/** What a server wrote down to be finished by another one should it die: cancels that are still to reach others. */
import type { Family } from './family.ts'

const INTENTIONS = `kind in ('cancel_children', 'follow_parent')`

/** Lets the time pass after which another server takes over. */
export const intentionsDue = async ({ server }: Family): Promise<void> => {
  for (const database of server.databases)
    await database.query(`update noetl.timer set due_at = now() where ${INTENTIONS}`)
}

/** Lets that time pass, and this server take over. */
export const takeOver = async (family: Family): Promise<void> => {
  await intentionsDue(family)
  await family.timers.runOnce()
}

/** The kinds of those that are left. */
export const intentionsLeft = async ({ server }: Family): Promise<readonly string[]> => {
  const found = await Promise.all(
    server.databases.map((database) =>
      database.query<{ kind: string }>(`select kind from noetl.timer where ${INTENTIONS}`),
    ),
  )
  return found.flatMap(({ rows }) => rows.map(({ kind }) => kind))
}
