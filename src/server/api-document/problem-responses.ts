/**
 * How a route can fail, for the document: what it declares, and what comes with what it takes. One shape for all
 * errors; the code tells them apart.
 */
import type { ProblemCode } from '../../contract/problem.ts'
import { PROBLEM_STATUS } from '../../contract/problem.ts'
import type { RouteSpec } from '../route.ts'
import type { JsonSchema } from './components.ts'

export const PROBLEM_SCHEMA: JsonSchema = {
  type: 'object',
  description: 'What went wrong, in one shape for every error.',
  required: ['error', 'status', 'code'],
  properties: {
    error: { type: 'string', description: 'For people: names the thing and the fix' },
    status: { type: 'integer', description: 'The HTTP status' },
    code: { enum: Object.keys(PROBLEM_STATUS), description: 'For programs: a stable word' },
    details: {
      description: 'More, where it helps, such as the issues of a body or the problems of a playbook',
    },
  },
}

const MEANING: Readonly<Record<ProblemCode, string>> = {
  bad_request: 'the request cannot be read',
  unauthorized: 'a token is missing or not valid',
  forbidden: 'not with this token',
  too_many_requests: 'too many wrong tokens came from this address; `Retry-After` says when to come back',
  invalid: 'the request was understood but is wrong',
  not_found: 'there is no such thing',
  conflict: 'the state of things does not allow it',
  lease_lost: 'somebody else holds the lease',
  already_terminal: 'it has ended already',
  too_large: 'the body is too large',
  unsupported_media_type: 'the body is not of the right type',
  method_not_allowed: 'the path does not take this method',
  unavailable: 'the database, or a key or token of the server, is missing',
  internal: 'a fault of the server, to be found in its log',
}

/** Every code that a route may answer, in the order of their statuses. */
const problemsOf = (spec: RouteSpec): readonly ProblemCode[] => {
  const codes = new Set<ProblemCode>(spec.problems)
  if (spec.access !== 'public') codes.add('unauthorized').add('forbidden').add('too_many_requests')
  if (/[:*]/.test(spec.url)) codes.add('bad_request')
  // Any text may hold characters that the database cannot store.
  if (spec.query || /:\w+(?<!_id)\b|\*/.test(spec.url)) codes.add('invalid')
  if (spec.queryProblem) codes.add(spec.queryProblem)
  // Whatever a request brings is read, wanted or not.
  if (spec.method !== 'GET')
    codes.add('bad_request').add('invalid').add('too_large').add('unsupported_media_type')
  codes.add('internal').add('unavailable')
  return [...codes].sort((a, b) => PROBLEM_STATUS[a] - PROBLEM_STATUS[b])
}

const pascal = (code: ProblemCode): string =>
  code.replaceAll(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase())

/** The responses of a route by status. New ones are added to `components`. */
export const problemResponses = (
  spec: RouteSpec,
  components: Record<string, object>,
): Readonly<Record<string, object>> => {
  const byStatus = Map.groupBy(problemsOf(spec), (code) => PROBLEM_STATUS[code])
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => {
      const name = codes.map(pascal).join('Or')
      components[name] ??= responseOf(codes)
      return [String(status), { $ref: `#/components/responses/${name}` }]
    }),
  )
}

const responseOf = (codes: readonly ProblemCode[]): object => ({
  description: codes.map((code) => `\`${code}\`: ${MEANING[code]}`).join('; '),
  content: {
    'application/json': {
      schema: {
        allOf: [{ $ref: '#/components/schemas/Problem' }],
        properties: { code: { enum: [...codes] } },
      },
    },
  },
})
