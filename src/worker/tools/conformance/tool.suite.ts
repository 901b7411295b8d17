/**
 * What every tool promises, whatever it does. An entry brings the tool and one block for each promise; the promises are
 * tested through the same runner that runs commands.
 *
 * 1. A block that is right gives data; one that fails gives an error with a kind of the known ones.
 * 2. Time that runs out, and a command that is not wanted any more, end the work: the tool itself answers (the runner's
 *    patience is switched off here) and nothing is left running.
 * 3. A secret that was looked up is nowhere in what the tool says.
 * 4. Templates that were left for the worker are rendered, with the types of their values.
 * 5. A field of the wrong type is a config error that names it, for every declared field.
 * 6. The declaration accepts its own examples.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { LeasedCommand, ToolError } from '../../../contract/command.ts'
import type { Json, JsonObject } from '../../../contract/json.ts'
import { isObject } from '../../../contract/json.ts'
import { declarationOf } from '../../../contract/tools/all.ts'
import { createConfigCheck } from '../../../contract/tools/check-fields.ts'
import { LANGUAGE_NAMES, type ToolField } from '../../../contract/tools/tool-declaration.ts'
import { type Clock, systemClock } from '../../clock.ts'
import { createCommandRunner } from '../../run-command.ts'
import { aCommand } from '../../test-support.ts'
import { GRACE_MS } from '../../time-limit.ts'
import type { Tool, ToolResult } from '../../tool.ts'
import { createToolRegistry } from '../registry.ts'

/** A tool block without `kind`. Texts with templates are rendered by the worker. */
export interface Block {
  readonly config: JsonObject
  readonly input?: JsonObject
}

export interface PreparedTool {
  readonly tool: Tool
  /** Succeeds with data like this. */
  readonly success: (Block & { readonly data: Json }) | null
  /** Fails with an error like this; null for a tool that cannot fail. */
  readonly error: (Block & { readonly error: Partial<ToolError> }) | null
  /** Would run for minutes; null for a tool that answers at once. */
  readonly slow: Block | null
  /** Says `{{ keychain.vault.token }}` in its data, its error or its output. */
  readonly secret: Block
  /** Has templates over the variables `word` ("ok") and `number` (7); gives data like this, or such an error. */
  readonly late: Block & { readonly data?: Json; readonly error?: Partial<ToolError> }
  /** Names a field that is missing or wrong, which the message must name. */
  readonly wrong: Block & { readonly field: string }
  /** How many processes, connections or requests are left. */
  leftovers?(): number | Promise<number>
  close?(): Promise<void>
}

export interface ConformanceEntry {
  readonly kind: string
  /** Why a promise cannot be shown where these tests run: for `success` and `slow` that are null. */
  readonly except?: string
  prepare(): Promise<PreparedTool>
}

const SECRET = 'violet-Ümlaut-9f8e7d6c5b4a'
const VARIABLES: JsonObject = { word: 'ok', number: 7 }

const KINDS: ReadonlySet<string> = new Set(
  `auth client_error config connection db_connection db_constraint db_deadlock db_error db_timeout not_found parse process
   rate_limit result_too_large runtime schema server_error storage sub_playbook template timeout tool`.split(
    /\s+/,
  ),
)

/** A clock whose grace never ends: a tool that does not answer by itself makes its test time out. */
const withoutPatience: Clock = {
  ...systemClock,
  after: (delayMs, callback) =>
    delayMs >= GRACE_MS ? () => undefined : systemClock.after(delayMs, callback),
}

const templatePaths = (value: Json, path: readonly (string | number)[]): (string | number)[][] => {
  if (typeof value === 'string') return value.includes('{{') ? [[...path]] : []
  if (Array.isArray(value)) {
    return (value as readonly Json[]).flatMap((item, index) => templatePaths(item, [...path, index]))
  }
  return isObject(value)
    ? Object.entries(value).flatMap(([key, item]) => templatePaths(item, [...path, key]))
    : []
}

const commandOf = (kind: string, { config, input = {} }: Block): LeasedCommand => {
  const block: JsonObject = { kind, ...config, ...(Object.keys(input).length === 0 ? {} : { input }) }
  return aCommand({
    toolKind: kind,
    context: { tool_config: block, args: {}, render_context: VARIABLES },
    meta: { late: templatePaths(block, []) },
  })
}

interface Conversation {
  readonly result: ToolResult
  /** Everything that was said while it ran. */
  readonly said: string
}

const converse = async (
  tool: Tool,
  block: Block,
  signal: AbortSignal = new AbortController().signal,
): Promise<Conversation> => {
  let said = ''
  const runner = createCommandRunner({
    tools: createToolRegistry([tool]),
    workerId: 'w',
    clock: withoutPatience,
    uuid: () => 'u',
    credentials: {
      find: async (_, alias) =>
        alias === 'vault' ? { name: alias, type: 'generic', data: { token: SECRET } } : null,
      forget: () => undefined,
      clear: () => undefined,
    },
    onOutput: (_, __, text) => {
      said += text
    },
  })
  const result = await runner.run(commandOf(tool.kind, block), signal)
  return { result, said }
}

