/**
 * The floor: the very rows that the product wrote, written again by a bare PostgreSQL client in batches, with no
 * engine, no decisions, no versions, no commands. What the product reaches of this is what it leaves on the table.
 */
import pg from 'pg'

const BATCH = 500
const LANES = 2

export const measureFloor = async (
  url: string,
  atLeast: number,
): Promise<{ events: number; perSecond: number }> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const lanes = await Promise.all(
    Array.from({ length: LANES }, async () => {
      const lane = new pg.Client({ connectionString: url })
      await lane.connect()
      return lane
    }),
  )
  try {
    await client.query('create schema if not exists floor; drop table if exists floor.event')
    await client.query('create table floor.event (like noetl.event including all)')
    const { rows } = await client.query<{ batch: string }>(
      `select json_agg(row_to_json(e))::text as batch from (
         select *, (row_number() over () - 1) / $1 as nth from (select * from noetl.event order by event_id limit $2) recent) e
       group by nth order by nth`,
      [BATCH, atLeast],
    )
    const batches = rows.map((row) => row.batch)
    const start = performance.now()
    await Promise.all(lanes.map((lane) => writeAll(lane, batches)))
    const seconds = (performance.now() - start) / 1000
    const { rows: counted } = await client.query<{ count: string }>('select count(*) from floor.event')
    const events = Number(counted[0]?.count ?? 0)
    await client.query('drop schema floor cascade')
    return { events, perSecond: events / seconds }
  } finally {
    await Promise.all([client, ...lanes].map((connection) => connection.end()))
  }
}

const writeAll = async (lane: pg.Client, batches: string[]): Promise<void> => {
  for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
    await lane.query({
      name: 'floor',
      text: `insert into floor.event select (json_populate_recordset(null::floor.event, $1::json)).*`,
      values: [batch],
    })
  }
}
