/** What the core tells whoever measures it. Every call is on the way of all work: it must cost next to nothing. */
export interface Instruments {
  /** A turn was decided: how long that took, and how many inputs it had. */
  decided(milliseconds: number, inputs: number): void
  /** A group of appends was written by one statement. */
  appended(appends: number, milliseconds: number): void
  /** Somebody else changed the execution first. */
  conflicted(): void
  leasesExpired(count: number): void
  /** The outside has confirmed an event. */
  published(eventType: string): void
  /** Something that a caller did was to be put on record, and was or was not. */
  recorded(action: string, outcome: string, isWritten: boolean): void
}

const nothing = (): void => undefined

export const NO_INSTRUMENTS: Instruments = {
  decided: nothing,
  appended: nothing,
  conflicted: nothing,
  leasesExpired: nothing,
  published: nothing,
  recorded: nothing,
}
