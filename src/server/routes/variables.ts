/** Variables that somebody attached to an execution. A list hides what is sensitive unless it is asked for. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  VariableAnswer,
  VariableDeletedAnswer,
  VariableListAnswer,
  VariablesDeletedAnswer,
  VariablesSetAnswer,
} from '../../contract/answers-variables.ts'
import { SetVariablesRequest, VariableListQuery } from '../../contract/api-variables.ts'
import { ProblemError } from '../../contract/problem.ts'
import { rawInteger } from '../../lib/exact-json.ts'
import type { Variable } from '../../store/variables.ts'
import {
  accessVariable,
  deleteVariable,
  deleteVariables,
  listVariables,
  writeVariables,
} from '../../store/variables.ts'
import type { ServerContext } from '../app.ts'
import { pathId } from '../http.ts'
import { route } from '../route.ts'
import { maySeeSecrets, refuseSecrets } from '../secret-access.ts'

const ALL = '/api/vars/:execution_id'
const ONE = '/api/vars/:execution_id/:var_name'
const tag = 'variables'

const nameOf = (request: FastifyRequest): string => (request.params as { var_name: string }).var_name

const notFound = (name: string, executionId: string): ProblemError =>
  new ProblemError('not_found', `Variable not found: ${name} for execution ${executionId}`)

export const variableRoutes = (app: FastifyInstance, { core }: ServerContext): void => {
  const { shards, sealer } = core

  route(
    app,
    {
      method: 'GET',
      url: ALL,
      tag,
      access: 'viewer',
      name: 'listVariables',
      summary: 'List the variables of an execution',
      query: VariableListQuery,
      answer: VariableListAnswer,
      problems: ['forbidden'],
    },
    async ({ request, reply, query: { include_data } }) => {
      const executionId = pathId(request, 'execution_id')
      if (include_data && !maySeeSecrets(request)) return refuseSecrets(reply)
      const variables = await listVariables(shards.of(executionId), executionId, include_data ? sealer : null)
      return variables.map(variableAnswer)
    },
  )

  route(
    app,
    {
      method: 'POST',
      url: ALL,
      tag,
      access: 'run',
      name: 'setVariables',
      summary: 'Set variables of an execution',
      body: SetVariablesRequest,
      answer: VariablesSetAnswer,
    },
    async ({ request, body: variables }) => {
      const executionId = pathId(request, 'execution_id')
      if (variables.length > 0) {
        await writeVariables(shards.of(executionId), executionId, variables, sealer)
        // Templates see them, too. An execution that does not exist or has ended has no use for them.
        const values = Object.fromEntries(variables.map(({ name, value }) => [name, value]))
        await core.tell(executionId, { type: 'variables', values, source: 'api' })
      }
      return {
        execution_id: rawInteger(executionId),
        variables_set: variables.length,
        var_names: variables.map(({ name }) => name),
        status: 'ok',
      }
    },
  )

  /** Workers read what they compute with: whoever may see secrets gets the value as it was set. */
  route(
    app,
    {
      method: 'GET',
      url: ONE,
      tag,
      access: 'viewer',
      name: 'getVariable',
      summary: 'Read a variable',
      answer: VariableAnswer,
      problems: ['not_found'],
    },
    async ({ request }) => {
      const executionId = pathId(request, 'execution_id')
      const name = nameOf(request)
      const variable = await accessVariable(
        shards.of(executionId),
        executionId,
        name,
        maySeeSecrets(request) ? sealer : null,
      )
      if (!variable) throw notFound(name, executionId)
      return {
        execution_id: rawInteger(executionId),
        ...variableAnswer(variable),
        value: variable.value,
        type: variable.type,
      }
    },
  )

  route(
    app,
    {
      method: 'DELETE',
      url: ONE,
      tag,
      access: 'run',
      name: 'deleteVariable',
      summary: 'Delete a variable',
      answer: VariableDeletedAnswer,
      problems: ['not_found'],
    },
    async ({ request }) => {
      const executionId = pathId(request, 'execution_id')
      const name = nameOf(request)
      if (!(await deleteVariable(shards.of(executionId), executionId, name)))
        throw notFound(name, executionId)
      return { execution_id: rawInteger(executionId), var_name: name, status: 'deleted', deleted: true }
    },
  )

  route(
    app,
    {
      method: 'DELETE',
      url: ALL,
      tag,
      access: 'run',
      name: 'deleteVariables',
      summary: 'Delete all variables of an execution',
      answer: VariablesDeletedAnswer,
    },
    async ({ request }) => {
      const executionId = pathId(request, 'execution_id')
      const count = await deleteVariables(shards.of(executionId), executionId)
      return {
        execution_id: rawInteger(executionId),
        variables_deleted: count,
        deleted_count: count,
        status: 'ok',
      }
    },
  )
}

const variableAnswer = (variable: Variable) => ({
  var_name: variable.name,
  var_type: variable.type,
  var_value: variable.value,
  source_step: variable.sourceStep,
  created_at: variable.createdAt,
  accessed_at: variable.accessedAt,
  access_count: variable.accessCount,
})
