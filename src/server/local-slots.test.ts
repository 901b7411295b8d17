import { expect, test } from 'vitest'
import { aCommand } from '../worker/test-support.ts'
import type { LeasedCommand } from '../contract/command.ts'
import { createLocalSlots } from './local-slots.ts'

const slotsOf = (free: number) => {
  const accepted: LeasedCommand[] = []
  const worker = { free }
  const slots = createLocalSlots({
    workerId: 'local',
    pool: 'shared',
    freeSlots: () => worker.free,
    isInstant: (kind) => kind === 'noop',
    canRun: (kind) => kind !== 'unknown',
    accept: (commands) => {
      accepted.push(...commands)
      worker.free -= commands.filter((command) => command.toolKind !== 'noop').length
    },
  })
  return { slots, accepted }
}

test('reserves as many slots as the worker has, and none for instant tools', () => {
  const { slots } = slotsOf(2)
  expect([1, 2, 3].map(() => slots.reserve('shared', 'python'))).toEqual([true, true, false])
  expect(slots.reserve('shared', 'noop')).toBe(true)
})

test('takes nothing of another pool and nothing it cannot run', () => {
  const { slots } = slotsOf(5)
  expect([slots.reserve('gpu', 'python'), slots.reserve('shared', 'unknown')]).toEqual([false, false])
})

test('slots of a lost commit are free again', () => {
  const { slots } = slotsOf(1)
  slots.reserve('shared', 'python')
  slots.reserve('shared', 'noop')
  slots.giveBack(['python', 'noop'])
  expect([slots.reserve('shared', 'python'), slots.reserve('shared', 'python')]).toEqual([true, false])
})

test("delivered commands use the worker's own slots", () => {
  const { slots, accepted } = slotsOf(2)
  slots.reserve('shared', 'python')
  slots.deliver([aCommand({ toolKind: 'python' })])
  expect(accepted).toHaveLength(1)
  expect([slots.reserve('shared', 'python'), slots.reserve('shared', 'python')]).toEqual([true, false])
})
