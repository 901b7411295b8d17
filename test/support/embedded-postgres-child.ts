/**
 * A program for tests that end it in unfriendly ways: starts an embedded PostgreSQL with the options given as JSON,
 * tells where it is on standard output, and waits. SIGINT makes it use the database once more and stop it.
 */
import { Client } from 'pg'
import { startEmbeddedPostgres, type EmbeddedPostgresOptions } from '../../src/store/embedded/start.ts'

const options = JSON.parse(process.argv[2] ?? '{}') as EmbeddedPostgresOptions & { exitAfterStart?: boolean }
const postgres = await startEmbeddedPostgres(options)
if (options.exitAfterStart !== true) {
  const waiting = setInterval(() => undefined, 60_000)
  process.once('SIGINT', () => {
    clearInterval(waiting)
    void finish()
  })
}
// Only now: whoever reads this line may send the signal at once.
process.stdout.write(`${JSON.stringify({ url: postgres.url, pid: postgres.pid })}\n`)

async function finish(): Promise<void> {
  const client = new Client({ connectionString: postgres.url })
  await client.connect()
  const { rows } = await client.query<{ answer: number }>('select 42 as answer')
  await client.end()
  await postgres.stop()
  process.stdout.write(`${JSON.stringify({ answer: rows[0]?.answer })}\n`)
}
