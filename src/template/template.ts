/**
 * Templates: Jinja syntax, compiled once and rendered many times.
 *
 * 1. A text is a template when it contains `{{` and `}}`, or `{%` and `%}`. Any other text stands for itself.
 * 2. A template that is exactly one `{{ expression }}` has a value of its own type; every other template has text.
 *    Nothing is guessed from the look of a text.
 * 3. Undefined values never fail by themselves: they are empty in text, null as a value, false in a condition.
 * 4. Rendering reads from the scope what it names and nothing else, and changes nothing there.
 * 5. Compiling throws TemplateSyntaxError, rendering TemplateError. Errors of the scope itself pass through.
 */
import type { Json } from '../contract/json.ts'
import { mayBuild, readsOf } from './analysis.ts'
import { compileExpression } from './compile-expression.ts'
import { compileBody, type Run } from './compile-statement.ts'
import { holds, isFalseText } from './condition.ts'
import { EvaluationFault, TemplateError } from './errors.ts'
import { createFrame, type Evaluate, type Frame } from './frame.ts'
import { parseWholeExpression } from './parse-expression.ts'
import { parseTemplate } from './parse-template.ts'
import type { Scope } from './scope.ts'
import { readSegments, type Segment } from './segments.ts'
import type { Body, Expression } from './syntax-tree.ts'
import { createCache } from './template-cache.ts'
import { createTokenCursor } from './token-cursor.ts'
import { readTokens } from './tokens.ts'
import { toJson } from './to-json.ts'

export { TemplateError, TemplateSyntaxError } from './errors.ts'

export interface Template {
  readonly source: string
  /** Whether the whole trimmed text is exactly one `{{ expression }}`. */
  readonly isExpression: boolean
  /** Root names it reads from the scope. */
  readonly roots: ReadonlySet<string>
  /** Member paths from each root as far as they are written out, such as `['ctx', 'page']`. */
  readonly paths: readonly (readonly string[])[]
  /** Words and signs of its expressions. */
  readonly size: number
  /** The value of the expression, or text. Undefined is null. */
  value(scope: Scope): Json
  text(scope: Scope): string
  /** Whether it holds as a condition. */
  test(scope: Scope): boolean
}

export const hasTemplateSyntax = (text: string): boolean =>
  (text.includes('{{') && text.includes('}}')) || (text.includes('{%') && text.includes('%}'))

const MAX_CACHED = 4_000
const MAX_CACHED_BYTES = 32 * 1024 * 1024
/** What a word becomes in memory, about: a node of the tree and the function that evaluates it. */
const BYTES_PER_WORD = 300

/** The parts of a source that can fail, for naming them in errors. */
interface Span {
  readonly start: number
  readonly end: number
}

const spansOf = (segments: readonly Segment[]): Span[] =>
  segments.flatMap((segment) => (segment.kind === 'text' ? [] : [{ start: segment.start, end: segment.end }]))

/** Gives an error that arose during rendering its place in the source. */
const locate = (problem: unknown, frame: Frame, source: string, spans: readonly Span[]): unknown => {
  const isFault = problem instanceof EvaluationFault
  // Data or host code may still exhaust the stack; that must not look like a crash.
  if (!isFault && !(problem instanceof RangeError)) return problem
  const span = spans.find(({ start, end }) => frame.at >= start && frame.at < end)
  return new TemplateError({
    reason: isFault ? problem.message : 'template is nested too deeply',
    source,
    offset: frame.at,
    expression: span === undefined ? source.trim() : source.slice(span.start, span.end),
    cause: isFault ? undefined : problem,
  })
}

interface Parsed {
  readonly source: string
  readonly body: Body
  readonly spans: readonly Span[]
  /** Present when the template is exactly one expression. */
  readonly expression: Expression | undefined
}

const render = <Result>(
  parsed: Parsed,
  roots: ReadonlySet<string>,
  scope: Scope,
  work: (frame: Frame) => Result,
): Result => {
  const frame = createFrame(scope, roots)
  try {
    return work(frame)
  } catch (problem) {
    throw locate(problem, frame, parsed.source, parsed.spans)
  }
}

const runText =
  (run: Run) =>
  (frame: Frame): string => {
    run(frame)
    return frame.text
  }

const build = (parsed: Parsed): Template => {
  const { source, body, expression } = parsed
  const { roots, paths, bound } = readsOf(body)
  const compilation = { source, bound }
  const writeText = runText(compileBody(compilation, body))
  const text = (scope: Scope): string => render(parsed, roots, scope, writeText)
  if (expression === undefined) {
    const isHeld = (scope: Scope): boolean => !isFalseText(text(scope))
    return { source, isExpression: false, roots, paths, size: body.size, value: text, text, test: isHeld }
  }
  const evaluate: Evaluate = compileExpression(compilation, expression)
  const isBuilt = mayBuild(expression)
  const asJson = (frame: Frame): Json => toJson(frame, evaluate(frame), isBuilt)
  const isHeld = (frame: Frame): boolean => holds(evaluate(frame))
  return {
    source,
    isExpression: true,
    roots,
    paths,
    size: body.size,
    value: (scope) => render(parsed, roots, scope, asJson),
    text,
    test: (scope) => render(parsed, roots, scope, isHeld),
  }
}

const parse = (source: string): Parsed => {
  const segments = readSegments(source)
  const body = parseTemplate(source, segments)
  const trimmed = source.trim()
  const [only] = segments.filter((segment) => segment.kind !== 'text' || segment.text.trim() !== '')
  // Comments leave no segment, so the mark must also be at the very ends of the text.
  const isAlone =
    only?.kind === 'output' &&
    only.end - only.start === trimmed.length &&
    source.startsWith(trimmed, only.start)
  const output = isAlone ? body.nodes.find((node) => node.kind === 'output') : undefined
  return { source, body, spans: spansOf(segments), expression: output?.expression }
}

const parseBare = (source: string): Parsed => {
  const { tokens } = readTokens(source, 0, 0, undefined)
  const expression = parseWholeExpression(createTokenCursor(source, tokens))
  const body: Body = { nodes: [{ kind: 'output', expression }], size: tokens.length }
  return { source, body, spans: [{ start: 0, end: source.length + 1 }], expression }
}

const literal = (source: string): Template => ({
  source,
  isExpression: false,
  roots: new Set(),
  paths: [],
  size: 0,
  value: () => source,
  text: () => source,
  test: () => !isFalseText(source),
})

const bytesOf = (source: string, { size }: Template): number => source.length + size * BYTES_PER_WORD
const templates = createCache(MAX_CACHED, MAX_CACHED_BYTES, bytesOf)
const conditions = createCache(MAX_CACHED, MAX_CACHED_BYTES, bytesOf)

/** The same source gives the same template, from a bounded cache. */
export const compileTemplate = (source: string): Template => {
  const cached = templates.get(source)
  if (cached !== undefined) return cached
  const template = hasTemplateSyntax(source) ? build(parse(source)) : literal(source)
  templates.set(source, template)
  return template
}

/** A condition may leave out the braces: `x > 3` means `{{ x > 3 }}`. */
export const compileCondition = (source: string): Template => {
  if (hasTemplateSyntax(source)) return compileTemplate(source)
  const cached = conditions.get(source)
  if (cached !== undefined) return cached
  const template = build(parseBare(source))
  conditions.set(source, template)
  return template
}
