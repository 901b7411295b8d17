/** What a worker asks for before it makes a keychain entry that is not there. Told to those who may see secrets only. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { KeychainRecipeAnswer } from '../../contract/answers-secrets.ts'
import { KeychainRecipeQuery } from '../../contract/api-secrets.ts'
import { ProblemError } from '../../contract/problem.ts'
import type { ServerContext } from '../app.ts'
import { pathId } from '../http.ts'
import { keychainRecipe } from '../keychain-recipe.ts'
import { route } from '../route.ts'
import { maySeeSecrets, needWallet, refuseSecrets } from '../secret-access.ts'

const nameOf = (request: FastifyRequest): string =>
  (request.params as { keychain_name: string }).keychain_name

export const keychainRecipeRoutes = (app: FastifyInstance, { core, wallet }: ServerContext): void => {
  route(
    app,
    {
      method: 'GET',
      url: '/api/executions/:execution_id/keychain/:keychain_name/recipe',
      name: 'getKeychainRecipe',
      tag: 'keychain',
      access: 'worker',
      summary: 'Say how an entry is made that an execution knows under this name',
      description:
        'The declaration of the playbook, what its templates read, and the renewal of an entry that ran out. 404 when nothing says how.',
      query: KeychainRecipeQuery,
      answer: KeychainRecipeAnswer,
      problems: ['forbidden', 'not_found'],
    },
    async ({ request, reply, query: { holder } }) => {
      const executionId = pathId(request, 'execution_id')
      const alias = nameOf(request)
      if (!maySeeSecrets(request)) return refuseSecrets(reply)
      const recipe = await keychainRecipe(core, needWallet(wallet), {
        executionId,
        alias,
        ...(holder === undefined ? {} : { holder }),
      })
      if (!recipe)
        throw new ProblemError('not_found', `Nothing says how to make the keychain entry '${alias}'`)
      const { address, entry, variables, renew, isBeingMade = null } = recipe
      return {
        keychain_name: address.name,
        catalog_id: address.catalogId,
        scope_type: address.scope,
        execution_id: address.executionId,
        entry,
        variables,
        renew,
        being_made: isBeingMade,
      }
    },
  )
}
