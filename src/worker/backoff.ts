/**
 * Waits between tries: 250 ms, doubling up to 10 s, each spread by a fifth either way so that a fleet of workers
 * does not come back in step.
 */
const FIRST_MS = 250
const MOST_MS = 10_000
const SPREAD = 0.2

/** `failures` counts from 1. */
export const backoffMs = (failures: number, random: () => number = Math.random): number => {
  const base = Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 16))
  return Math.round(base * (1 - SPREAD + 2 * SPREAD * random()))
}
