/** Requests and answers about the catalog. */
import { z } from 'zod'
import { anyObject, anyValue, count, instant, textId } from './answer-parts.ts'
import { body } from './api-body.ts'
import { idSchema } from './ids.ts'

const version = z.union([z.string(), z.number()]).nullish()

export const RegisterRequest = body({
  content: z.string({ error: "'content' must be the YAML text of the playbook" }),
  resource_type: z.string().default('Playbook'),
})

/** Entries on one page at most. */
const MAX_CATALOG_PAGE = 500

const capabilities = {
  capability: z.string().nullish(),
  capabilities: z.array(z.string()).max(100).nullish(),
}

export const CatalogListRequest = body({
  resource_type: z.string().nullish(),
  path: z.string().nullish().meta({ description: 'Part of the path, in any case' }),
  latest: z.boolean().default(false).meta({ description: 'Only the newest version of each path' }),
  include_archived: z.boolean().default(false),
  agent_only: z
    .boolean()
    .default(false)
    .meta({ description: 'Only what says `agent: true` in its metadata' }),
  ...capabilities,
  limit: z
    .int()
    .min(1)
    .transform((limit) => Math.min(limit, MAX_CATALOG_PAGE))
    .nullish()
    .meta({
      description: `Entries on a page, at most ${MAX_CATALOG_PAGE}; without it all entries come at once`,
    }),
  cursor: idSchema('cursor').nullish(),
})
export type CatalogListRequest = z.infer<typeof CatalogListRequest>

export const AgentListRequest = body({ path: z.string().nullish(), ...capabilities })

export const CatalogResourceRequest = body({
  catalog_id: z.union([z.string(), z.number()]).nullish(),
  path: z.string().nullish(),
  version,
})

export const CatalogVersionsRequest = body({
  path: z
    .string({ error: "'path' must be the path of a catalog entry" })
    .trim()
    .min(1, { error: "'path' must not be empty" }),
  version,
})

export const UiSchemaQuery = z.object({ version: z.string().default('latest') })

export const PlaybookQuery = z.object({
  playbook_id: z
    .string({ error: "'playbook_id' must be the id or the path of a playbook" })
    .min(1, { error: "'playbook_id' must not be empty" })
    .meta({ description: 'A catalog id or a path' }),
  version: z.string().default('latest'),
})

export const PlaybookContentRequest = body({
  content: z.string({ error: "'content' must be the YAML text of the playbook" }),
})

const diagnostic = anyObject.meta({ description: 'What is worth a look, with line and column' })

export const Registered = z.object({
  status: z.literal('success'),
  message: z.string(),
  path: z.string(),
  version: z.int(),
  catalog_id: textId,
  kind: z.string(),
  warnings: z.array(diagnostic),
})

export const CatalogEntry = z.object({
  catalog_id: textId,
  path: z.string(),
  version: z.int(),
  kind: z.string(),
  content: z.string(),
  layout: anyValue,
  payload: anyValue,
  meta: anyValue,
  created_at: instant,
  archived_at: instant.nullish(),
})

export const CatalogPage = z.object({
  entries: z.array(CatalogEntry),
  next_cursor: textId
    .nullish()
    .meta({ description: 'Null on the last page; only there when a limit was given' }),
})

export const CatalogVersions = z.object({
  status: z.literal('success'),
  message: z.string(),
  path: z.string(),
  deleted: z.array(z.object({ catalog_id: textId, version: z.int(), archived: z.boolean() })),
  count,
})

export const CatalogRestored = z.object({
  status: z.literal('success'),
  message: z.string(),
  path: z.string(),
  restored: z.array(z.object({ catalog_id: textId, version: z.int() })),
  deleted: z.array(z.object({ catalog_id: textId, version: z.int() })),
  count,
})

export const PlaybookContent = z.object({
  catalog_id: textId,
  path: z.string(),
  version: z.int(),
  kind: z.string(),
  content: z.string(),
})

const UiField = z.object({
  name: z.string(),
  kind: z.enum(['boolean', 'integer', 'number', 'null', 'object', 'array', 'string', 'enum']),
  default: anyValue,
  description: z.string().nullable(),
  secret: z.boolean(),
  credential_glob: z.string().nullable(),
  options: z.array(z.string()).nullable(),
  children: z.array(anyObject).nullable().meta({ description: 'The fields of an object, in the same shape' }),
})

export const UiSchemaAnswer = z.object({
  path: z.string(),
  version: z.int(),
  kind: z.string(),
  title: z.string().nullable(),
  description_markdown: z.string().nullable(),
  exposed_in_ui: z.boolean(),
  fields: z.array(UiField),
  generated_at: instant,
})

export const ValidateRequest = z.object({
  content: z.string({ error: "'content' must be the YAML text of the playbook, or base64 of it" }),
})

export const Verdict = z.object({
  valid: z.boolean(),
  problems: z.array(diagnostic),
  errors: z.array(z.string()).meta({ description: 'The messages of the problems' }),
  warnings: z.array(diagnostic),
  playbook: z.object({ name: z.string(), path: z.string(), steps: count }).optional(),
})
