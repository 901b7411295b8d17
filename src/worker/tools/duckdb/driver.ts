/** The driver of DuckDB, which is optional: loaded when it is needed for the first time. */
import type * as Driver from '@duckdb/node-api'

import { toolUnavailable } from '../tool-unavailable.ts'

export type DuckdbDriver = Pick<
  typeof Driver,
  | 'BIGINT'
  | 'BOOLEAN'
  | 'DOUBLE'
  | 'DuckDBInstance'
  | 'DuckDBTypeId'
  | 'LIST'
  | 'ResultReturnType'
  | 'StatementType'
  | 'VARCHAR'
  | 'listValue'
>
export type DuckdbConnection = Driver.DuckDBConnection
export type DuckdbInstance = Driver.DuckDBInstance
export type DuckdbResult = Driver.DuckDBResult
export type DuckdbType = Driver.DuckDBType
export type DuckdbValue = Driver.DuckDBValue
export type DuckdbDecimal = Driver.DuckDBDecimalValue

export type LoadDriver = () => Promise<DuckdbDriver>

export const loadDriver: LoadDriver = async () => {
  try {
    return await import('@duckdb/node-api')
  } catch (error) {
    throw toolUnavailable(
      'DuckDB is not installed on this worker. Install it with: npm install @duckdb/node-api',
      error,
    )
  }
}
