/** Requests about credentials, the keychain and the keys they are sealed with. */
import { z } from 'zod'
import { anyJson, body, jsonObject, nameText, queryFlag, queryText } from './api-body.ts'
import { documentedAs } from './documented.ts'
import { idSchema } from './ids.ts'

/** A list, or one text with commas. */
const Tags = z
  .union([z.string(), z.array(z.string())], { error: 'must be a list of texts or one text with commas' })
  .transform((tags) =>
    (typeof tags === 'string' ? tags.split(',').map((tag) => tag.trim()) : tags).filter((tag) => tag !== ''),
  )

const CredentialSchema = z.object({
  /** The only fields there may be. */
  fields: z.union([z.array(z.string()), jsonObject.transform((fields) => Object.keys(fields))]).nullish(),
  required: z.array(z.string()).nullish(),
  types: z.record(z.string(), z.string()).nullish(),
})
export type CredentialSchema = z.infer<typeof CredentialSchema>

export const CredentialRequest = body(
  {
    name: nameText,
    type: z.string().trim().max(200).default('generic'),
    data: anyJson,
    schema: CredentialSchema.nullish(),
    meta: jsonObject.nullish(),
    tags: Tags.nullish(),
    description: z.string().nullish(),
  },
  { credential_type: 'type' },
)

export const CredentialListQuery = z.object({ type: queryText, q: queryText })

export const CredentialQuery = z.object({
  include_data: queryFlag(false),
  execution_id: idSchema('execution_id').optional(),
  parent_execution_id: idSchema('parent_execution_id').optional(),
})

export const SealedQuery = z.object({
  worker_id: queryText,
  execution_id: idSchema('execution_id').optional(),
  parent_execution_id: idSchema('parent_execution_id').optional(),
})

export const KeychainRecipeQuery = z.object({
  holder: z.string().min(1).max(200).optional().meta({
    description: 'Who is going to make the entry. With it, others who ask are told that it is being made',
  }),
})

const KEYCHAIN_SCOPES = ['local', 'global', 'shared'] as const
export type KeychainScope = (typeof KEYCHAIN_SCOPES)[number]

/** A playbook may call the scope of its catalog entry by that name; it is the global one. */
const KeychainScopeWord = documentedAs(
  z
    .string()
    .transform((scope) => (scope === 'catalog' ? 'global' : scope))
    .refine((scope): scope is KeychainScope => KEYCHAIN_SCOPES.includes(scope as KeychainScope), {
      error: (issue) => `Invalid scope_type: ${String(issue.input)}`,
    }),
  { type: 'string', enum: [...KEYCHAIN_SCOPES, 'catalog'], description: '`catalog` means `global`' },
)

const A_CENTURY_S = 100 * 366 * 86_400

export const KeychainSetRequest = body(
  {
    data: anyJson,
    credential_type: z.string().max(200).nullish(),
    cache_type: z.enum(['token', 'secret'], { error: "must be 'token' or 'secret'" }).default('token'),
    scope_type: KeychainScopeWord.default('global'),
    execution_id: idSchema('execution_id').nullish(),
    parent_execution_id: idSchema('parent_execution_id').nullish(),
    /** Without an offset it is UTC. */
    expires_at: z.iso
      .datetime({ offset: true, local: true, error: 'must be a time such as 2026-01-31T12:00:00Z' })
      .nullish(),
    /** Seconds. */
    expires_in: z
      .number({ error: 'must be a number of seconds' })
      .int()
      .min(0, { error: 'must not be negative' })
      .max(A_CENTURY_S)
      .nullish(),
    auto_renew: z.boolean().default(false),
    renew_config: jsonObject.nullish(),
  },
  { token_data: 'data', ttl_seconds: 'expires_in' },
)
export type KeychainSetRequest = z.infer<typeof KeychainSetRequest>

/** A scope that is not known means the global one here. */
export const KeychainQuery = z.object({
  execution_id: idSchema('execution_id').optional(),
  scope_type: z
    .string()
    .default('global')
    .transform((scope): KeychainScope => (scope === 'local' || scope === 'shared' ? scope : 'global')),
})

export type KeychainQuery = z.infer<typeof KeychainQuery>

export const RotateRequest = body({
  batch_size: z.number().int().min(1).max(10_000).default(100),
  max_batches: z.number().int().min(1).max(1_000_000).default(1000),
})
