import { expect, test } from 'vitest'
import type { ExecutionEvent } from '../client/answers.ts'
import { createRunProgress } from './run-progress.ts'
import { completed, event, failed } from './testing/events.ts'

const after = (...events: readonly ExecutionEvent[]) => {
  const progress = createRunProgress()
  const changes = events.map((each) => progress.apply(each))
  return { progress, changes, run: progress.runs.at(-1) }
}

test('a step run lasts from its entry to its exit', () => {
  const { run, changes } = after(
    event('step.enter', 'a', { at: 1000 }),
    event('command.issued', 'a', { tool: 'python' }),
    completed('a', { stdout: 'hi' }),
    event('step.exit', 'a', { at: 1250, context: { next: ['b'] } }),
  )
  expect(run).toMatchObject({
    step: 'a',
    run: 1,
    status: 'completed',
    tool: 'python',
    durationMs: 250,
    output: 'hi',
    next: ['b'],
  })
  expect(changes.map(({ type }) => type)).toEqual(['entered', 'none', 'none', 'ended'])
})

test('a step on a cycle has several runs (1)', () => {
  const { progress } = after(...[1, 2, 3].flatMap(() => [event('step.enter', 'a'), event('step.exit', 'a')]))
  expect(progress.runs.map(({ run }) => run)).toEqual([1, 2, 3])
})

test('a loop counts its items and keeps the first failure', () => {
  const { run, changes } = after(
    event('step.enter', 'a', { context: { iterations_expected: 3 } }),
    completed('a'),
    failed('a', { message: 'first', code: 'X' }),
    failed('a', { message: 'second', code: 'X' }),
  )
  expect(run).toMatchObject({ loop: { total: 3, done: 3, failed: 2 }, error: { message: 'first' } })
  expect(changes.map(({ type }) => type)).toEqual(['entered', 'progressed', 'progressed', 'progressed'])
})

test('an item whose work goes on elsewhere counts once, when that has ended', () => {
  const { run } = after(
    event('step.enter', 'a', { context: { iterations_expected: 2 } }),
    event('command.completed', 'a', { context: { pending_callback: true } }),
    event('command.completed', 'a', { context: { pending_callback: true } }),
    completed('a'),
    failed('a', { message: 'no', code: 'X' }),
  )
  expect(run).toMatchObject({ loop: { total: 2, done: 2, failed: 1 } })
})

test.each([
  [{}, 'failed'],
  [{ handled: true }, 'handled'],
])('a failed exit with %j is %s', (context, status) => {
  const { run } = after(
    event('step.enter', 'a'),
    failed('a', { message: 'no', code: 'PY_KeyError', traceback: 'where' }),
    event('step.exit', 'a', { status: 'FAILED', context }),
  )
  expect(run).toMatchObject({ status, error: { message: 'no', code: 'PY_KeyError', traceback: 'where' } })
})

test('a failure that the control plane itself found has its words', () => {
  const { run } = after(
    event('step.enter', 'a'),
    event('step.exit', 'a', { status: 'FAILED', error: 'No arc matched' }),
  )
  expect(run?.error?.message).toBe('No arc matched')
})

test('a skipped step says why', () => {
  const { run } = after(event('step.skipped', 'a', { status: 'SKIPPED', context: { reason: 'dead_path' } }))
  expect(run).toMatchObject({ status: 'skipped', reason: 'dead_path' })
})

test('a command that waits again is told', () => {
  const { changes } = after(
    event('step.enter', 'a'),
    event('command.released', 'a', { meta: { reason: 'lease_expired', attempt: 2 } }),
  )
  expect(changes[1]).toMatchObject({ type: 'waits-again', reason: 'lease_expired', attempt: 2 })
})

test('open runs are stopped with the execution (2), whose result and duration are known', () => {
  const { progress } = after(
    event('playbook_started', 'p', { at: 0 }),
    event('step.enter', 'a', { at: 0 }),
    event('playbook.completed', 'playbook', { at: 900, context: { data: { n: 1 } } }),
  )
  expect(progress.stop().map(({ step, status }) => [step, status])).toEqual([['a', 'stopped']])
  expect(progress.result()).toEqual({ n: 1 })
  expect(progress.durationMs()).toBe(900)
})

test('events it does not know change nothing', () => {
  expect(after(event('ctx.updated', 'a'), event('constructor', 'a')).changes).toEqual([
    { type: 'none' },
    { type: 'none' },
  ])
})

test('a run after a skip takes its number (1)', () => {
  const { progress } = after(event('step.skipped', 'a'), event('step.enter', 'a'), event('step.exit', 'a'))
  expect(progress.runs.map(({ run, status }) => [run, status])).toEqual([
    [1, 'skipped'],
    [1, 'completed'],
  ])
})

test('an execution that is opened again begins anew, with a loop that goes on where it was (3, 4)', () => {
  const { progress, changes } = after(
    event('playbook_started', 'p', { at: 0 }),
    event('step.enter', 'a', { context: { iterations_expected: 3 } }),
    completed('a'),
    failed('a', { message: 'no', code: 'X' }),
    event('step.exit', 'a', { status: 'FAILED' }),
    event('playbook.failed', 'p', { at: 1000, context: { data: 'old' } }),
    event('playbook.reopened', 'p', { at: 5000 }),
    event('command.issued', 'a', { at: 5000, tool: 'python' }),
    completed('a'),
    completed('a'),
    event('step.exit', 'a', { at: 5300 }),
    event('playbook.completed', 'p', { at: 5400, context: { data: 'new' } }),
  )
  expect(progress.runs).toMatchObject([
    { run: 2, status: 'completed', tool: 'python', durationMs: 300, loop: { total: 3, done: 3, failed: 0 } },
  ])
  expect(changes[7]).toMatchObject({ type: 'entered' })
  expect([progress.result(), progress.durationMs()]).toEqual(['new', 400])
})
