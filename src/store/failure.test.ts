import { expect, test } from 'vitest'
import { ProblemError } from '../contract/problem.ts'
import { databaseProblem, isCollision, isOutage, toProblem } from './failure.ts'

const failure = (code: string | undefined, message = 'failed'): Error =>
  Object.assign(new Error(message), code === undefined ? {} : { code })

test.each([
  failure('57P01'),
  failure('08006'),
  failure('53300'),
  failure('ECONNREFUSED'),
  failure(undefined, 'Connection terminated unexpectedly'),
  failure(undefined, 'timeout exceeded when trying to connect'),
  failure('55000', 'database "noetl" is not currently accepting connections'),
])('%s is an outage, which a caller may wait out', (error) => {
  expect(isOutage(error)).toBe(true)
  expect(databaseProblem(error)).toMatchObject({ code: 'unavailable', cause: error })
})

test.each([failure('23505'), failure('42601'), failure(undefined, 'oops'), null, 'text'])(
  '%s is no outage',
  (error) => {
    expect(isOutage(error)).toBe(false)
    expect(databaseProblem(error)).toBeNull()
  },
)

test.each(['22003', '22008', '22021', '54001', '54000'])(
  "content that cannot be stored (%s) is the sender's problem",
  (code) => {
    expect(databaseProblem(failure(code))).toMatchObject({ code: 'invalid' })
  },
)

test("statements in each other's way may be repeated", () => {
  expect(['40P01', '40001', '23505'].map((code) => isCollision(failure(code)))).toEqual([true, true, false])
})

test('every failure can be told as a problem', () => {
  const known = new ProblemError('conflict', 'x')
  expect(toProblem(known)).toBe(known)
  expect(toProblem(failure('57P03')).code).toBe('unavailable')
  expect(toProblem(failure(undefined, 'bug'))).toMatchObject({ code: 'internal', message: 'bug' })
  expect(toProblem('text')).toMatchObject({ code: 'internal', message: 'text' })
})
