import { expect, test } from 'vitest'
import { aNewCommand, anAppend, nextTestId } from '../../test/support/appends.ts'
import { useDatabase } from '../../test/support/database.ts'
import { testSealer as sealer } from '../../test/support/server.ts'
import type { Append } from './append.ts'
import { createAppender } from './appender.ts'
import type { ExecutionFilter } from './execution-list.ts'
import { executionsWithoutCause, listExecutions, readExecution, readVersion } from './executions.ts'

const database = useDatabase()
const append = (one: Append): Promise<boolean> => createAppender({ database: database(), sealer }).append(one)

const ANY: ExecutionFilter = {
  status: null,
  catalogId: null,
  path: null,
  parentExecutionId: null,
  limit: 100,
  offset: 0,
}

const ids = async (filter: Partial<ExecutionFilter>): Promise<readonly string[]> =>
  (await listExecutions(database(), { ...ANY, ...filter })).map((row) => row.execution_id)

test('lists are newest first, filtered before they are cut', async () => {
  const [a, b, c, d] = [nextTestId(), nextTestId(), nextTestId(), nextTestId()]
  await append(anAppend(a, 0, [{}], { execution: { catalogId: '71', path: 'team/First_100%' } }))
  await append(
    anAppend(b, 0, [{}], { execution: { catalogId: '71', path: 'team/second', status: 'FAILED' } }),
  )
  await append(
    anAppend(c, 0, [{}], { execution: { catalogId: '72', path: 'TEAM/third', parentExecutionId: a } }),
  )
  await append(anAppend(d, 0, [{}], { execution: { catalogId: '72', path: 'other', status: 'CANCELLED' } }))
  expect(await ids({})).toEqual([d, c, b, a])
  expect(await ids({ limit: 2, offset: 1 })).toEqual([c, b])
  expect(await ids({ path: 'team' })).toEqual([c, b, a])
  expect(await ids({ path: 'team', limit: 1, offset: 2 })).toEqual([a])
  expect(await ids({ path: '_100%' })).toEqual([a])
  expect(await ids({ path: '%' })).toEqual([a])
  expect(await ids({ status: 'FAILED' })).toEqual([b])
  expect(await ids({ status: 'RUNNING', catalogId: '71' })).toEqual([a])
  expect(await ids({ parentExecutionId: a })).toEqual([c])
  expect(await ids({ limit: 0 })).toEqual([])
})

test('an execution that does not exist has no row and no version', async () => {
  expect(await readExecution(database(), '1')).toBeNull()
  expect(await readVersion(database(), '1')).toBeNull()
})

test('an execution without anything under way is named, one with a command or a timer is not', async () => {
  const [stuck, waiting, leased, timed, done] = Array.from({ length: 5 }, () => nextTestId()) as [
    string,
    string,
    string,
    string,
    string,
  ]
  await append(anAppend(stuck, 0, [{}], { commands: [aNewCommand(stuck, { status: 'CANCELLED' })] }))
  await append(anAppend(waiting, 0, [{}], { commands: [aNewCommand(waiting)] }))
  await append(
    anAppend(leased, 0, [{}], { commands: [aNewCommand(leased, { status: 'CLAIMED', workerId: 'w' })] }),
  )
  await append(anAppend(timed, 0, [{}]))
  await database().query(
    `insert into noetl.timer (timer_id, execution_id, due_at, kind, payload) values ($1, $1, now(), 'x', '{}')`,
    [timed],
  )
  await append(anAppend(done, 0, [{}], { execution: { status: 'COMPLETED' } }))
  const named = await executionsWithoutCause(database(), 100)
  expect(named).toContain(stuck)
  for (const id of [waiting, leased, timed, done]) expect(named).not.toContain(id)
})
