/**
 * `noetl token`: what people see of tokens. Where they are kept comes in as functions.
 *
 * 1. A new token is the only thing on stdout, so that it can go straight into a variable or a file.
 * 2. With `--json` stdout holds exactly one JSON document.
 */
import type { Tokens } from '../client/access.ts'
import type { Role } from '../contract/access.ts'
import type { CreatedTokenAnswer, TokenAnswer } from '../contract/answers-access.ts'
import { ProblemError } from '../contract/problem.ts'
import { EXIT } from './failure.ts'
import { tableLines } from './table.ts'
import type { Terminal } from './terminal.ts'

export type TokenFlags = { readonly json: boolean } & (
  | { readonly verb: 'create'; readonly role: Role; readonly name: string; readonly expires: string | null }
  | { readonly verb: 'list'; readonly includeRevoked: boolean }
  | { readonly verb: 'revoke'; readonly id: string }
)

export const runToken = async (flags: TokenFlags, tokens: Tokens, terminal: Terminal): Promise<number> => {
  const answer = await askFor(flags, tokens)
  if (flags.json) terminal.out(JSON.stringify(answer, null, 2))
  else if ('token' in answer) showCreated(answer, terminal)
  else if ('tokens' in answer) showList(answer.tokens, terminal)
  else terminal.out(`Revoked ${answer.id}, '${answer.name}' (${answer.role})`)
  return EXIT.ok
}

const askFor = async (
  flags: TokenFlags,
  tokens: Tokens,
): Promise<CreatedTokenAnswer | { readonly tokens: readonly TokenAnswer[] } | TokenAnswer> => {
  switch (flags.verb) {
    case 'create': {
      const { name, role, expires } = flags
      return tokens.create({ name, role, expiresInSeconds: expires === null ? null : parseExpiry(expires) })
    }
    case 'list':
      return { tokens: await tokens.list({ includeRevoked: flags.includeRevoked }) }
    case 'revoke':
      return tokens.revoke(flags.id)
    default:
      return flags satisfies never
  }
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 7 * 86_400 }
const TEN_YEARS_S = 3650 * 86_400

/** Seconds of `90d`, `12h`, `30m`, `45s`, `2w`. */
export const parseExpiry = (text: string): number => {
  const [, count = '', unit = ''] = /^(\d{1,9})([smhdw])$/.exec(text.trim().toLowerCase()) ?? []
  const seconds = Number(count) * (UNIT_SECONDS[unit] ?? 0)
  if (seconds > 0 && seconds <= TEN_YEARS_S) return seconds
  throw new ProblemError(
    'invalid',
    `--expires ${text}: write a number and a unit (s, m, h, d, w), such as 90d; ten years are the most`,
  )
}

const showCreated = (created: CreatedTokenAnswer, terminal: Terminal): void => {
  const { id, name, role, expires_at } = created
  const until = expires_at === null ? 'does not expire' : `expires ${expires_at}`
  terminal.err(`Token ${id}, '${name}' (${role}), ${until}. It is shown this once:`)
  terminal.out(created.token)
}

const showList = (tokens: readonly TokenAnswer[], terminal: Terminal): void => {
  if (tokens.length === 0) {
    terminal.err('There are no tokens. Make one with: noetl token create --role admin --name me')
    return
  }
  const head = ['id', 'name', 'role', 'status', 'created', 'expires', 'last used']
  const rows = tokens.map((token) => [
    token.id,
    token.name,
    token.role,
    token.status,
    day(token.created_at),
    token.expires_at === null ? 'never' : day(token.expires_at),
    token.last_used_at === null ? 'never' : minute(token.last_used_at),
  ])
  for (const line of tableLines({ head, rows, shrinks: 1 }, terminal)) terminal.out(line)
}

const day = (instant: string): string => instant.slice(0, 10)
const minute = (instant: string): string => instant.slice(0, 16).replace('T', ' ')
