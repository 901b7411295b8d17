/** What a parent sees of a child that completed. */
import type { Json, JsonObject } from './json.ts'
import { isObject } from './json.ts'

export interface ChildFacts {
  readonly data: Json
  readonly executionId: string
  readonly status: string
  readonly path: string
}

/** The child's own fields win over what is told about the child; the names with an underscore are always there. */
export const childData = ({ data, executionId, status, path }: ChildFacts): JsonObject => ({
  data,
  execution_id: executionId,
  status,
  path,
  ...(isObject(data) ? data : {}),
  _execution_id: executionId,
  _status: status,
})
