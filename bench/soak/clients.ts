/**
 * People and programs that use the servers while everything falls over. What was answered is remembered: it has to be
 * true in the end.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Json } from '../../src/contract/json.ts'
import type { Api } from './api.ts'
import { textIn } from './api.ts'
import type { Effects } from './effects.ts'
import type { SoakPlaybook } from './playbooks.ts'
import { SOAK_PLAYBOOKS } from './playbooks.ts'
import type { Chance } from './random.ts'

export interface Start {
  readonly key: string
  readonly playbook: SoakPlaybook
  /** Whether the request was repeated until it was answered. */
  readonly repeatable: boolean
  /** What was answered; more than one of them would be a finding. */
  readonly answered: Set<string>
  readonly origin?: string
}

/** An event that was acknowledged and has to be in the log exactly once. */
export interface Acknowledged {
  readonly executionId: string
  readonly eventId: string
}

export interface Clients {
  readonly starts: readonly Start[]
  readonly acknowledged: readonly Acknowledged[]
  readonly cancelled: ReadonlySet<string>
  readonly reopened: ReadonlySet<string>
  readonly problems: string[]
  /** Works until told to stop, then finishes what it began. */
  run(isOver: () => boolean): Promise<void>
}

export interface ClientsOptions {
  readonly api: Api
  readonly chance: Chance
  readonly effects: Effects
  readonly inFlight: number
  /** Executions that run now, as far as the database answers; null when it does not. */
  readonly running: () => Promise<number | null>
  readonly statusOf: (executionId: string) => Promise<string | null>
  readonly prepare: (key: string) => Promise<void>
  readonly follow: (executionId: string) => void
}

const PARALLEL = 4
const weights = Object.fromEntries(SOAK_PLAYBOOKS.map(({ path, weight }) => [path, weight]))

