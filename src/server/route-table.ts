/** Which methods a path takes, to tell a wrong method from a wrong path. */
import type { FastifyInstance } from 'fastify'

/** Takes note of every route added afterwards; answers the methods of the routes that match a path. */
export const createRouteTable = (app: FastifyInstance): ((path: string) => readonly string[]) => {
  const routes: { readonly pattern: RegExp; readonly methods: readonly string[] }[] = []
  app.addHook('onRoute', ({ url, method }) => {
    routes.push({ pattern: patternOf(url), methods: [method].flat() })
  })
  return (path) => {
    const matching = routes.filter(({ pattern }) => pattern.test(path))
    return [...new Set(matching.flatMap(({ methods }) => methods))].sort()
  }
}

/** `/api/executions/:execution_id` matches one segment in place of the parameter. */
const patternOf = (url: string): RegExp =>
  new RegExp(`^${url.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll(/:\w+/g, '[^/]+')}/?$`)
