/** Examples of the language itself: they need nothing but the product, python3 and a shell. */
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { EVENT } from '../../src/contract/event.ts'
import { textOf } from '../support/server.ts'
import { useExamples } from './example-run.ts'

const { product, register, result, run, start } = useExamples()

test('variables: what steps and arcs wrote is read by the last step', async () => {
  expect(await result('variables')).toEqual({ items: 3, to_pay: 90 })
  expect(await result('variables', { member: false })).toEqual({ items: 3, to_pay: 100 })
})

test('routing: one team is chosen, and everybody concerned is told', async () => {
  expect(await result('routing')).toEqual({ team: 'service desk', told: ['mail'] })
  expect(await result('routing', { severity: 1, customer: 'gold' })).toEqual({
    team: 'on call',
    told: ['pager', 'account manager', 'mail'],
  })
})

test('workbook: one tool serves two steps', async () => {
  expect(await result('workbook')).toEqual({ warmer: 'Rome', means: [5, 16] })
})

test('expression: a cart is added up', async () => {
  expect(await result('expression')).toEqual({ goods: 30, discount: 0, to_pay: 30 })
  expect(await result('expression', { coupon: 'WELCOME' })).toEqual({ goods: 30, discount: 3, to_pay: 27 })
})

test('python-report: a function with modules gives several results, and its printing is kept apart', async () => {
  const { result: report, data, executionId } = await run('python-report')
  expect(report).toEqual({ mean: 163.4, unusual_days: [5] })
  expect(data('start')).toMatchObject({ mean: 163.4, deviation: 100.7 })
  expect((data('start') as { scores: number[] }).scores).toHaveLength(7)
  const logs = await product.get(`/api/executions/${executionId}/logs`)
  expect(logs.text).toContain('7 days')
})

test('data-quality: bad rows fail the run with a message that names them; good ones pass', async () => {
  const { status, error } = await run('data-quality')
  expect(status).toBe('FAILED')
  expect(error).toContain('2 checks failed: row 2: email has no @; row 3: age is negative')
  expect(await result('data-quality', { rows: [{ id: 1, email: 'a@b', age: 1 }] })).toBe('1 rows are fine')
  expect(await result('data-quality', { tolerance: 0.7 })).toBe('3 rows are fine')
})

test('shell-build: an artifact is made, and the directory is gone afterwards', async () => {
  const { result: built, executionId, runs } = await run('shell-build')
  expect(built).toEqual({ artifact: 'dist/answer.tar', bytes: 10240 })
  expect(runs.at(-1)).toBe('cleanup')
  expect(existsSync(`/tmp/noetl-build-${executionId}`)).toBe(false)
})

test('shell-build: a test that fails stops the build, and the directory is gone all the same', async () => {
  const { status, error, executionId, runs, data } = await run('shell-build', { broken: true })
  expect(status).toBe('FAILED')
  expect(error).toContain('Command exited with code 1')
  expect(data('test')).toMatchObject({ stderr: 'the answer is 41\n' })
  expect(runs).toEqual(['start', 'test', 'cleanup'])
  expect(existsSync(`/tmp/noetl-build-${executionId}`)).toBe(false)
})

test('fan-out-reduce: the pieces are found at run time, run a few at a time, and are put together', async () => {
  expect(await result('fan-out-reduce')).toEqual({ pieces: 4, primes: 1229 })
  expect(await result('fan-out-reduce', { limit: 100, piece: 10 })).toEqual({ pieces: 10, primes: 25 })
})

test('invoice: works by itself', async () => {
  expect(await result('invoice')).toBe('invoice for order 1: 119')
})

test('invoices: a child for each order; the one that fails is counted and stops nothing', async () => {
  await register('invoice')
  const { result: invoices, executionId } = await run('invoices')
  expect(invoices).toEqual({ orders: [1, 2], tax: 29, failed: 1 })
  const { body } = await product.get(`/api/executions?parent_execution_id=${executionId}`)
  const children = (body as unknown as { status: string }[]).map(({ status }) => status)
  expect(children.sort()).toEqual(['COMPLETED', 'COMPLETED', 'FAILED'])
})

test('large-result: the data is stored apart, read in part, and fetched by its reference', async () => {
  const { result: seen, events } = await run('large-result')
  expect(seen).toEqual({ rows: 5000, peeked: 15129, by_reference: true })
  const completed = events.find(
    ({ eventType, nodeName }) => eventType === EVENT.commandCompleted && nodeName === 'start',
  )
  expect(completed?.result?.context?.['result']).toMatchObject({
    reference: { extracted: { summary: { count: 5000, last: 24990001 } } },
  })
  expect(JSON.stringify(completed).length).toBeLessThan(20_000)
})

const WAIT = { every: 0.05 }

test.each([
  ['approved', 'published: We raise our prices on Monday.'],
  ['rejected', 'discarded'],
])('approval: goes on when somebody has %s', async (decision, outcome) => {
  const executionId = await start('approval', { ...WAIT, rounds: 1000 })
  await product.seen(executionId, ({ nodeName }) => nodeName === 'wait')
  expect((await product.look(executionId)).status).toBe('RUNNING')
  expect((await product.post(`/api/vars/${executionId}`, { decision })).status).toBe(200)
  const { status, result: answer } = await product.ended(executionId)
  expect([status, answer]).toEqual(['COMPLETED', outcome])
})

test('approval: gives up when nobody answers', async () => {
  const { result: answer, runs } = await run('approval', { ...WAIT, rounds: 3 })
  expect(textOf(answer as string)).toBe('nobody answered')
  expect(runs).toEqual(['start', 'wait', 'wait', 'wait', 'expire'])
})
