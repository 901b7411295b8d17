/**
 * `output` as policy rules see it: the verdict of a task with its data, its error and what its kind knows of it.
 *
 * 1. `status` is `success` or `error`; `ok` compares equal to `success`.
 * 2. `data` is the task's data. Members that the answer of an http request does not have are those of its body, since
 *    rules are written both ways.
 * 3. `http`, `pg` and `py` are there only when there is something to say.
 */
import type { ToolError } from '../../contract/command.ts'
import type { Json, JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { VIEW, type View } from '../../template/scope.ts'
import type { ToolResult } from '../tool.ts'

export interface TaskRun {
  readonly label: string
  readonly kind: string
  readonly result: ToolResult
  readonly attempt: number
  readonly durationMs: number
}

const SUCCESS: View = {
  [VIEW]: true,
  plain: () => 'success',
  equals: (other) => other === 'success' || other === 'ok' || other === SUCCESS,
}

/** Why a run failed; null when it did not. */
export const errorOf = ({ label, result }: Pick<TaskRun, 'label' | 'result'>): ToolError | null => {
  if (result.outcome === 'ok') return null
  const message = `Task '${label}' failed without saying why`
  return result.error ?? { kind: 'unknown', code: 'UNKNOWN', message, retryable: false }
}

export const outputEnvelope = (run: TaskRun): View => {
  const { kind, result } = run
  const data = result.data ?? null
  const error = errorOf(run)
  const members = (): JsonObject => ({
    status: error === null ? 'success' : 'error',
    data,
    error: errorMember(error),
    ...kindMembers(kind, data, error),
    meta: { attempt: run.attempt, duration_ms: run.durationMs },
  })
  let known: JsonObject | undefined
  return {
    [VIEW]: true,
    plain: members,
    get(name) {
      if (name === 'status') return error === null ? SUCCESS : 'error'
      if (name === 'data' || name === 'result' || name === 'response') {
        return kind === 'http' ? answerView(data) : data
      }
      known ??= members()
      return Object.hasOwn(known, name) ? known[name] : undefined
    },
  }
}

const errorMember = (error: ToolError | null): Json => {
  if (error === null) return null
  const status = error.http_status
  return { ...error, ...(status === undefined ? {} : { status, status_code: status }) }
}

const kindMembers = (kind: string, data: Json, error: ToolError | null): JsonObject => {
  const answer = kind === 'http' && isObject(data) ? data : {}
  const status = answer['status_code'] ?? error?.http_status
  const sqlstate = error?.sqlstate
  const exception = kind === 'python' ? error?.exception : undefined
  return {
    ...(status === undefined ? {} : { http: { status, headers: answer['headers'] ?? {} } }),
    ...(sqlstate === undefined ? {} : { pg: { code: sqlstate, sqlstate } }),
    ...(exception === undefined ? {} : { py: { exception, traceback: error?.traceback ?? '' } }),
  }
}

const answerView = (answer: Json): unknown => {
  if (!isObject(answer)) return answer
  const body = answer['data'] ?? answer['body']
  if (!isObject(body)) return answer
  return {
    [VIEW]: true,
    plain: () => answer,
    get: (name: string) => {
      const holder = Object.hasOwn(answer, name) ? answer : body
      return Object.hasOwn(holder, name) ? holder[name] : undefined
    },
  } satisfies View
}
