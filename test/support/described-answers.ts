/**
 * Holds every answer of a test server against the API document, so that each test of a route also tests its
 * description.
 *
 * 1. A success has the described shape and no field that is not described.
 * 2. An error has the one shape of errors, with a code that is described for its route.
 */
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import type { FastifyInstance } from 'fastify'
import type { ApiDocument, ApiResponse } from '../../src/server/api-document/document.ts'
import { buildApiDocument, pathTemplate } from '../../src/server/api-document/document.ts'
import type { RouteSpec } from '../../src/server/route.ts'
import { declaredRoutes } from '../../src/server/route.ts'

/** What is wrong with an answer; null when nothing is. */
type CheckAnswer = (
  spec: RouteSpec,
  answer: { readonly status: number; readonly type: string; readonly text: string },
) => string | null

/** Codes that any route may answer, whatever it declares. */
const ANYWHERE = new Set(['internal'])

const createAnswerCheck = (document: ApiDocument): CheckAnswer => {
  const ajv = createValidator(document)
  const validators = new Map<string, ValidateFunction>()
  const validatorAt = (pointer: string): ValidateFunction => {
    const known = validators.get(pointer)
    if (known) return known
    const made = ajv.compile({ $ref: `document#${pointer}` })
    validators.set(pointer, made)
    return made
  }

  return (spec, { status, type, text }) => {
    const path = pathTemplate(spec.url)
    const operation = document.paths[path]?.[spec.method.toLowerCase()]
    if (!operation) return `${spec.method} ${path} is not in the API document`
    const declared = operation.responses[String(status)]
    const where = `${spec.method} ${path} answered ${status}`
    if (!declared) return `${where}, which is not described: ${text.slice(0, 300)}`
    const [response, pointer] =
      '$ref' in declared
        ? [responseOf(document, declared.$ref), declared.$ref.slice(1)]
        : [declared, `/paths/${escaped(path)}/${spec.method.toLowerCase()}/responses/${status}`]
    if (!response.content) return text === '' ? null : `${where} with a body, but none is described`
    const media = type.split(';')[0] ?? ''
    if (!response.content[media]) return `${where} with type '${media}', which is not described`
    if (!media.endsWith('json')) return null
    const validate = validatorAt(`${pointer}/content/${escaped(media)}/schema`)
    const value: unknown = JSON.parse(text)
    if (validate(value) || isAnywhere(value)) return null
    return `${where}, not as described: ${ajv.errorsText(validate.errors)} in ${text.slice(0, 500)}`
  }
}

const isAnywhere = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'code' in value && ANYWHERE.has(String(value.code))

const responseOf = (document: ApiDocument, ref: string): ApiResponse => {
  const found = document.components.responses[ref.split('/').at(-1) ?? '']
  if (!found) throw new Error(`${ref} leads nowhere`)
  return found
}

const escaped = (text: string): string => encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'))

/** A validator that knows the document under the name `document`. */
const createValidator = (document: object): Ajv2020 => {
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateSchema: false })
  ajv.addFormat('int64', true)
  ajv.addFormat('binary', true)
  ajv.addFormat('date-time', (text) => /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text)))
  ajv.addSchema({ ...document, $id: 'document' })
  return ajv
}

interface DescribedAnswers {
  /** Throws when an answer since the last call was not as described. */
  verify(): void
}

/** Installed on an app whose routes are all there. */
export const describeAnswers = (app: FastifyInstance): DescribedAnswers => {
  let check: CheckAnswer | undefined
  const wrong: string[] = []
  app.addHook('onSend', async (request, reply, payload) => {
    const { spec } = request.routeOptions.config
    // The framework answers HEAD wherever it answers GET, under the same declaration.
    if (!spec || request.method !== spec.method) return payload
    check ??= createAnswerCheck(buildApiDocument(declaredRoutes(app), { version: 'test', strict: true }))
    const text = typeof payload === 'string' ? payload : payload === undefined || payload === null ? '' : null
    if (text === null) return payload
    const problem = check(spec, {
      status: reply.statusCode,
      type: String(reply.getHeader('content-type') ?? ''),
      text,
    })
    if (problem !== null) wrong.push(problem)
    return payload
  })
  return {
    verify: () => {
      const problems = wrong.splice(0)
      if (problems.length > 0) throw new Error(problems.join('\n'))
    },
  }
}
