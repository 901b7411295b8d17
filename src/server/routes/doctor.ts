/** Whether what is stored is what the logs say. */
import type { FastifyInstance } from 'fastify'
import { DoctorAnswer, DoctorQuery } from '../../contract/api-history.ts'
import type { ServerContext } from '../app.ts'
import { demandRow } from '../history/cutoff.ts'
import { examineExecution, examinePage } from '../history/doctor.ts'
import { route } from '../route.ts'

export const doctorRoutes = (app: FastifyInstance, { core }: ServerContext): void => {
  route(
    app,
    {
      method: 'GET',
      url: '/api/doctor',
      name: 'examine',
      tag: 'history',
      access: 'admin',
      summary:
        'Compare stored executions, commands, timers, snapshots and results with a fresh fold of their logs',
      description:
        'One execution, or pages of all of them: give `next` of an answer as `after`. The first page also lists executions that nothing moves, and what belongs to no execution.',
      query: DoctorQuery,
      answer: DoctorAnswer,
      problems: ['not_found'],
    },
    async ({ query: { execution_id, after, limit } }) => {
      if (execution_id !== undefined) await demandRow(core, execution_id)
      const { next = null, ...found } =
        execution_id === undefined
          ? await examinePage(core, { after: after ?? null, limit })
          : { ...(await examineExecution(core, execution_id)), next: null }
      return { healthy: found.differences.length === 0, ...found, next }
    },
  )
}
