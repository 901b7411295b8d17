/** What the environment says about other servers and NATS. */
export interface WakeUpSettings {
  /** Null: no NATS. */
  readonly natsUrl: string | null
  /** Whether messages for the outside are written although this server publishes none. */
  readonly mirrorEvents: boolean
  /** Where others reach this server; null: where it listens. */
  readonly publicUrl: string | null
}

export const readWakeUpSettings = (env: Readonly<Record<string, string | undefined>>): WakeUpSettings => ({
  natsUrl: textOrNull(env['NOETL_NATS_URL'] ?? env['NATS_URL']),
  mirrorEvents: /^(?:true|1|yes|on)$/i.test(env['NOETL_EVENT_MIRROR_ENABLED'] ?? ''),
  publicUrl: textOrNull(env['NOETL_PUBLIC_SERVER_URL']),
})

const textOrNull = (text: string | undefined): string | null =>
  text === undefined || text.trim() === '' ? null : text.trim()
