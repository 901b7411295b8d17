/** The API of a NoETL server as functions. */
import type { Json, JsonObject } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import type {
  Cancelled,
  ExecutionDetail,
  ExecutionEvent,
  ExecutionProgress,
  ExecutionSummary,
  Health,
  LogPage,
  Registered,
  Started,
} from './answers.ts'
import type { Followed, FollowedLog, FollowOptions } from './follow.ts'
import { followExecution, followLogs, toEvent } from './follow.ts'
import type { ClientOptions } from './transport.ts'
import type { HistoryClient } from './history.ts'
import { createHistoryClient } from './history.ts'
import { createTransport } from './transport.ts'
import { IS_IT_OURS, WrongServer } from './wrong-server.ts'

export interface ExecuteOptions {
  readonly path?: string
  readonly catalogId?: string
  readonly version?: number
  readonly payload?: JsonObject
}

export interface CancelOptions {
  readonly reason?: string
  readonly cascade?: boolean
}

export interface Client {
  readonly url: string
  /** Throws `unavailable` when nothing answers there, or something that is no NoETL server. */
  health(options?: { readonly signal?: AbortSignal }): Promise<Health>
  /** Registers the text of a playbook as the next version of its path. */
  register(content: string): Promise<Registered>
  execute(options: ExecuteOptions): Promise<Started>
  list(filter?: Readonly<Record<string, string>>): Promise<readonly ExecutionSummary[]>
  status(executionId: string): Promise<ExecutionProgress>
  detail(executionId: string): Promise<ExecutionDetail>
  /** Events after a position, oldest first. */
  events(
    executionId: string,
    page?: { readonly after?: number; readonly limit?: number },
  ): Promise<readonly ExecutionEvent[]>
  /** Cancels what is below it, too, unless told otherwise. */
  cancel(executionId: string, options?: CancelOptions): Promise<Cancelled>
  /** The data behind a reference, whole. */
  resolve(ref: string): Promise<Json>
  /** The replayed state of an execution as the server wrote it: JSON text in which no digit is lost. */
  replay(query: Readonly<Record<string, string>>): Promise<string>
  /** Moving along the history of executions. */
  readonly history: HistoryClient
  /** What the tools of an execution printed, a page of it. */
  logs(executionId: string, filter?: Readonly<Record<string, string>>): Promise<LogPage>
  /** The same as it appears, then the end. */
  followLogs(
    executionId: string,
    filter?: Readonly<Record<string, string>>,
    options?: FollowOptions,
  ): AsyncIterable<FollowedLog>
  /** Every event from the first to the last, as it happens, then the end. */
  follow(executionId: string, options?: FollowOptions): AsyncIterable<Followed>
}

export const createClient = (serverUrl: string, access: ClientOptions = {}): Client => {
  const transport = createTransport(serverUrl, access)
  const get = (path: string): Promise<unknown> => transport.json('GET', path)
  const post = (path: string, body: unknown): Promise<unknown> => transport.json('POST', path, { body })
  return {
    url: transport.url,
    health: async (options = {}) => {
      const answer = await transport.json('GET', '/api/health', options)
      if (isHealth(answer)) return answer
      throw new WrongServer(
        'unavailable',
        `${transport.url} answered, but not as a NoETL server does; ${IS_IT_OURS}`,
      )
    },
    register: async (content) => (await post('/api/catalog/register', { content })) as Registered,
    execute: async ({ path, catalogId, version, payload }) =>
      (await post('/api/execute', { path, catalog_id: catalogId, version, payload })) as Started,
    list: async (filter = {}) => {
      const query = new URLSearchParams(filter).toString()
      return ((await get(`/api/executions${query === '' ? '' : `?${query}`}`)) as ExecutionSummary[]).map(
        withTextIds,
      )
    },
    status: async (executionId) =>
      withTextIds((await get(`/api/executions/${segment(executionId)}/status`)) as ExecutionProgress),
    detail: async (executionId) => {
      const answer = (await get(`/api/executions/${segment(executionId)}`)) as ExecutionDetail
      return { ...withTextIds(answer), events: answer.events.map(eventOf) }
    },
    events: async (executionId, { after = 0, limit = 500 } = {}) => {
      const path = `/api/executions/${segment(executionId)}/events?after=${after}&limit=${limit}`
      return ((await get(path)) as { events: ExecutionEvent[] }).events.map(eventOf)
    },
    cancel: async (executionId, options = {}) =>
      withTextIds((await post(`/api/executions/${segment(executionId)}/cancel`, options)) as Cancelled),
    resolve: async (ref) =>
      (await get(`/api/result/resolve?${new URLSearchParams({ ref }).toString()}`)) as Json,
    replay: (query) => transport.text(`/api/replay/state?${new URLSearchParams(query).toString()}`),
    history: createHistoryClient(transport),
    logs: async (executionId, filter = {}) =>
      (await get(
        `/api/executions/${segment(executionId)}/logs?${new URLSearchParams(filter).toString()}`,
      )) as LogPage,
    followLogs: (executionId, filter = {}, options = {}) =>
      followLogs(transport, segment(executionId), new URLSearchParams(filter).toString(), options),
    follow: (executionId, options = {}) => followExecution(transport, segment(executionId), options),
  }
}

const segment = (id: string): string => encodeURIComponent(id)

const eventOf = (event: ExecutionEvent): ExecutionEvent => toEvent({ ...event })

const ID_FIELDS = ['execution_id', 'catalog_id', 'parent_execution_id', 'origin_execution_id', 'origin_event']

/** An integer that fits a double arrives as a number; ids are text whatever their size. */
const withTextIds = <T extends { readonly execution_id: string }>(answer: T): T => {
  const copy: Record<string, unknown> = { ...answer }
  for (const name of ID_FIELDS) {
    if (typeof copy[name] === 'number') copy[name] = String(copy[name])
  }
  return copy as T
}

const isHealth = (answer: unknown): answer is Health & JsonObject =>
  isObject(answer) &&
  typeof answer['status'] === 'string' &&
  typeof answer['database'] === 'string' &&
  typeof answer['version'] === 'string' &&
  typeof answer['uptime_seconds'] === 'number'
