/**
 * A cancel reaches a worker across the network by the heartbeat that waits there. The clock of the worker stands still
 * from then on, so that no other heartbeat can bring it.
 */
import { expect, test } from 'vitest'
import { createRemoteControlPlane } from '../../src/client/control-plane.ts'
import { silentLog } from '../../src/worker/log.ts'
import { createHandClock } from '../../src/worker/test-support.ts'
import type { Tool } from '../../src/worker/tool.ts'
import { createToolRegistry } from '../../src/worker/tools/registry.ts'
import { createWorker } from '../../src/worker/worker.ts'
import { overTheNetwork } from '../support/api-server.ts'
import { single } from '../support/playbooks.ts'
import { useServers } from '../support/servers.ts'

const servers = useServers()

/** A tool that runs until it is aborted, and tells both. */
const createEndlessTool = () => {
  const [begun, aborted] = [Promise.withResolvers<void>(), Promise.withResolvers<unknown>()]
  const tool: Tool = {
    kind: 'python',
    instant: false,
    run: ({ signal }) => {
      begun.resolve()
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          aborted.resolve(signal.reason.error)
          resolve({ outcome: 'error', error: signal.reason.error })
        })
      })
    },
  }
  return { tool, begun: begun.promise, aborted: aborted.promise }
}

test('the worker aborts the command when it is cancelled, not with its next heartbeat', async () => {
  const server = await servers.start({ leaseSeconds: 3600 })
  await server.register(single('tests/cancel'))
  const id = await server.execute('tests/cancel')
  const endless = createEndlessTool()
  const { clock, advance } = createHandClock()
  await overTheNetwork(server, async (url) => {
    const worker = createWorker({
      controlPlane: createRemoteControlPlane(url),
      tools: createToolRegistry([endless.tool]),
      workerId: 'remote',
      pool: 'shared',
      slots: 1,
      log: silentLog,
      clock,
      heartbeatsWait: true,
    })
    worker.start()
    await endless.begun
    await advance(1_000)
    expect((await server.post(`/api/executions/${id}/cancel`, {})).status).toBe(200)
    expect(await endless.aborted).toMatchObject({ code: 'CANCELLED' })
    await worker.idle()
    await worker.stop({ graceMs: 0 })
  })
})
