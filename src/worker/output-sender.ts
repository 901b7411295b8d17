/**
 * Sends what running tools print to the control plane, for those who watch.
 *
 * 1. Pieces are gathered for a moment and sent together; one call is under way at a time.
 * 2. What a command printed is sent before its result is reported, unless that takes too long.
 * 3. Output is worth less than work: what is refused after some tries is dropped, and a command that prints without end
 *    is cut.
 * 4. While the control plane is away everything is kept: no result can be reported then either, and what is kept of a
 *    command has its limit.
 */
import type { ControlPlane, LeasedCommand } from '../contract/command.ts'
import type { CommandOutput, OutputPart, OutputStream } from '../contract/output.ts'
import { ProblemError } from '../contract/problem.ts'
import { backoffMs } from './backoff.ts'
import { type Clock, within } from './clock.ts'
import { heldKey, leaseKey } from './held-command.ts'
import type { Log } from './log.ts'

const GATHER_MS = 200
const PART_CHARACTERS = 32 * 1024
const MAX_CHARACTERS = 1024 * 1024
const TRIES = 3
const FINISH_MS = 5_000

export interface OutputSender {
  write(command: LeasedCommand, stream: OutputStream, text: string): void
  /** Resolves when nothing of the command is left to send; undefined when there is nothing now. */
  finish(command: LeasedCommand): Promise<void> | undefined
  /** From now on nobody waits for a control plane that is away or refuses. */
  giveUp(): void
}

interface Gathered {
  readonly command: LeasedCommand
  parts: { part: number; stream: OutputStream; at: string; text: string }[]
  nextPart: number
  characters: number
}

export interface OutputSenderOptions {
  readonly controlPlane: Pick<ControlPlane, 'output'>
  readonly workerId: string
  readonly clock: Clock
  readonly log: Log
}

export const createOutputSender = ({
  controlPlane,
  workerId,
  clock,
  log,
}: OutputSenderOptions): OutputSender => {
  const gathered = new Map<string, Gathered>()
  let sending: Promise<void> | null = null
  let isDue = false
  let isAway = false
  let hasGivenUp = false

  const gather = (command: LeasedCommand): Gathered => {
    const key = heldKey(command)
    let entry = gathered.get(key)
    if (!entry || entry.command.leaseToken !== command.leaseToken) {
      entry = { command, parts: [], nextPart: 1, characters: 0 }
      gathered.set(key, entry)
    }
    return entry
  }

  const add = (entry: Gathered, stream: OutputStream, text: string): void => {
    const last = entry.parts.at(-1)
    if (last && last.stream === stream && last.text.length + text.length <= PART_CHARACTERS) {
      last.text += text
      return
    }
    for (let from = 0; from < text.length; from += PART_CHARACTERS) {
      const at = new Date(clock.now()).toISOString()
      entry.parts.push({ part: entry.nextPart, stream, at, text: text.slice(from, from + PART_CHARACTERS) })
      entry.nextPart += 1
    }
  }

  const write: OutputSender['write'] = (command, stream, text) => {
    if (text === '') return
    const entry = gather(command)
    const room = MAX_CHARACTERS - entry.characters
    if (room <= 0) return
    entry.characters += text.length
    add(entry, stream, text.slice(0, room))
    if (text.length >= room)
      add(entry, 'stderr', `\n[output beyond ${MAX_CHARACTERS / 1024} KiB is not kept]\n`)
    schedule()
  }

  const schedule = (): void => {
    if (isDue || sending) return
    isDue = true
    clock.after(GATHER_MS, () => {
      isDue = false
      void send()
    })
  }

  const send = (): Promise<void> => {
    sending ??= sendAll().finally(() => {
      sending = null
      if ([...gathered.values()].some(({ parts }) => parts.length > 0)) schedule()
    })
    return sending
  }

  const sendAll = async (): Promise<void> => {
    const outputs = [...gathered.values()].filter(({ parts }) => parts.length > 0).map(takeParts)
    if (outputs.length === 0) return
    let refusals = 0
    for (let failures = 1; ; failures += 1) {
      try {
        await controlPlane.output({ workerId, outputs })
        isAway = false
        return
      } catch (error) {
        isAway = error instanceof ProblemError && error.code === 'unavailable'
        if (!isAway) refusals += 1
        if (refusals === TRIES || hasGivenUp) {
          log.warn({ err: error }, 'output of tools was not taken and is dropped')
          return
        }
      }
      await new Promise<void>((resolve) => void clock.after(backoffMs(failures), resolve))
    }
  }

  /** Waits no longer than a control plane that is there needs. */
  const patiently = (work: Promise<void>): Promise<void> => {
    let isOver = false
    const over = work.then(() => {
      isOver = true
    })
    const waitOn = async (): Promise<void> => {
      await within(clock, FINISH_MS, over)
      if (isAway && !hasGivenUp && !isOver) await waitOn()
    }
    return waitOn()
  }

  return {
    write,
    finish: (command) => {
      const key = heldKey(command)
      const entry = gathered.get(key)
      if (!entry) return undefined
      const done = async (): Promise<void> => {
        // The first may be a call that left before the last pieces were there.
        await send()
        if (entry.parts.length > 0) await send()
        if (gathered.get(key) === entry) gathered.delete(key)
      }
      return patiently(done())
    },
    giveUp() {
      hasGivenUp = true
    },
  }
}

const takeParts = (entry: Gathered): CommandOutput => {
  const parts: readonly OutputPart[] = entry.parts
  entry.parts = []
  return { ...leaseKey(entry.command), parts }
}
