import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Role } from '../../contract/access.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { AccessFace } from '../../../test/support/access-server.ts'
import { tokensOf, withAccess } from '../../../test/support/access-server.ts'
import { INTERNAL_TOKEN, TEST_KEY, textOf } from '../../../test/support/api-server.ts'
import { single } from '../../../test/support/playbooks.ts'
import { createScriptedWorker } from '../../../test/support/scripted-worker.ts'
import { useServer } from '../../../test/support/server-file.ts'
import { createAuditKeeper } from '../access/audit-keeper.ts'
import { auditSecrets } from '../access/audited-control-plane.ts'
import { AUDITED_ROUTES } from '../access/audited-routes.ts'
import { createLocalControlPlane } from '../local-control-plane.ts'
import { declaredRoutes } from '../route.ts'
import { createWallet } from '../../lib/envelope.ts'

const server = useServer()
let face: AccessFace
let tokens: Readonly<Record<Role, string>>

beforeAll(async () => {
  face = withAccess(server())
  tokens = await tokensOf(server())
})
afterAll(() => face.close())

const call = (role: Role, method: string, path: string, body?: unknown) =>
  face.call(tokens[role], method, path, body === undefined ? {} : { body })

const audit = async (query = ''): Promise<JsonObject[]> =>
  (await call('admin', 'GET', `/api/audit${query}`)).body['items'] as JsonObject[]

/** The newest row about a target. */
const about = async (target: string): Promise<JsonObject | undefined> =>
  (await audit('?limit=1000')).find((row) => row['target'] === target)

test('what is put on record are routes of this server', () => {
  const routes = new Set(declaredRoutes(face.app).map(({ method, url }) => `${method} ${url}`))
  expect(AUDITED_ROUTES.filter((route) => !routes.has(route))).toEqual([])
})