/** A value that no field of this type takes. */
const wrongFor = ({ type }: ToolField): Json | undefined => {
  const types = typeof type === 'string' ? [type] : type
  if (types.includes('any')) return undefined
  const candidates: readonly Json[] = [{ wrong: true }, [{ wrong: true }], 'wrong', true]
  return candidates.find((candidate) => types.every((each) => !mayTake(each, candidate)))
}

const mayTake = (type: string, value: Json): boolean => {
  if (Array.isArray(value)) return type === 'list'
  if (isObject(value)) return type === 'mapping'
  return type === 'text' || type === 'texts' || (type === 'flag' && value === true)
}

const untilNone = (count: () => number | Promise<number>): Promise<void> => expect.poll(count).toBe(0)

const describePromises = (kind: string, the: () => PreparedTool): void => {
  test('1: a block that is right gives data', async () => {
    const { tool, success } = the()
    if (success === null) return
    const { result } = await converse(tool, success)
    expect(result.error).toBeUndefined()
    expect(result.outcome).toBe('ok')
    expect(result.data).toMatchObject(success.data as object)
  })

  test('1: a failure has a kind, a code, a message and says whether to try again', async () => {
    const { tool, error: failure } = the()
    if (failure === null) return
    const { result } = await converse(tool, failure)
    expect(result.outcome).toBe('error')
    expect(result.error).toMatchObject(failure.error)
    expect(result.error).toMatchObject({
      code: expect.stringMatching(/^[A-Z][A-Za-z0-9_]+$/),
      retryable: expect.any(Boolean),
    })
    expect(result.error?.message.length).toBeGreaterThan(5)
    expect(KINDS).toContain(result.error?.kind)
  })

  test('2: time that runs out ends the work', async () => {
    const { tool, slow, leftovers = () => 0 } = the()
    if (slow === null) return
    const { result } = await converse(tool, { ...slow, config: { ...slow.config, timeout: 0.3 } })
    expect(result.outcome).toBe('error')
    expect(['timeout', 'db_timeout']).toContain(result.error?.kind)
    expect(result.error?.retryable).toBe(true)
    await untilNone(leftovers)
  })

  test.each([0, 150])('2: a command that is not wanted any more after %i ms ends', async (afterMs) => {
    const { tool, slow, leftovers = () => 0 } = the()
    if (slow === null) return
    const ended = new AbortController()
    setTimeout(() => ended.abort(new Error('The command was cancelled')), afterMs)
    const { result } = await converse(tool, slow, ended.signal)
    expect(result).toMatchObject({ outcome: 'error', error: { message: 'The command was cancelled' } })
    await untilNone(leftovers)
  })

  test('3: a secret is nowhere in what the tool says', async () => {
    const { tool, secret } = the()
    const { result, said } = await converse(tool, secret)
    const everything = JSON.stringify(result) + said
    for (const form of [SECRET, Buffer.from(SECRET).toString('base64'), encodeURIComponent(SECRET)]) {
      expect(everything).not.toContain(form)
    }
    expect(everything).toContain('[REDACTED]')
  })

  test('4: templates that were left for the worker are rendered', async () => {
    const { tool, late } = the()
    const { result } = await converse(tool, late)
    if (late.error === undefined) expect(result.error).toBeUndefined()
    else expect(result.error).toMatchObject(late.error)
    if (late.data !== undefined) expect(result.data).toMatchObject(late.data as object)
  })

  test('5: a wrong block names the field', async () => {
    const { tool, wrong } = the()
    const { result } = await converse(tool, wrong)
    expect(result).toMatchObject({ outcome: 'error', error: { kind: 'config', retryable: false } })
    expect(result.error?.message).toContain(wrong.field)
  })

  test('5: every declared field refuses what it cannot be', () => {
    const { declaration } = the().tool
    const check = createConfigCheck(
      declaration ?? { kind, title: '', description: '', fields: {}, examples: [] },
    )
    for (const [name, field] of Object.entries(declaration?.fields ?? {})) {
      const value = wrongFor(field)
      if (value === undefined) continue
      expect(check({ [name]: value })[0], name).toMatch(new RegExp(`^${name} must be `))
    }
  })

  test('6: its declaration is the one the language knows, and accepts its own examples', () => {
    const { tool } = the()
    expect(tool.declaration).toBeDefined()
    expect(declarationOf(kind)).toBe(tool.declaration)
    const { declaration } = tool
    if (declaration === undefined) return
    expect(declaration.examples.length).toBeGreaterThan(0)
    const check = createConfigCheck(declaration)
    for (const example of declaration.examples) {
      const config = Object.fromEntries(
        Object.entries(example).filter(([name]) => !LANGUAGE_NAMES.includes(name)),
      )
      expect(check(config), JSON.stringify(example)).toEqual([])
    }
  })
}

export const describeTool = (entry: ConformanceEntry): void => {
  describe(`the tool ${entry.kind}`, () => {
    let prepared: PreparedTool
    beforeAll(async () => {
      prepared = await entry.prepare()
    })
    afterAll(async () => {
      await prepared.tool.close?.()
      await prepared.close?.()
    })
    test('shows every promise, or says why it cannot', () => {
      expect(prepared.tool.kind).toBe(entry.kind)
      const isWhole = prepared.success !== null && (prepared.tool.instant || prepared.slow !== null)
      expect(isWhole || entry.except !== undefined).toBe(true)
    })
    describePromises(entry.kind, () => prepared)
  })
}
