import { expect, test } from 'vitest'

import type { LeasedCommand } from '../contract/command.ts'
import { type HeldCommand, holdCommand } from './held-command.ts'
import { createSlots } from './slots.ts'
import type { ToolResult } from './tool.ts'

const DONE: ToolResult = { outcome: 'ok' }

const heldAs = (name: string): HeldCommand =>
  holdCommand({ executionId: '1', eventId: name, leaseToken: '1', step: name } as LeasedCommand, false)

/** Slots whose commands run until the test ends them, with a record of what begins and ends. */
const stage = (size: number) => {
  const log: string[] = []
  const ends = new Map<string, (result: ToolResult) => void>()
  const slots = createSlots({
    size,
    run: (entry) => {
      log.push(`begin ${entry.command.step}`)
      return new Promise((resolve) => ends.set(entry.command.step, resolve))
    },
    leave: (entry) => void log.push(`end ${entry.command.step}`),
  })
  const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
  const end = (name: string): Promise<void> => {
    ends.get(name)?.(DONE)
    return settled()
  }
  return { slots, log, end, settled }
}

test('a command that waits aside leaves its slot to the next one (4)', async () => {
  const { slots, log, end } = stage(1)
  const [parent, child] = [heldAs('parent'), heldAs('child')]
  slots.push([parent, child])
  expect(log).toEqual(['begin parent'])
  const waited = slots.aside(parent, Promise.resolve('told'))
  expect(log).toEqual(['begin parent', 'begin child'])
  expect(slots.free()).toBe(0)
  await end('child')
  expect(await waited).toBe('told')
  await end('parent')
  expect(log).toEqual(['begin parent', 'begin child', 'end child', 'end parent'])
  expect(slots.free()).toBe(1)
})

test('it gets a slot again before commands that have not begun, and never one too many (4)', async () => {
  const { slots, log, end, settled } = stage(1)
  const parent = heldAs('parent')
  let tell: (word: string) => void = () => undefined
  slots.push([parent, heldAs('second'), heldAs('third')])
  let back = false
  const waited = slots
    .aside(parent, new Promise<string>((resolve) => (tell = resolve)))
    .then(() => (back = true))
  tell('now')
  await settled()
  expect(back).toBe(false)
  await end('second')
  await waited
  expect(log).toEqual(['begin parent', 'begin second', 'end second'])
  await end('parent')
  expect(log.at(-1)).toBe('begin third')
})

test('a wait that fails fails for the command, which has its slot again (4)', async () => {
  const { slots, end } = stage(1)
  const parent = heldAs('parent')
  slots.push([parent])
  await expect(slots.aside(parent, Promise.reject(new Error('gone')))).rejects.toThrow('gone')
  expect(slots.free()).toBe(0)
  await end('parent')
  expect(slots.free()).toBe(1)
})
