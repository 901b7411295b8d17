/**
 * Requests about variables. Three forms set them:
 *
 * 1. `{variables: [{var_name, var_value, var_type?, source_step?}]}`
 * 2. `{variables: {name: value}, var_type?, source_step?}`
 * 3. `{name: value}`, which also is a variable called `variables` when its value is neither list nor object.
 */
import { z } from 'zod'
import { anyJson, jsonObject, nameText, queryFlag } from './api-body.ts'
import { documentedAs } from './documented.ts'
import type { Json } from './json.ts'
import { isObject } from './json.ts'

const VARIABLE_TYPES = ['user_defined', 'step_result', 'computed', 'iterator_state'] as const
export type VariableType = (typeof VARIABLE_TYPES)[number]

const DEFAULT_TYPE: VariableType = 'user_defined'
const MAX_AT_ONCE = 10_000

const Type = z
  .string({ error: 'must be text' })
  .refine((type): type is VariableType => VARIABLE_TYPES.includes(type as VariableType), {
    error: (issue) => `Invalid var_type: ${String(issue.input)}`,
  })
  .nullish()
  .transform((type): VariableType => type ?? DEFAULT_TYPE)

const SourceStep = z
  .string()
  .nullish()
  .transform((step) => step ?? null)

export interface VariableToSet {
  readonly name: string
  readonly value: Json
  readonly type: VariableType
  readonly sourceStep: string | null
}

const Item = z
  .object({ var_name: nameText, var_value: anyJson, var_type: Type, source_step: SourceStep })
  .transform((item): VariableToSet => ({
    name: item.var_name,
    value: item.var_value,
    type: item.var_type,
    sourceStep: item.source_step,
  }))

const ListForm = z.object({ variables: z.array(Item) }).transform(({ variables }) => variables)

const Named = jsonObject.transform((values, context): readonly (readonly [string, Json])[] =>
  Object.entries(values).map(([name, value]) => {
    const checked = nameText.safeParse(name)
    if (checked.success) return [checked.data, value]
    context.addIssue({
      code: 'custom',
      message: `var_name: ${checked.error.issues[0]?.message ?? 'is not a name'}`,
    })
    return z.NEVER
  }),
)

const MapForm = z
  .object({ variables: Named, var_type: Type, source_step: SourceStep })
  .transform(({ variables, var_type, source_step }) =>
    variables.map(([name, value]): VariableToSet => ({
      name,
      value,
      type: var_type,
      sourceStep: source_step,
    })),
  )

const BareForm = Named.transform((values) =>
  values.map(([name, value]): VariableToSet => ({ name, value, type: DEFAULT_TYPE, sourceStep: null })),
)

/** The variables of any of the three forms; of two with one name the last wins. */
const AnyForm = z.unknown().transform((value, context): readonly VariableToSet[] => {
  const variables = isObject(value) ? value['variables'] : undefined
  const form = Array.isArray(variables) ? ListForm : isObject(variables) ? MapForm : BareForm
  const result = form.safeParse(value)
  if (!result.success) {
    for (const { message, path } of result.error.issues) context.addIssue({ code: 'custom', message, path })
    return z.NEVER
  }
  const byName = new Map(result.data.map((variable) => [variable.name, variable]))
  if (byName.size > MAX_AT_ONCE) {
    context.addIssue({ code: 'custom', message: `at most ${MAX_AT_ONCE} variables at once` })
    return z.NEVER
  }
  return [...byName.values()]
})

const documentedType = { enum: [...VARIABLE_TYPES], default: DEFAULT_TYPE }

export const SetVariablesRequest = documentedAs(AnyForm, {
  anyOf: [
    {
      title: 'List',
      type: 'object',
      required: ['variables'],
      properties: {
        variables: {
          type: 'array',
          maxItems: MAX_AT_ONCE,
          items: {
            type: 'object',
            required: ['var_name', 'var_value'],
            properties: {
              var_name: { type: 'string', minLength: 1, maxLength: 512 },
              var_value: { description: 'Any JSON value' },
              var_type: documentedType,
              source_step: { type: ['string', 'null'] },
            },
          },
        },
      },
    },
    {
      title: 'Mapping',
      type: 'object',
      required: ['variables'],
      properties: {
        variables: { type: 'object', description: 'Names to values', additionalProperties: true },
        var_type: documentedType,
        source_step: { type: ['string', 'null'] },
      },
    },
    {
      title: 'Bare',
      type: 'object',
      description: 'The body itself: names to values',
      additionalProperties: true,
    },
  ],
})

export const VariableListQuery = z.object({ include_data: queryFlag(false) })
