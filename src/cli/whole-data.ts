/**
 * Data as it is, also where the server keeps large parts of it apart and shows only what stands for them.
 *
 * 1. What was deleted meanwhile stays what stands for it.
 * 2. Sensitive values are replaced, as they are in everything that the server shows unasked.
 */
import type { Client } from '../client/client.ts'
import type { Json } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import { ProblemError } from '../contract/problem.ts'
import { redact } from '../contract/sensitive.ts'
import { referenceOf } from '../engine/reference.ts'

export type DataSource = Pick<Client, 'resolve'>

export const wholeData = async (data: Json, client: DataSource): Promise<Json> => {
  const ref = referenceOf(data)
  if (ref !== null) return redact(await resolved(ref, data, client))
  if (!holdsReference(data)) return data
  if (Array.isArray(data)) {
    const items: Json[] = []
    // One after the other: a loop may have thousands of them.
    for (const item of data) items.push(await wholeData(item as Json, client))
    return items
  }
  const members: [string, Json][] = []
  for (const [key, value] of Object.entries(data as object))
    members.push([key, await wholeData(value as Json, client)])
  return Object.fromEntries(members)
}

/** Most data has none, and is left as it is. */
const holdsReference = (data: Json): boolean => {
  if (Array.isArray(data)) return data.some((item) => holdsReference(item as Json))
  return isObject(data) && (referenceOf(data) !== null || Object.values(data).some(holdsReference))
}

const resolved = async (ref: string, marker: Json, client: DataSource): Promise<Json> => {
  try {
    return await client.resolve(ref)
  } catch (error) {
    if (error instanceof ProblemError && error.code === 'not_found') return marker
    throw error
  }
}
