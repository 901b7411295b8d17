/** A server with all its routes and nothing behind them: for tests that look at declarations. */
import type { FastifyInstance } from 'fastify'
import { createApp } from '../../app.ts'

/** Stands for everything that routes take apart when they are registered; no request may reach it. */
const anything: object = new Proxy(() => anything, { get: () => anything })

export const createUndecidedApp = (): FastifyInstance =>
  createApp({
    core: anything as never,
    leases: anything as never,
    version: '0.0.0',
    closing: new AbortController().signal,
  })
