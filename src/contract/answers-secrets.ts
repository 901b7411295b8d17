/** Answers about credentials, the keychain and the keys they are sealed with. */
import { z } from 'zod'
import { anyObject, anyValue, count, instant, integerId, textId } from './answer-parts.ts'

export const CredentialAnswer = z
  .object({
    id: textId,
    name: z.string(),
    type: z.string(),
    meta: anyObject.optional(),
    tags: z.array(z.string()).optional(),
    description: z.string().optional(),
    data: anyValue.optional().meta({ description: 'Only when it was asked for by somebody who may see it' }),
    expires_in: z.number().optional().meta({ description: 'Seconds it lives, for an entry of the keychain' }),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'Credential' })

export const CredentialListAnswer = z.object({
  items: z.array(CredentialAnswer),
  filter: z.object({ type: z.string().optional(), q: z.string().optional() }).optional(),
})

export const CredentialDeletedAnswer = z.object({ message: z.string(), id: textId })

export const SealedCredentialAnswer = z.object({
  alg: z.literal('x25519-hkdf-sha256-chacha20-poly1305'),
  v: z.literal(1),
  eph_pub: z.string().meta({ description: 'Base64 of the ephemeral public key' }),
  ciphertext: z.string().meta({ description: 'Base64 of ciphertext and tag' }),
})

const place = { keychain_name: z.string(), catalog_id: integerId, cache_key: z.string() }

/** What an entry that exists has besides its place. */
const entry = {
  credential_type: z.string().optional(),
  cache_type: z.string(),
  scope_type: z.enum(['local', 'global', 'shared']),
  expires_at: instant,
  accessed_at: instant.optional(),
  access_count: count,
  auto_renew: z.boolean(),
  expired: z.boolean(),
}

export const KeychainEntryAnswer = z.discriminatedUnion('status', [
  z.object({
    status: z.literal('not_found'),
    ...place,
    auto_renew: z.literal(false),
    expired: z.literal(false),
  }),
  z.object({
    status: z.enum(['found', 'expired']),
    ...place,
    ...entry,
    data: anyValue.optional().meta({ description: 'While it lives' }),
    token_data: anyValue.optional().meta({ description: 'The same as `data`' }),
    ttl_seconds: z.number().meta({ description: 'Negative once expired' }),
    renew_config: anyObject.optional(),
  }),
])

export const KeychainListAnswer = z.object({
  status: z.literal('success'),
  catalog_id: textId,
  entries: z.array(
    z.object({
      keychain_name: z.string(),
      cache_key: z.string(),
      ...entry,
      execution_id: textId.optional(),
      created_at: instant,
    }),
  ),
  count,
})

export const KeychainSetAnswer = z.object({
  status: z.literal('success'),
  message: z.string(),
  ...place,
  expires_at: instant,
  ttl_seconds: z.int(),
  auto_renew: z.boolean(),
})

export const KeychainDeletedAnswer = z.object({
  status: z.enum(['deleted', 'not_found']),
  message: z.string(),
  ...place,
})

const rotated = { processed: count, rewrapped: count, skipped: count, failed: count }

export const RotateAnswer = z.object({
  credential: z.object({ ...rotated, last_id: integerId.nullable() }),
  keychain: z.object({ ...rotated, last_id: z.string().nullable() }),
})

/** Key version or fingerprint to the number of secrets under it. */
const counts = z.record(z.string(), count)

export const KeyUseAnswer = z.object({
  credential: counts,
  keychain: counts,
  current_key: z.string().meta({ description: 'Fingerprint of the key in use' }),
  by_key: z.object({ credential: counts, keychain: counts }),
})

export const KeychainRecipeAnswer = z.object({
  keychain_name: z.string(),
  catalog_id: textId,
  scope_type: z.enum(['local', 'global', 'shared']),
  execution_id: textId
    .nullable()
    .meta({ description: 'The execution it will belong to; null in the global scope' }),
  entry: anyObject.nullable().meta({ description: 'As the playbook declares it, templates included' }),
  variables: anyObject.meta({ description: 'What its templates read' }),
  renew: z
    .object({ config: anyObject, data: anyValue })
    .nullable()
    .meta({ description: 'How to renew an entry that ran out, and what it was' }),
  being_made: z.boolean().nullable().meta({
    description:
      'Whether another holder is at it: worth a short wait. Null when it costs nothing to make, or no holder was named',
  }),
})