describe('on record is', () => {
  test('who registered a playbook', async () => {
    await call('operator', 'POST', '/api/catalog/register', { content: single('tests/audited') })
    expect(await about('tests/audited')).toMatchObject({
      actor: 'operator',
      role: 'operator',
      token_id: expect.stringMatching(/^\d+$/) as string,
      action: 'catalog.register',
      outcome: 'success',
      address: '127.0.0.1',
      details: { version: 1 },
    })
  })

  test('who wrote, read and deleted a credential', async () => {
    await call('operator', 'POST', '/api/credentials', {
      name: 'db',
      type: 'postgres',
      data: { password: 'hunter2' },
    })
    expect(await about('db')).toMatchObject({ action: 'credential.write', details: { type: 'postgres' } })
    await call(
      'worker',
      'GET',
      '/api/credentials/db?include_data=true&execution_id=77&parent_execution_id=76',
    )
    expect(await about('db')).toMatchObject({
      action: 'credential.read',
      actor: 'worker',
      execution_id: '77',
      parent_execution_id: '76',
    })
    await call('operator', 'GET', '/api/credentials/db?include_data=true')
    expect(await about('db')).toMatchObject({
      action: 'credential.read',
      actor: 'operator',
      outcome: 'denied',
    })
    await call('admin', 'DELETE', '/api/credentials/db')
    expect(await about('db')).toMatchObject({ action: 'credential.delete', actor: 'admin' })
    await call('admin', 'GET', '/api/credentials/db?include_data=true')
    expect(await about('db')).toMatchObject({ action: 'credential.read', outcome: 'not_found' })
  })

  test('who wrote, read and deleted a keychain entry', async () => {
    const { body } = await call('admin', 'POST', '/api/catalog/register', { content: single('tests/keys') })
    const path = `/api/keychain/${textOf(body['catalog_id'])}/key1`
    for (const [method, action] of [
      ['POST', 'keychain.write'],
      ['GET', 'keychain.read'],
      ['DELETE', 'keychain.delete'],
    ] as const) {
      await call('admin', method, path, method === 'POST' ? { data: { token: 'hunter2' } } : undefined)
      expect(await about('key1')).toMatchObject({
        action,
        details: { catalog_id: textOf(body['catalog_id']) },
      })
    }
    await call('worker', 'GET', path)
    expect(await about('key1')).toMatchObject({ action: 'keychain.read', outcome: 'not_found' })
  })

  test('who made and revoked a token, and not the token', async () => {
    const { body } = await call('admin', 'POST', '/api/tokens', { name: 'short lived', role: 'viewer' })
    expect(await about('short lived')).toMatchObject({
      action: 'token.create',
      details: { id: body['id'], role: 'viewer', expires_at: null },
    })
    await call('admin', 'DELETE', `/api/tokens/${textOf(body['id'])}`)
    expect(await about('short lived')).toMatchObject({ action: 'token.revoke', details: { id: body['id'] } })
    expect((await face.call(tokens.admin, 'GET', '/api/audit')).text).not.toContain(
      textOf(body['token']).slice(-43),
    )
  })

  test('who deleted playbooks and brought them back', async () => {
    await call('operator', 'POST', '/api/catalog/register', { content: single('tests/deleted') })
    // One that was run is put away; others would be gone.
    await call('operator', 'POST', '/api/execute', { path: 'tests/deleted' })
    for (const verb of ['delete', 'restore']) {
      await call('operator', 'POST', `/api/catalog/${verb}`, { path: 'tests/deleted' })
      expect(await about('tests/deleted')).toMatchObject({ action: `catalog.${verb}`, actor: 'operator' })
    }
    await call('admin', 'DELETE', '/api/catalog/playbooks/tests/deleted')
    expect(await about('tests/deleted')).toMatchObject({ action: 'catalog.delete', actor: 'admin' })
  })

  test('who changed the keys', async () => {
    await face.call(INTERNAL_TOKEN, 'POST', '/api/internal/wallet/rotate-kek', { body: {} })
    const [row] = await audit('?action=wallet')
    expect(row).toMatchObject({
      actor: 'internal',
      action: 'wallet.rotate',
      details: { credential: { failed: 0 } },
    })
  })

  test('a known caller who was refused, but no stranger and nothing that failed', async () => {
    const before = (await audit('?limit=1000')).length
    await call('viewer', 'POST', '/api/credentials', { name: 'forbidden', data: {} })
    await face.call(null, 'POST', '/api/credentials', { body: { name: 'stranger', data: {} } })
    await call('operator', 'POST', '/api/catalog/register', { content: 'nonsense' })
    await call('operator', 'DELETE', '/api/credentials/none')
    const rows = await audit('?limit=1000')
    expect(rows.length).toBe(before + 1)
    expect(rows[0]).toMatchObject({
      actor: 'viewer',
      action: 'credential.write',
      outcome: 'denied',
      details: {},
    })
  })

  test('the look of the worker in this process, too', async () => {
    await call('admin', 'POST', '/api/credentials', {
      name: 'mine',
      type: 't',
      data: { password: 'hunter2' },
    })
    const { core, leases } = server()
    const controlPlane = auditSecrets(createLocalControlPlane(core, leases, createWallet(TEST_KEY, [])), {
      database: core.shards.cluster,
      workerId: 'local-1',
      log: core.log,
      recorded: core.instruments.recorded,
    })
    const { signal } = new AbortController()
    const found = await controlPlane.credential({ executionId: '5', alias: 'mine', signal })
    expect(found?.data).toEqual({ password: 'hunter2' })
    expect(await about('mine')).toMatchObject({
      actor: 'local',
      role: 'worker',
      action: 'credential.read',
      worker_id: 'local-1',
      execution_id: '5',
    })
    expect(await controlPlane.credential({ executionId: '5', alias: 'nobody', signal })).toBeNull()
    expect(await about('nobody')).toMatchObject({ outcome: 'not_found' })
    expect(await controlPlane.keychainRecipe({ executionId: '5', alias: 'made', signal })).toBeNull()
    expect(await about('made')).toMatchObject({ action: 'keychain.recipe', outcome: 'not_found' })
  })

  test('nothing of what workers do all the time', async () => {
    const before = (await audit('?limit=1000')).length
    await call('worker', 'POST', '/api/commands/lease', { worker_id: 'w', pool: 'p', max: 1, wait_ms: 0 })
    await call('viewer', 'GET', '/api/credentials')
    expect((await audit('?limit=1000')).length).toBe(before)
  })
})

test('a name from a path that the database cannot keep does no harm', async () => {
  const { status } = await call('admin', 'GET', '/api/credentials/a%00b?include_data=true')
  expect(status).toBeLessThan(500)
})

