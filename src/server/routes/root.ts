/** The bare address of the server: where people and programs go on from. */
import type { FastifyInstance } from 'fastify'
import { RootAnswer } from '../../contract/answers-server.ts'
import type { ServerContext } from '../app.ts'
import { route } from '../route.ts'

const LINKS = { docs: '/api/docs', openapi: '/api/openapi.json', health: '/api/health' } as const

export const rootRoutes = (app: FastifyInstance, { version }: ServerContext): void => {
  route(
    app,
    {
      method: 'GET',
      url: '/',
      name: 'getRoot',
      tag: 'server',
      access: 'public',
      summary: 'What this server is and where it describes itself',
      description: 'A browser (`Accept: text/html`) is sent on to the page of the API.',
      answer: RootAnswer,
      otherAnswers: { 302: null },
    },
    ({ request, reply }) => {
      // Caches between must not give the page to a program, nor the other way round.
      reply.header('vary', 'accept')
      if (wantsPage(request.headers.accept)) return reply.redirect(LINKS.docs, 302)
      return { name: 'noetl', version, links: LINKS }
    },
  )
}

const wantsPage = (accept = ''): boolean =>
  accept.split(',').some((range) => range.split(';', 1)[0]?.trim().toLowerCase() === 'text/html')
