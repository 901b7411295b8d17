/**
 * Who may see secrets. Every answer that can carry one asks here and nowhere else: workers need secrets to do their
 * work, admins may ask for them, everybody else gets a refusal or a redacted value.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Wallet } from '../lib/envelope.ts'
import { EnvelopeError } from '../lib/envelope.ts'
import { seesSecrets } from '../contract/access.ts'
import { ProblemError } from '../contract/problem.ts'

/** False also for a request whose caller is not known, as on a public route. */
export const maySeeSecrets = ({ caller }: FastifyRequest): boolean =>
  caller !== null && seesSecrets(caller.role)

export const refuseSecrets = async (reply: FastifyReply): Promise<FastifyReply> =>
  reply
    .code(403)
    .send({ error: 'Secrets are given to workers and admins only', status: 403, code: 'forbidden' })

/** The wallet, or an answer that says how to get one. */
export const needWallet = (wallet: Wallet | undefined): Wallet => {
  if (!wallet)
    throw new ProblemError('unavailable', 'This server has no encryption key; set NOETL_ENCRYPTION_KEY')
  return wallet
}

/** Opens an envelope; `what` names it when that fails. */
export const openEnvelope = (wallet: Wallet, envelope: string, what: string): string => {
  try {
    return wallet.open(envelope)
  } catch (error) {
    if (!(error instanceof EnvelopeError)) throw error
    const hint = 'If the key was changed, give the old one as NOETL_ENCRYPTION_KEY_PREVIOUS.'
    throw new ProblemError('internal', `${what} cannot be decrypted: ${error.message}. ${hint}`, {
      cause: error,
    })
  }
}
