/** What every operation of NATS gets, and the fields that several of them read. */
import type { MsgHdrs, NatsConnection } from '@nats-io/transport-node'

import type { Json, JsonObject } from '../../../contract/json.ts'
import { configFailure } from '../../tool-failure.ts'
import { integerField, textEntries, textField } from '../coerce.ts'
import type { NatsPackages } from './packages.ts'

export interface Operation {
  readonly config: JsonObject
  readonly connection: NatsConnection
  readonly packages: NatsPackages
  readonly signal: AbortSignal
}

/** Answers the data of the call. */
export type RunOperation = (operation: Operation) => Promise<JsonObject>

export const needed = (config: JsonObject, operation: string, ...names: readonly string[]): string => {
  const text = textField(config, ...names)
  if (text !== null) return text
  throw configFailure(`${operation} needs \`${names[0]}\``)
}

export const headersOf = ({ config, packages }: Operation): MsgHdrs | undefined => {
  const entries = textEntries(config['headers'], 'headers')
  if (entries.length === 0) return undefined
  const headers = packages.transport.headers()
  for (const [name, value] of entries) headers.set(name, value)
  return headers
}

/** Headers of a message as a mapping; several of one name become a list. */
export const headerData = (headers: MsgHdrs | undefined): { headers?: JsonObject } => {
  if (headers === undefined) return {}
  const data: Record<string, Json> = {}
  for (const name of headers.keys()) {
    const values = headers.values(name)
    data[name] = values.length > 1 ? values : (values[0] ?? '')
  }
  return Object.keys(data).length === 0 ? {} : { headers: data }
}

/** A whole number within limits, or the fallback. */
export const boundedInteger = (
  config: JsonObject,
  name: string,
  { least, fallback, most }: { least: number; fallback: number; most: number },
): number => Math.min(most, integerField(config, name, least) ?? fallback)
