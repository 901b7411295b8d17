/**
 * An environment without surprises: ids and uuids count up, the clock moves one millisecond per turn. Two
 * environments at the same tick give the same answers, so a decision can be repeated.
 */
import type { Resolve } from '../reference.ts'
import type { Environment, Limits } from '../session.ts'
import { DEFAULT_LIMITS } from '../session.ts'

export interface TestClock {
  /** The environment of the next turn. */
  turn(): Environment
  /** Counters; a clock made from them continues where this one stands. */
  ticks(): Ticks
}

export interface Ticks {
  readonly turn: number
  readonly id: number
  readonly uuid: number
}

const FIRST: Ticks = { turn: 0, id: 1000, uuid: 0 }

export const createTestClock = (
  limits: Partial<Limits> = {},
  from: Ticks = FIRST,
  resolve: Resolve = () => undefined,
): TestClock => {
  let { turn, id, uuid } = from
  return {
    turn: () => {
      turn += 1
      return {
        now: `2026-01-01T00:${pad(Math.floor(turn / 60_000), 2)}:${pad(Math.floor(turn / 1000) % 60, 2)}.${pad(turn % 1000, 3)}Z`,
        nextId: () => String((id += 1)),
        uuid: () => `00000000-0000-4000-8000-${pad((uuid += 1), 12)}`,
        resolve,
        limits: { ...DEFAULT_LIMITS, ...limits },
      }
    },
    ticks: () => ({ turn, id, uuid }),
  }
}

const pad = (value: number, width: number): string => String(value).padStart(width, '0')
