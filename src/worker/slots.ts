/**
 * Decides what runs now and what waits: up to `size` commands at once, instant ones not counted.
 *
 * 1. Commands start in the order they came, but an instant one never waits for a slot.
 * 2. A slot is free again before `leave` of its command is called: what `leave` does may bring the next command.
 * 3. Commands that arrive while one is being started or left are queued and started by the outer call: a chain of
 *    instant commands needs no stack.
 * 4. A command that waits aside has no slot; it gets one again before any command that has not begun.
 */
import type { HeldCommand } from './held-command.ts'
import type { ToolResult } from './tool.ts'

export interface SlotsOptions {
  readonly size: number
  /** Never throws, never rejects. */
  readonly run: (entry: HeldCommand) => ToolResult | Promise<ToolResult>
  readonly leave: (entry: HeldCommand, result: ToolResult) => void
}

export interface Slots {
  free(): number
  push(entries: readonly HeldCommand[]): void
  /** Takes a waiting command out; false when it is not waiting. */
  remove(entry: HeldCommand): boolean
  /** Takes all waiting commands out. */
  clear(): readonly HeldCommand[]
  /** Lets a running command wait without its slot. */
  aside<T>(entry: HeldCommand, waiting: Promise<T>): Promise<T>
}

export const createSlots = ({ size, run, leave }: SlotsOptions): Slots => {
  const waiting: HeldCommand[] = []
  /** Commands that waited aside and want their slot back. */
  const returning: (() => void)[] = []
  let busy = 0
  let draining = false

  const begin = (entry: HeldCommand): void => {
    if (!entry.instant) busy += 1
    const result = run(entry)
    if (result instanceof Promise) void result.then((settled) => end(entry, settled))
    else end(entry, result)
  }

  const end = (entry: HeldCommand, result: ToolResult): void => {
    if (!entry.instant) busy -= 1
    leave(entry, result)
    if (waiting.length > 0 || returning.length > 0) drain()
  }

  const comeBack = (): Promise<void> =>
    new Promise((resolve) => {
      returning.push(resolve)
      drain()
    })

  const drain = (): void => {
    if (draining) return
    draining = true
    while (busy < size) {
      const resume = returning.shift()
      if (resume === undefined) break
      busy += 1
      resume()
    }
    for (;;) {
      const position = busy < size ? 0 : waiting.findIndex((entry) => entry.instant)
      const [entry] = position < 0 ? [] : waiting.splice(position, 1)
      if (entry === undefined) break
      begin(entry)
    }
    draining = false
  }

  return {
    free: () => Math.max(0, size - busy - waiting.length - returning.length),
    push(entries) {
      waiting.push(...entries)
      drain()
    },
    remove(entry) {
      const position = waiting.indexOf(entry)
      if (position >= 0) waiting.splice(position, 1)
      return position >= 0
    },
    clear: () => waiting.splice(0),
    async aside(entry, others) {
      if (entry.instant) return others
      busy -= 1
      drain()
      try {
        return await others
      } finally {
        await comeBack()
      }
    },
  }
}
