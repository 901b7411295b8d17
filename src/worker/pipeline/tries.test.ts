/** Trying a task again: how often, after which waits, and what the tries see. */
import { describe, expect, test } from 'vitest'

import {
  always,
  createHastyClock,
  createWarnings,
  error,
  ok,
  runTasks,
  scripted,
  when,
} from './test-support.ts'

describe('retries', () => {
  const failing = (then: object, answers = [error('broken')], variables = {}) => {
    const { tool, calls } = scripted('flaky', answers)
    const { clock, waits } = createHastyClock()
    const { log, warnings } = createWarnings()
    const tasks = [{ a: { kind: 'flaky', spec: { policy: { rules: [always({ do: 'retry', ...then })] } } } }]
    const running = runTasks(tasks, { tools: [tool], clock, log, over: { variables } })
    return running.then((result) => ({ result, runs: calls.length, waits, warnings: warnings.length }))
  }

  test.each<[object, number[]]>([
    [{ attempts: 3 }, []],
    [{ attempts: 3, delay: 2 }, []],
    [{ attempts: 3, delay: 2, backoff: 'fixed' }, [2000, 2000]],
    [{ attempts: 3, delay: 2, backoff: 'steady' }, [2000, 2000]],
    [{ attempts: 4, delay: 2, backoff: 'linear' }, [2000, 4000, 6000]],
    [{ attempts: 4, delay: '0.5', backoff: 'exponential' }, [500, 1000, 2000]],
    [{ attempts: '3', delay: '250ms', backoff: 'fixed' }, [250, 250]],
    [{ attempts: '{{ n }}', delay: '{{ d }}', backoff: 'fixed' }, [7000]],
    [{ attempts: 2, backoff: 'fixed' }, [1000]],
    [{ attempts: 2, delay: 0, backoff: 'fixed' }, []],
    [{ attempts: 4, delay: 200, backoff: 'exponential' }, [200_000, 300_000, 300_000]],
    [{ attempts: 0 }, []],
  ])('%j waits %j', async (then, expected) => {
    const { waits, result, warnings } = await failing(then, undefined, { n: 2, d: 7 })
    expect(waits).toEqual(expected)
    expect(result.error?.message).toBe('broken')
    expect(warnings).toBe(0)
  })

  test('runs three times when nothing is said, or nothing usable', async () => {
    expect((await failing({})).runs).toBe(3)
    expect(await failing({ attempts: 'many', delay: 'soon', backoff: 'fixed' })).toMatchObject({
      runs: 3,
      waits: [1000, 1000],
      warnings: 5,
    })
  })

  test('waits at least as long as the other side asked', async () => {
    const busy = error('busy', { retry_after: 9 })
    expect((await failing({ attempts: 2 }, [busy])).waits).toEqual([9000])
    expect((await failing({ attempts: 2, delay: 10, backoff: 'fixed' }, [busy])).waits).toEqual([10_000])
    expect((await failing({ attempts: 2 }, [error('busy', { retry_after: 1e9 })])).waits).toEqual([3_600_000])
  })

  test('a task that succeeds every time but is never good enough ends with an error of its own', async () => {
    const { result } = await failing({ attempts: 2 }, [ok('not yet')])
    expect(result).toMatchObject({
      outcome: 'error',
      data: { a: 'not yet', _failed_task: 'a' },
      error: { kind: 'policy', code: 'RETRIES_EXHAUSTED' },
    })
  })

  test('_prev stays what it was while a task is tried again', async () => {
    const { tool, calls } = scripted('flaky', [{ ...error('once'), data: 'half' }, ok('whole')])
    const tasks = [
      { a: { kind: 'noop', result: 'before' } },
      {
        b: {
          kind: 'flaky',
          seen: '{{ _prev }} {{ _task }} {{ _attempt }}',
          spec: { policy: { rules: [when('{{ output.error }}', { do: 'retry' })] } },
        },
      },
      { c: { kind: 'noop', result: '{{ _prev }}' } },
    ]
    expect((await runTasks(tasks, { tools: [tool] })).data).toMatchObject({ c: 'whole' })
    expect(calls.map(({ config }) => config['seen'])).toEqual(['before b 1', 'before b 2'])
  })

  test('every run has a call id of its own, the same when the command is run again', async () => {
    const run = async (): Promise<string[]> => {
      const { tool, calls } = scripted('flaky', [error('once'), ok()])
      const tasks = [
        {
          a: {
            kind: 'flaky',
            spec: { policy: { rules: [when('{{ output.error }}', { do: 'retry' })] } },
          },
        },
      ]
      await runTasks(tasks, { tools: [tool], over: { commandId: 'c' } })
      return calls.map(({ callId }) => callId)
    }
    expect(await run()).toEqual(['c/a/0', 'c/a/1'])
    expect(await run()).toEqual(['c/a/0', 'c/a/1'])
  })
})
