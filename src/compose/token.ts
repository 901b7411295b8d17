/**
 * `noetl token` with what it needs around it. It goes to the server that was named; else to the database that was named;
 * else to the server of the data directory; else to the database in it. So the first token can be made before a server
 * may start that serves other machines, and a lost one be replaced by whoever has the data.
 */
import type { ConnectFlags } from '../cli/program.ts'
import type { TokenFlags } from '../cli/token.ts'
import { runToken } from '../cli/token.ts'
import type { Tokens } from '../client/access.ts'
import { createRemoteTokens } from '../client/access.ts'
import type { Role } from '../contract/access.ts'
import { CreateTokenRequest } from '../contract/api-access.ts'
import { notAnId, parseId } from '../contract/ids.ts'
import type { JsonObject } from '../contract/json.ts'
import { ProblemError } from '../contract/problem.ts'
import { LOCAL } from '../server/access/caller.ts'
import { createToken, tokenAnswer } from '../server/access/tokens.ts'
import { check } from '../server/http.ts'
import { insertAudit } from '../store/audit.ts'
import type { Database } from '../store/database.ts'
import { createShards, parseShardList } from '../store/shards.ts'
import { listTokens, revokeToken } from '../store/tokens.ts'
import type { CommandContext } from './command-context.ts'
import { findServer } from './connect.ts'
import { openDatabases } from './databases.ts'
import { createLog } from './log.ts'
import { hasData, refuseMissingData } from './missing-data.ts'
import type { Settings } from './settings.ts'
import { readSettings } from './settings.ts'
import type { Undo } from './undo.ts'
import { stopAll } from './undo.ts'

export const token = async (flags: TokenFlags & ConnectFlags, context: CommandContext): Promise<number> => {
  const { env, terminal } = context
  const settings = readSettings({ dataDir: flags.dataDir }, env, parseShardList)
  const isServerNamed = (flags.server ?? env['NOETL_SERVER_URL'] ?? null) !== null
  const where = { server: flags.server ?? null, dataDir: flags.dataDir ?? null, token: flags.token ?? null }
  const server = isServerNamed || settings.databaseUrls.length === 0 ? await findServer(where, context) : null
  if (server) return runToken(flags, createRemoteTokens(server.client.url, server.access), terminal)
  if (flags.verb !== 'create') refuseMissingData(settings)
  else if (!hasData(settings)) terminal.err(terminal.errorStyle.dim(newDataText(settings, flags)))
  return onDatabase(settings, context, (tokens) => runToken(flags, tokens, terminal))
}

/** The first token may come before the first start. Whoever did not mean this place sees it by its name. */
const newDataText = ({ dataDir }: Settings, flags: ConnectFlags): string => {
  const up = flags.dataDir === undefined ? 'noetl up' : `noetl up --data-dir '${dataDir}'`
  return `No server is running, and there is no NoETL data in ${dataDir} yet: it is made now. Only the server on it asks for this token: ${up}`
}

const onDatabase = async (
  settings: Settings,
  { terminal }: CommandContext,
  run: (tokens: Tokens) => Promise<number>,
): Promise<number> => {
  const { databaseUrls, dataDir } = settings
  const place = databaseUrls.length > 0 ? 'the database of the environment' : `the database in ${dataDir}`
  terminal.err(terminal.errorStyle.dim(`Working on ${place} itself`))
  const undo: Undo[] = []
  const log = createLog(settings.logLevel, terminal)
  try {
    const { databases } = await openDatabases({ ...settings, log }, undo)
    return await run(createLocalTokens(createShards(databases).cluster))
  } finally {
    await stopAll(undo, log)
  }
}

/** Whoever has the database needs no token; what is done is on record all the same. */
const createLocalTokens = (database: Database): Tokens => {
  const record = (action: string, target: string, details: JsonObject): Promise<void> =>
    insertAudit(database, {
      actor: LOCAL.name,
      role: LOCAL.role,
      tokenId: null,
      action,
      target,
      outcome: 'success',
      address: null,
      workerId: null,
      executionId: null,
      parentExecutionId: null,
      details,
    })
  return {
    create: async (request) => {
      const { name, role } = checked(request)
      const { expiresInSeconds } = request
      const created = await createToken(database, { name, role, expiresInSeconds, createdBy: LOCAL.name })
      await record('token.create', name, { id: created.id, role, expires_at: created.expires_at })
      return created
    },
    list: async (options) => (await listTokens(database, options)).map(tokenAnswer),
    revoke: async (given) => {
      const id = parseId(given)
      if (id === null) throw new ProblemError('bad_request', `Invalid id: ${notAnId(given)}`)
      const row = await revokeToken(database, id, LOCAL.name)
      if (!row) throw new ProblemError('not_found', `Token not found: ${id}`)
      await record('token.revoke', row.name, { id })
      return tokenAnswer(row)
    },
  }
}

/** The checks of the API. */
const checked = ({ name, role }: { name: string; role: Role }): { name: string; role: Role } =>
  check(CreateTokenRequest, { name, role })
