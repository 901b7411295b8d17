/**
 * The secrets of one command: looked up when it needs them, hidden in whatever it says, and forgotten with it.
 *
 * 1. Each name is looked up once per command, however many templates and tasks use it.
 * 2. A credential that the other side refused is not trusted any more: the next use looks it up anew.
 * 3. Everything that was looked up is hidden, also when it is not used in the end.
 */
import type { Credential } from '../../contract/command.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { View } from '../../template/scope.ts'
import type { Log } from '../log.ts'
import { maskLarge } from '../large-data/mask-large.ts'
import { failed } from '../tool-failure.ts'
import type { ToolCall, ToolResult } from '../tool.ts'
import { credentialNotFound } from './credential-failure.ts'
import type { CredentialSource } from './credential-source.ts'
import { keychainView } from './keychain.ts'
import { createMasker, maskFields, type Masker } from './masker.ts'
import { namesCredentials, withCredentials } from './named-credentials.ts'

export interface CommandSecrets {
  readonly masker: Masker
  /** What templates see as `keychain`: whatever was loaded so far. */
  readonly keychain: View
  /** Undefined when there is nothing to wait for. Rejects with a ToolFailure when a name cannot be looked up. */
  load(aliases: readonly string[], signal: AbortSignal): Promise<void> | undefined
  /** The block with the credentials it names. */
  fill(kind: string, block: JsonObject, signal: AbortSignal): JsonObject | Promise<JsonObject>
  /** To be told about every result of a tool. */
  learn(result: ToolResult): void
}

export const createCommandSecrets = (source: CredentialSource, executionId: string): CommandSecrets => {
  const masker = createMasker()
  const known = new Map<string, Credential | null>()
  const trusted = new Set<string>()

  const lookUp = async (alias: string, signal: AbortSignal): Promise<Credential | null> => {
    if (trusted.has(alias)) return known.get(alias) ?? null
    const credential = await source.find(executionId, alias, signal)
    if (credential !== null) masker.hide(credential.data)
    known.set(alias, credential)
    trusted.add(alias)
    return credential
  }

  const need = async (alias: string, signal: AbortSignal): Promise<Credential> => {
    const credential = await lookUp(alias, signal)
    if (credential === null) throw credentialNotFound(alias)
    return credential
  }

  return {
    masker,
    keychain: keychainView(
      (alias) => known.get(alias),
      () => known.keys(),
    ),
    load(aliases, signal) {
      const wanted = aliases.filter((alias) => !trusted.has(alias))
      if (wanted.length === 0) return undefined
      return Promise.all(wanted.map((alias) => lookUp(alias, signal))).then(() => undefined)
    },
    fill: (kind, block, signal) =>
      namesCredentials(kind, block) ? withCredentials(kind, block, (alias) => need(alias, signal)) : block,
    learn({ error }) {
      if (error?.kind !== 'auth') return
      for (const alias of trusted) source.forget(executionId, alias)
      trusted.clear()
    },
  }
}

/** Runs something that talks, and hides the secrets in its live output and in its result. Never rejects. */
export const runMasked = async (
  secrets: CommandSecrets,
  live: ToolCall['log'],
  run: (log: ToolCall['log']) => ToolResult | Promise<ToolResult>,
): Promise<ToolResult> => {
  const { masker } = secrets
  const streams = {
    stdout: masker.stream((text) => live('stdout', text)),
    stderr: masker.stream((text) => live('stderr', text)),
  }
  let result: ToolResult
  try {
    result = await run((stream, text) => streams[stream].write(text))
  } catch (thrown) {
    result = failed(thrown)
  }
  secrets.learn(result)
  streams.stdout.flush()
  streams.stderr.flush()
  const { large, ...rest } = result
  if (large === undefined || !masker.isActive) return maskResult(masker, result)
  try {
    return { ...maskResult(masker, rest), large: await maskLarge(masker, large) }
  } catch (thrown) {
    // What could not be masked is not shown.
    return maskResult(masker, failed(thrown))
  }
}

/** Of a result without large data, which is masked elsewhere. */
export const maskResult = (masker: Masker, result: ToolResult): ToolResult =>
  masker.value(result as unknown as JsonObject) as unknown as ToolResult

/** A log that hides what the command has looked up so far. */
export const maskedLog = (log: Log, masker: Masker): Log => {
  const through =
    (level: keyof Log) =>
    (fields: object, message: string): void =>
      masker.isActive
        ? log[level](maskFields(masker, fields), masker.text(message))
        : log[level](fields, message)
  return { debug: through('debug'), info: through('info'), warn: through('warn'), error: through('error') }
}
