/** The part of the API that moves along the history of executions. */
import type { Readable } from 'node:stream'
import type {
  DiffAnswer,
  DoctorAnswer,
  ExplainAnswer,
  ImportAnswer,
  RerunAnswer,
  RetryAnswer,
  StateAnswer,
} from '../contract/api-history.ts'
import type { JsonObject } from '../contract/json.ts'
import { TRANSFER_TYPE } from '../contract/transfer.ts'
import type { Transport } from './transport.ts'

type Query = Readonly<Record<string, string>>

export interface HistoryClient {
  state(executionId: string, query?: Query): Promise<StateAnswer>
  explain(executionId: string, query: Query): Promise<ExplainAnswer>
  rerun(executionId: string, request: JsonObject): Promise<RerunAnswer>
  retry(executionId: string, request: JsonObject): Promise<RetryAnswer>
  diff(a: string, b: string): Promise<DiffAnswer>
  /** The file as it arrives. */
  export(executionId: string, query?: Query): Promise<AsyncIterable<Uint8Array>>
  import(bytes: Readable, query?: Query): Promise<ImportAnswer>
  doctor(query?: Query): Promise<DoctorAnswer>
}

export const createHistoryClient = (transport: Transport): HistoryClient => {
  const get = (path: string, query: Query = {}): Promise<unknown> =>
    transport.json('GET', path + asText(query))
  const post = (path: string, body: JsonObject): Promise<unknown> => transport.json('POST', path, { body })
  return {
    state: async (id, query) => (await get(`${of(id)}/state`, query)) as StateAnswer,
    explain: async (id, query) => (await get(`${of(id)}/explain`, query)) as ExplainAnswer,
    rerun: async (id, request) => (await post(`${of(id)}/rerun`, request)) as RerunAnswer,
    retry: async (id, request) => (await post(`${of(id)}/retry`, request)) as RetryAnswer,
    diff: async (a, b) => (await get('/api/executions/diff', { a, b })) as DiffAnswer,
    export: (id, query = {}) => transport.bytes(`${of(id)}/export${asText(query)}`),
    import: async (bytes, query = {}) =>
      (await transport.upload(`/api/executions/import${asText(query)}`, {
        type: TRANSFER_TYPE,
        bytes,
      })) as ImportAnswer,
    doctor: async (query) => (await get('/api/doctor', query)) as DoctorAnswer,
  }
}

const of = (executionId: string): string => `/api/executions/${encodeURIComponent(executionId)}`

const asText = (query: Query): string => {
  const text = new URLSearchParams(query).toString()
  return text === '' ? '' : `?${text}`
}
