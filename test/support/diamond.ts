/**
 * A playbook whose steps part and join again, and executions of it that end as a test wants: for tests of what can be
 * done with an execution that is over.
 */
import { expect } from 'vitest'
import type { LeasedCommand } from '../../src/contract/command.ts'
import type { Json, JsonObject } from '../../src/contract/json.ts'
import { familyPlaybook } from './family.ts'
import { historyProblems, stuckExecutions } from './history.ts'
import { createScriptedWorker } from './scripted-worker.ts'
import type { TestServer } from './server.ts'

export const NOOP = 'tool: {kind: noop}'
export const DIAMOND = 'tests/diamond'

/** `start`, then `a` and `b`, then `join`, which is given what both of them said. */
export const diamond = (extra = ''): string =>
  familyPlaybook(
    DIAMOND,
    `
  - {step: start, ${NOOP}, set: {ctx.began: '{{ output.n }}'}, next: [a, b]}
  - {step: a, ${NOOP}, next: join}
  - {step: b, ${NOOP}, next: join}
  - {step: join, tool: {kind: noop, input: {a: '{{ a.n }}', b: '{{ b.n }}', greeting: '{{ workload.greeting }}'}}}
${extra}`,
    { greeting: 'hello', limit: 5 },
  )

/** Answers every command: an Error fails it. Answers the names of their steps, sorted. */
export const work = async (
  server: TestServer,
  tool: (command: LeasedCommand) => Json | Error,
): Promise<readonly string[]> => {
  const worker = createScriptedWorker(server, 'w1')
  const done: string[] = []
  for (;;) {
    const [command] = await worker.lease(1)
    if (!command) return done.toSorted()
    done.push(command.step)
    await worker.answer(command, tool(command))
  }
}

/** Every step says its name. */
export const ok = ({ step }: LeasedCommand): Json => ({ n: step })

/** Every step but this one. */
export const failing =
  (name: string) =>
  (command: LeasedCommand): Json | Error =>
    command.step === name ? new Error(`${name} broke`) : ok(command)

/** An execution that failed in this step. */
export const aFailed = async (
  server: TestServer,
  step: string,
  payload: JsonObject = {},
): Promise<string> => {
  await server.register(diamond())
  const id = await server.execute(DIAMOND, payload)
  await work(server, failing(step))
  return id
}

/** Nothing is wrong with its history, and nothing on the server stands still. */
export const expectSound = async (server: TestServer, id: string): Promise<void> => {
  expect(await historyProblems(server.core.shards.of(id), id)).toEqual([])
  expect(await stuckExecutions(server.databases)).toEqual([])
}

export const statusOf = async (server: TestServer, id: string): Promise<JsonObject> =>
  (await server.get(`/api/executions/${id}/status`)).body