describe('asking', () => {
  test('by actor, by action, and by what the action is about', async () => {
    expect(new Set((await audit('?actor=operator')).map((row) => row['actor']))).toEqual(
      new Set(['operator']),
    )
    expect(new Set((await audit('?action=credential.write')).map((row) => row['action']))).toEqual(
      new Set(['credential.write']),
    )
    const aboutCredentials = new Set((await audit('?action=credential')).map((row) => row['action']))
    expect(aboutCredentials.has('credential.read') && aboutCredentials.has('credential.write')).toBe(true)
    expect(await audit('?action=cred')).toEqual([])
  })

  test('by time', async () => {
    const [newest] = await audit('?limit=1')
    const at = textOf(newest?.['occurred_at'])
    expect(await audit(`?to=${encodeURIComponent('2020-01-01T00:00:00')}`)).toEqual([])
    expect((await audit(`?from=${encodeURIComponent(at)}`)).length).toBeGreaterThan(0)
    expect(await audit('?from=2999-01-01T00:00:00Z')).toEqual([])
  })

  test('page by page gives every row once', async () => {
    const all = (await audit('?limit=1000')).map((row) => row['audit_id'])
    const paged: unknown[] = []
    for (let cursor: unknown = null; ;) {
      const { body } = await call(
        'admin',
        'GET',
        `/api/audit?limit=3${cursor === null ? '' : `&cursor=${textOf(cursor)}`}`,
      )
      paged.push(...(body['items'] as JsonObject[]).map((row) => row['audit_id']))
      cursor = body['next_cursor'] ?? null
      if (cursor === null) break
    }
    expect(paged).toEqual(all)
  })

  test.each(['limit=0', 'limit=1001', 'limit=x', 'cursor=x', 'from=yesterday'])(
    '%s is refused',
    async (query) => {
      expect((await call('admin', 'GET', `/api/audit?${query}`)).status).toBe(422)
    },
  )

  test('for looks at secrets alone, in the words of those who watch over them', async () => {
    const { body, status } = await face.call(
      INTERNAL_TOKEN,
      'GET',
      '/api/internal/secret-audit?credential=db&execution_id=77',
    )
    expect(status).toBe(200)
    expect(body['rows']).toEqual([
      {
        audit_id: expect.any(String) as string,
        occurred_at: expect.any(String) as string,
        credential: 'db',
        operation: 'credential.read',
        outcome: 'success',
        worker_id: null,
        execution_id: '77',
        parent_execution_id: '76',
        server_region: null,
        broker_region: null,
        kek_version: null,
        notes: 'by worker/worker',
      },
    ])
    const all = (await face.call(INTERNAL_TOKEN, 'GET', '/api/internal/secret-audit?limit=10000')).body[
      'rows'
    ]
    expect(new Set((all as JsonObject[]).map((row) => row['operation']))).toEqual(
      new Set(['credential.read', 'keychain.read', 'keychain.recipe']),
    )
  })
})

describe('the log of an execution says who asked for it', () => {
  const actors = async (id: string): Promise<Record<string, unknown>> => {
    const { body } = await call('viewer', 'GET', `/api/executions/${id}/events?limit=100`)
    return Object.fromEntries(
      (body['events'] as { event_type: string; meta: JsonObject }[])
        .filter(({ meta }) => 'actor' in meta)
        .map(({ event_type, meta }) => [event_type, meta['actor']]),
    )
  }
  const start = async (role: Role): Promise<string> =>
    textOf((await call(role, 'POST', '/api/execute', { path: 'tests/audited' })).body['execution_id'])

  test('when it is started, given variables, and cancelled', async () => {
    const id = await start('operator')
    await call('admin', 'POST', `/api/vars/${id}`, { a: 1 })
    await call('admin', 'POST', `/api/executions/${id}/cancel`, { reason: 'enough' })
    expect(await actors(id)).toEqual({
      playbook_started: 'operator/operator',
      'ctx.updated': 'admin/admin',
      playbook_cancelled: 'admin/admin',
    })
  })

  test('when it is finalized', async () => {
    const id = await start('worker')
    await call('operator', 'POST', `/api/executions/${id}/finalize`, { status: 'COMPLETED' })
    expect(await actors(id)).toEqual({
      playbook_started: 'worker/worker',
      playbook_completed: 'operator/operator',
    })
  })

  test('but nobody can say it was somebody else', async () => {
    const id = await start('operator')
    await call('worker', 'POST', '/api/events', {
      execution_id: id,
      step: 'start',
      event_type: 'execution.cancelled',
      meta: { actor: 'admin/admin' },
    })
    expect((await actors(id))['execution.cancelled']).toBe('worker/worker')
  })

  test('and what workers and the server do by themselves is not signed', async () => {
    const id = await start('operator')
    await createScriptedWorker(server(), 'w').drain()
    expect(await actors(id)).toEqual({ playbook_started: 'operator/operator' })
  })

  test('on an open server it is anonymous', async () => {
    const answer = await server().post('/api/execute', { path: 'tests/audited' })
    expect(await actors(textOf(answer.body['execution_id']))).toEqual({ playbook_started: 'anonymous' })
  })
})

describe('keeping', () => {
  test('rows are deleted when they are old', async () => {
    const { core } = server()
    await core.shards.cluster.query(
      "update noetl.audit set occurred_at = now() - interval '40 days' where actor = 'viewer'",
    )
    const keeper = createAuditKeeper(core, { days: 30 })
    expect(await keeper.runOnce()).toBeGreaterThan(0)
    expect(await keeper.runOnce()).toBe(0)
    expect(await audit('?actor=viewer')).toEqual([])
    expect((await audit()).length).toBeGreaterThan(0)
  })

  test('a secret does not leave when the look at it cannot be put on record', async () => {
    await call('admin', 'POST', '/api/credentials', { name: 'kept', data: { password: 'hunter2' } })
    await server().core.shards.cluster.query('alter table noetl.audit rename to audit_away')
    try {
      const look = await call('admin', 'GET', '/api/credentials/kept?include_data=true')
      expect(look.status).toBe(500)
      expect(look.text).not.toContain('hunter2')
      const change = await call('admin', 'POST', '/api/credentials', {
        name: 'kept',
        data: { password: 'other' },
      })
      expect(change.status).toBe(200)
    } finally {
      await server().core.shards.cluster.query('alter table noetl.audit_away rename to audit')
    }
  })
})
