/**
 * Kind `expression`: computes values with the expressions of the template language, without a program and without a slot.
 *
 * 1. `expr` (or `code`) is one expression, or a mapping or list of them; the data has the same shape, each value with its
 *    own type. What is no text stands for itself.
 * 2. An expression sees the input by name, the whole of it as `input`, and `execution_id` and `step`. A name that is none
 *    of these is an error that says which names there are: a typing mistake must not become a null.
 * 3. The text is the author's: the playbook reader refuses templates in it, so data is never taken for an expression.
 */
import { randomUUID } from 'node:crypto'

import type { Json, JsonObject } from '../../contract/json.ts'
import { expression } from '../../contract/tools/expression.ts'
import type { Scope } from '../../template/scope.ts'
import { compileCondition, hasTemplateSyntax, type Template } from '../../template/template.ts'
import { setMember } from '../../template/values.ts'
import { configFailure, failed, ToolFailure } from '../tool-failure.ts'
import type { Tool, ToolCall, ToolResult } from '../tool.ts'
import { firstGiven } from './coerce.ts'

const WHOLE_INPUT = ['input', 'args'] as const
const FACTS = ['execution_id', 'step'] as const

interface Evaluation {
  readonly scope: Scope
  isKnown(name: string): boolean
  readonly names: readonly string[]
}

const evaluationOf = ({ input, command }: ToolCall): Evaluation => {
  const known = new Map<string, Json>([
    ['execution_id', command.executionId],
    ['step', command.step],
    ...WHOLE_INPUT.map((name): [string, Json] => [name, input]),
    ...Object.entries(input),
  ])
  return {
    scope: { lookup: (name) => known.get(name), now: new Date().toISOString(), uuid: randomUUID },
    isKnown: (name) => known.has(name),
    names: [...Object.keys(input), 'input', ...FACTS],
  }
}

const failure = (place: string, thrown: unknown): ToolFailure =>
  new ToolFailure(
    {
      kind: 'template',
      code: 'TEMPLATE',
      message: `The expression in ${place} failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
      retryable: false,
    },
    { cause: thrown },
  )

const compiled = (text: string, place: string): Template => {
  if (hasTemplateSyntax(text)) {
    throw configFailure(`${place} must be an expression without braces; give it values by \`input\``)
  }
  try {
    return compileCondition(text)
  } catch (thrown) {
    throw failure(place, thrown)
  }
}

const evaluateText = (text: string, place: string, { scope, isKnown, names }: Evaluation): Json => {
  if (text.trim() === '')
    throw configFailure(`${place} is empty; write an expression such as "price * count"`)
  const template = compiled(text, place)
  const unknown = [...template.roots].find((name) => !isKnown(name))
  if (unknown !== undefined) {
    throw configFailure(
      `The expression in ${place} reads '${unknown}', which is not in its input. It has: ${names.join(', ')}.`,
    )
  }
  try {
    return template.value(scope)
  } catch (thrown) {
    throw failure(place, thrown)
  }
}

const evaluate = (value: Json, place: string, evaluation: Evaluation): Json => {
  if (typeof value === 'string') return evaluateText(value, place, evaluation)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    return (value as readonly Json[]).map((item, index) => evaluate(item, `${place}[${index}]`, evaluation))
  }
  const data: Record<string, Json> = {}
  for (const [name, item] of Object.entries(value as JsonObject)) {
    setMember(data, name, evaluate(item, `${place}.${name}`, evaluation))
  }
  return data
}

export const expressionTool: Tool = {
  kind: 'expression',
  declaration: expression,
  instant: true,
  run(call: ToolCall): ToolResult {
    try {
      const found = firstGiven(call.config, ['expr', 'code', 'expression'])
      if (found === null) throw configFailure('An expression tool needs `expr`')
      return { outcome: 'ok', data: evaluate(found.value, found.name, evaluationOf(call)) }
    } catch (thrown) {
      return failed(thrown)
    }
  },
}
