/** Writes src/store/schema.sql from a database that was just migrated: `npm run schema`. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { startEmbeddedPostgres } from '../src/store/embedded/start.ts'
import { migrate } from '../src/store/migrate.ts'
import { describeSchema } from './schema-text.ts'

const file = new URL('../src/store/schema.sql', import.meta.url)
const postgres = await startEmbeddedPostgres({
  dataDir: mkdtempSync(join(tmpdir(), 'noetl-schema-')),
  settings: { fsync: 'off' },
  temporary: true,
})
try {
  await migrate(postgres.url)
  const client = new Client({ connectionString: postgres.url })
  await client.connect()
  try {
    writeFileSync(file, await describeSchema(client))
  } finally {
    await client.end()
  }
  console.log('src/store/schema.sql is written')
} finally {
  await postgres.stop()
}
