/**
 * A database of its own for a test file: a clone of the migrated template, made in milliseconds.
 *
 * 1. Names are unique across parallel test files, so none sees another's rows.
 * 2. Dropping disconnects whoever is still connected; the server drops everything at the end of the run anyway.
 */
import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { inject } from 'vitest'
import { databaseUrl, TEMPLATE_DATABASE } from './template-database.ts'

export interface TestDatabase {
  readonly url: string
  drop(): Promise<void>
}

/** A migrated database; for one without any table, pass `{ empty: true }`. */
export async function createTestDatabase(options: { empty?: boolean } = {}): Promise<TestDatabase> {
  const name = `test_${process.pid}_${randomBytes(6).toString('hex')}`
  const template = options.empty === true ? 'template0' : TEMPLATE_DATABASE
  // Copying files is faster than logging every page, since nothing has to survive a crash.
  await administer(`create database ${name} template ${template} strategy file_copy`)
  return {
    url: databaseUrl(inject('postgresUrl'), name),
    drop: () => administer(`drop database if exists ${name} with (force)`),
  }
}

async function administer(statement: string): Promise<void> {
  const client = new Client({ connectionString: inject('postgresUrl') })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
