/** Answers about variables of an execution. */
import { z } from 'zod'
import { anyValue, count, instant, integerId } from './answer-parts.ts'

const type = z.enum(['user_defined', 'step_result', 'computed', 'iterator_state'])

const variable = {
  var_name: z.string(),
  var_type: type,
  var_value: anyValue,
  source_step: z.string().nullable(),
  created_at: instant,
  accessed_at: instant,
  access_count: count,
}

export const VariableListAnswer = z.array(z.object(variable).meta({ id: 'Variable' }))

export const VariableAnswer = z.object({
  execution_id: integerId,
  ...variable,
  value: anyValue.meta({ description: 'The same as `var_value`' }),
  type: type.meta({ description: 'The same as `var_type`' }),
})

export const VariablesSetAnswer = z.object({
  execution_id: integerId,
  variables_set: count,
  var_names: z.array(z.string()),
  status: z.literal('ok'),
})

export const VariableDeletedAnswer = z.object({
  execution_id: integerId,
  var_name: z.string(),
  status: z.literal('deleted'),
  deleted: z.literal(true),
})

export const VariablesDeletedAnswer = z.object({
  execution_id: integerId,
  variables_deleted: count,
  deleted_count: count,
  status: z.literal('ok'),
})
