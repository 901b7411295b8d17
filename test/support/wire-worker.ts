/**
 * A worker that knows nothing of this code base: it speaks the protocol of the workers that exist, over plain HTTP, with
 * ids as bare integers and one event per call. Where they are told of commands by a message bus, it takes the same
 * messages from the outbox.
 */
import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../src/contract/json.ts'
import { parseJson, rawInteger } from '../../src/lib/exact-json.ts'
import { textOf } from './server.ts'

export interface WireCommand {
  readonly execution_id: string
  readonly event_id: string
  readonly node_name: string
  readonly action: string
  readonly context: {
    readonly tool_config: JsonObject
    readonly args: JsonObject
    readonly render_context: JsonObject
  }
  readonly meta: JsonObject & { readonly command_id: string }
}

export type Outcome =
  | { readonly data: unknown }
  /** The tool came back with an error. */
  | { readonly error: string; readonly data?: unknown }
  /** The tool could not be run at all. */
  | { readonly raised: string }

type Ended = { readonly error?: string; readonly data?: unknown }

export interface WireWorker {
  readonly id: string
  call(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: JsonObject; text: string }>
  register(): Promise<void>
  heartbeat(): Promise<number>
  deregister(): Promise<number>
  /** Notifications that wait; each is taken once. */
  notifications(): Promise<readonly JsonObject[]>
  claim(eventId: string): Promise<{ status: number; command: WireCommand; error: unknown }>
  /** Runs one claimed command to its end, as these workers do. */
  run(command: WireCommand, tool: (command: WireCommand) => Outcome): Promise<void>
  /** Takes and runs everything there is, until nothing comes any more; answers the steps in order. */
  work(tool: (command: WireCommand) => Outcome): Promise<readonly string[]>
}

const INLINE_LIMIT = 102_400

export const createWireWorker = (
  url: string,
  { internalToken, pool = 'shared' }: { internalToken: string; pool?: string },
): WireWorker => {
  const id = `rust-${randomUUID()}`
  // Ids that workers make themselves: the same event keeps its id when it is sent again.
  let sequence = BigInt(Date.now() - 1_704_067_200_000) << 22n
  const nextId = (): string => String((sequence += 1n))

  const call: WireWorker['call'] = async (method, path, body) => {
    const headers = {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(path.startsWith('/api/internal/') ? { authorization: `Bearer ${internalToken}` } : {}),
    }
    const answer = await fetch(`${url}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    const parsed = text === '' ? {} : parseJson(text)
    return {
      status: answer.status,
      text,
      body: (Array.isArray(parsed) ? { items: parsed } : parsed) as JsonObject,
    }
  }

  const emit = async (
    command: WireCommand,
    event_type: string,
    status: string,
    context: object,
  ): Promise<void> => {
    const event = {
      execution_id: rawInteger(command.execution_id),
      event_type,
      step: command.node_name,
      status,
      created_at: new Date().toISOString(),
      context: { command_id: command.meta.command_id, ...context },
      event_id: rawInteger(nextId()),
      worker_id: id,
      meta: { attempts: 1 },
    }
    // An answer that got lost is asked for again: the second must be as good as the first.
    for (let time = 0; time < 2; time += 1) {
      const answer = await call('POST', '/api/events', event)
      if (answer.status !== 200) throw new Error(`${event_type}: ${answer.status} ${answer.text}`)
    }
  }

  /** Small results travel in the event, large ones are stored and referred to. */
  const resultOf = async (command: WireCommand, status: string, outcome: Ended): Promise<object> => {
    const { data = null } = outcome
    const text = JSON.stringify(data)
    if (text.length <= INLINE_LIMIT) return { status, context: { status, ...outcome, data } }
    const {
      status: code,
      body,
      text: answer,
    } = await call('PUT', `/api/result/${command.execution_id}`, {
      name: command.node_name,
      data,
      scope: 'execution',
      source_step: command.node_name,
    })
    if (code !== 200) throw new Error(`result: ${code} ${answer}`)
    const { ref, store, scope, bytes, sha256 } = body
    return {
      status,
      context: { data: { _ref: ref } },
      reference: {
        kind: 'result_ref',
        ref,
        store,
        scope,
        meta: { bytes, sha256, media_type: 'application/json' },
      },
    }
  }

  const claim: WireWorker['claim'] = async (eventId) => {
    const { status, body } = await call('POST', `/api/commands/${eventId}/claim`, { worker_id: id })
    return { status, command: body as unknown as WireCommand, error: body['error'] }
  }

  const notifications: WireWorker['notifications'] = async () => {
    const { body } = await call('POST', '/api/internal/outbox/claim', { limit: 1000 })
    const rows = body['rows'] as { outbox_id: string; subject: string; payload: JsonObject }[]
    if (rows.length > 0)
      await call('POST', '/api/internal/outbox/mark-published', {
        outbox_ids: rows.map((row) => rawInteger(textOf(row.outbox_id))),
      })
    return rows
      .filter(({ subject }) => subject.startsWith(`noetl.commands.${pool}.`))
      .map(({ payload }) => payload)
  }

  const run: WireWorker['run'] = async (command, tool) => {
    await emit(command, 'command.started', 'STARTED', {})
    await call('GET', `/api/vars/${command.execution_id}`)
    const outcome = tool(command)
    if ('raised' in outcome) {
      await emit(command, 'call.error', 'FAILED', { call_index: 0, error: outcome.raised })
      return emit(command, 'command.failed', 'FAILED', { error: outcome.raised })
    }
    const status = 'error' in outcome ? 'error' : 'success'
    const result = await resultOf(command, status, outcome)
    await emit(command, 'call.done', 'COMPLETED', { call_index: 0, result })
    return emit(command, 'command.completed', status, { status })
  }

  return {
    id,
    call,
    claim,
    notifications,
    run,
    register: async () => {
      const { status, text } = await call('POST', '/api/worker/pool/register', {
        name: id,
        component_type: 'worker_pool',
        runtime: { kind: 'rust' },
        status: 'ready',
        hostname: 'worker-host',
        labels: { pool_name: pool },
      })
      if (status !== 200) throw new Error(text)
    },
    heartbeat: async () => (await call('POST', '/api/worker/pool/heartbeat', { name: id })).status,
    deregister: async () =>
      (await call('POST', '/api/worker/pool/deregister', { name: id, component_type: 'worker_pool' })).status,
    work: async (tool) => {
      const done: string[] = []
      for (let waiting = await notifications(); waiting.length > 0; waiting = await notifications()) {
        for (const { event_id } of waiting) {
          const { status, command } = await claim(textOf(event_id))
          // Whoever is late drops the notification.
          if (status === 409) continue
          if (status !== 200) throw new Error(`claim: ${status}`)
          await run(command, tool)
          done.push(command.node_name)
        }
      }
      return done
    },
  }
}
