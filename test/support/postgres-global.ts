/**
 * One PostgreSQL for a whole test run, with a migrated template database that each test file clones.
 *
 * 1. Nothing is left behind, also when the run is interrupted or killed: the server ends with this process and takes
 *    its directory along.
 * 2. Durability is off: the data does not outlive the run.
 */
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { startEmbeddedPostgres } from '../../src/store/embedded/start.ts'
import { migrate } from '../../src/store/migrate.ts'
import { fastDirectory } from './fast-directory.ts'
import { databaseUrl, TEMPLATE_DATABASE } from './template-database.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** A database for administration on the server of this run. */
    postgresUrl: string
  }
}

const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  // Many test files, each with a pool of its own.
  max_connections: '300',
  max_wal_size: '256MB',
  // A run is too short to need it, and it would compete with the tests for locks on the templates.
  autovacuum: 'off',
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(fastDirectory(), 'noetl-test-'))
  const postgres = await startEmbeddedPostgres({ dataDir, settings: SETTINGS, temporary: true })
  try {
    await createTemplate(postgres.url)
  } catch (error) {
    await postgres.stop()
    throw error
  }
  project.provide('postgresUrl', postgres.url)
  return () => postgres.stop()
}

/** What holds for every row that this system writes. Too dear for a check at every statement, but not in tests. */
const GUARDS = `
alter table noetl.execution
  add constraint execution_status check (status in ('RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED')),
  add constraint execution_finished check ((status = 'RUNNING') = (finished_at is null)),
  add constraint execution_version_check check (version >= 0);
alter table noetl.command
  add constraint command_status check (status in ('PENDING', 'CLAIMED', 'PARKED', 'COMPLETED', 'FAILED', 'CANCELLED')),
  add constraint command_lease check ((status = 'CLAIMED') = (lease_until is not null));
alter table noetl.event
  add constraint event_meta_object check (json_typeof(meta) = 'object'),
  add constraint event_position_check check (position > 0);
`

async function createTemplate(url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`create database ${TEMPLATE_DATABASE}`)
    await migrate(databaseUrl(url, TEMPLATE_DATABASE))
    await runOn(databaseUrl(url, TEMPLATE_DATABASE), GUARDS)
    // A template that somebody is connected to cannot be cloned.
    await client.query(`alter database ${TEMPLATE_DATABASE} with is_template true allow_connections false`)
  } finally {
    await client.end()
  }
}

async function runOn(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
