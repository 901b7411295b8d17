/** Requests of streams. */
import { z } from 'zod'
import { queryFlag, queryText } from './api-body.ts'
import { documentedAs } from './documented.ts'

const STATUSES = ['RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED'] as const

export const AllStreamQuery = z.object({
  events: queryFlag(false).meta({ description: 'Also tell every event' }),
  path: queryText.meta({ description: 'Part of the path, in any case' }),
  status: documentedAs(
    z
      .string()
      .optional()
      .transform((text, context) => {
        const words = (text ?? '')
          .split(',')
          .map((word) => word.trim().toUpperCase())
          .filter((word) => word !== '')
        const known = STATUSES.filter((status) => words.includes(status))
        if (words.length === 0) return null
        if (words.every((word) => known.some((status) => status === word))) return known
        context.addIssue({ code: 'custom', message: `must be some of ${STATUSES.join(', ')}` })
        return z.NEVER
      }),
    {
      type: 'string',
      description: 'One or more of RUNNING, COMPLETED, FAILED and CANCELLED, separated by commas',
    },
  ),
})