export const createClients = (options: ClientsOptions): Clients => {
  const { api, chance, effects, follow, statusOf } = options
  const starts: Start[] = []
  const acknowledged: Acknowledged[] = []
  const cancelled = new Set<string>()
  const reopened = new Set<string>()
  const problems: string[] = []
  const side = new Set<Promise<void>>()
  let number = 0

  const begin = async (): Promise<void> => {
    const path = chance.weighted(weights)
    const playbook = SOAK_PLAYBOOKS.find((each) => each.path === path) as SoakPlaybook
    const key = `k${(number += 1)}`
    const start: Start = { key, playbook, repeatable: chance.happens(0.7), answered: new Set() }
    starts.push(start)
    if (path === 'soak/cursor') await options.prepare(key)
    const payload = { effects: effects.url, key }
    if (start.repeatable) await startRepeatably(start, payload)
    else {
      const answer = await api.once('POST', '/api/execute', { body: { path, payload } }).catch(() => null)
      if (answer?.status === 200) start.answered.add(textIn(answer.body, 'execution_id'))
    }
    const [id] = start.answered
    if (id === undefined) return
    if (chance.happens(0.5)) follow(id)
    besides(accompany(start, id))
  }

  /** Sometimes impatiently, at two servers at once. */
  const startRepeatably = async (start: Start, payload: Json): Promise<void> => {
    const body = { path: start.playbook.path, payload, dedup: { key: start.key, window_secs: 86_400 } }
    const attempts = chance.happens(0.3) ? 2 : 1
    await Promise.all(
      Array.from({ length: attempts }, async () => {
        const { status, body: answer } = await api.insist('POST', '/api/execute', { body })
        if (status === 200) start.answered.add(textIn(answer, 'execution_id'))
        else problems.push(`start ${start.key} was answered with ${status} ${JSON.stringify(answer)}`)
      }),
    )
  }

  const accompany = async (start: Start, id: string): Promise<void> => {
    if (chance.happens(0.3)) await remark(id)
    if (chance.happens(0.3)) await remarkTogether(id)
    if (chance.happens(start.playbook.path === 'soak/slow' ? 0.5 : 0.12)) await cancel(start, id)
    else if (start.playbook.path === 'soak/broken') await mend(start, id)
  }

  const remark = async (id: string): Promise<void> => {
    const eventId = `9${String(Date.now())}${String(1000 + (number += 1)).padStart(4, '0')}`.slice(0, 18)
    const body = {
      execution_id: id,
      step: 'start',
      event_type: 'note',
      event_id: eventId,
      payload: { text: 'hi' },
    }
    const times = chance.happens(0.5) ? 2 : 1
    const answers = await Promise.all(
      Array.from({ length: times }, () => api.insist('POST', '/api/events', { body })),
    )
    if (answers.some(({ status }) => status === 200)) acknowledged.push({ executionId: id, eventId })
    else problems.push(`note ${eventId} of ${id} was answered with ${JSON.stringify(answers)}`)
  }

  const remarkTogether = async (id: string): Promise<void> => {
    const key = `batch-${(number += 1)}`
    const events = ['one', 'two', 'three'].map((text) => ({
      step: 'start',
      event_type: 'note',
      payload: { text, key },
    }))
    const request = { body: { execution_id: id, events }, headers: { 'idempotency-key': key } }
    const answers = await Promise.all(
      Array.from({ length: chance.happens(0.5) ? 3 : 1 }, () =>
        api.insist('POST', '/api/events/batch', request),
      ),
    )
    const told = new Set(answers.map(({ status, body }) => JSON.stringify([status, body['event_ids']])))
    if (told.size !== 1) problems.push(`batch ${key} of ${id} got different answers: ${[...told].join(' ')}`)
    const [first] = answers
    if (first?.status !== 200) problems.push(`batch ${key} of ${id} was refused: ${[...told].join(' ')}`)
    else
      for (const eventId of first.body['event_ids'] as readonly string[])
        acknowledged.push({ executionId: id, eventId })
  }

  const cancel = async (start: Start, id: string): Promise<void> => {
    await sleep(chance.between(0, 6000))
    const { status, body } = await api.insist('POST', `/api/executions/${id}/cancel`, {
      body: { reason: 'enough' },
    })
    if (status === 200) cancelled.add(id)
    // It was over before, or cancelled by an attempt whose answer was lost.
    else if (status !== 422)
      problems.push(`cancel of ${id} was answered with ${status} ${JSON.stringify(body)}`)
    const isCancelled = (await statusOf(id)) === 'CANCELLED'
    if (isCancelled) cancelled.add(id)
    if (isCancelled && chance.happens(0.3)) await retry(id)
    else if (isCancelled && chance.happens(0.4)) await rerun(start, id)
  }

  const retry = async (id: string): Promise<void> => {
    const { status } = await api.insist('POST', `/api/executions/${id}/retry`, { body: {} })
    // Refused: an attempt whose answer was lost has opened it, and it may be over again.
    if (status === 200 || status === 409 || status === 422) reopened.add(id)
    else problems.push(`retry of ${id} was answered with ${status}`)
  }

  const rerun = async ({ playbook }: Start, id: string): Promise<void> => {
    const key = `rerun-${(number += 1)}`
    const start: Start = { key, playbook, repeatable: true, answered: new Set(), origin: id }
    starts.push(start)
    const body = { from: chance.pick(['start', 'failed']), dedup: { key, window_secs: 86_400 } }
    const answers = await Promise.all(
      Array.from({ length: 2 }, () => api.insist('POST', `/api/executions/${id}/rerun`, { body })),
    )
    for (const { status, body: answer } of answers) {
      if (status === 200) start.answered.add(textIn(answer, 'execution_id'))
      else problems.push(`rerun of ${id} was answered with ${status} ${JSON.stringify(answer)}`)
    }
  }

  /** Waits for the failure, removes its cause, and opens the execution again or runs it anew. */
  const mend = async (start: Start, id: string): Promise<void> => {
    for (let waited = 0; (await statusOf(id)) !== 'FAILED'; waited += 1) {
      if (waited > 300) return
      await sleep(500)
    }
    effects.heal(id)
    if (chance.happens(0.5)) await retry(id)
    else await rerun(start, id)
  }

  const besides = (work: Promise<void>): void => {
    const guarded = work
      .catch((error: unknown) => void problems.push(`a client gave up: ${String(error)}`))
      .finally(() => side.delete(guarded))
    side.add(guarded)
  }

  const run = async (isOver: () => boolean): Promise<void> => {
    const loop = async (): Promise<void> => {
      while (!isOver()) {
        const running = await options.running()
        if (running === null || running >= options.inFlight) await sleep(200)
        else await begin()
        await sleep(chance.between(10, 150))
      }
    }
    await Promise.all(Array.from({ length: PARALLEL }, loop))
    while (side.size > 0) await Promise.all(side)
  }

  return { starts, acknowledged, cancelled, reopened, problems, run }
}
