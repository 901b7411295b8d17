/** Which methods a path takes, to tell a wrong method from a wrong path. */
import type { FastifyInstance } from 'fastify'

interface KnownRoute {
  readonly url: string
  readonly pattern: RegExp
  readonly methods: readonly string[]
}

const tables = new WeakMap<FastifyInstance, readonly KnownRoute[]>()

/** Every route that the framework knows, declared or not. */
export const registeredRoutes = (app: FastifyInstance): readonly KnownRoute[] => tables.get(app) ?? []

/** Takes note of every route added afterwards; answers the methods of the routes that match a path. */
export const createRouteTable = (app: FastifyInstance): ((path: string) => readonly string[]) => {
  const routes: KnownRoute[] = []
  tables.set(app, routes)
  app.addHook('onRoute', ({ url, method }) => {
    routes.push({ url, pattern: patternOf(url), methods: [method].flat() })
  })
  return (path) => {
    const matching = routes.filter(({ pattern }) => pattern.test(path))
    return [...new Set(matching.flatMap(({ methods }) => methods))].sort()
  }
}

/** `/api/executions/:execution_id` matches one segment in place of the parameter. */
const patternOf = (url: string): RegExp =>
  new RegExp(`^${url.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll(/:\w+/g, '[^/]+')}/?$`)
