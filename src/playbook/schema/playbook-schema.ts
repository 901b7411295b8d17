/**
 * The JSON Schema (draft 2020-12) of the playbook language, for editors and other tools.
 *
 * 1. It accepts every document that the parser accepts. It cannot see everything the parser sees (template syntax,
 *    names of steps, duplicates), so it accepts some that the parser refuses.
 * 2. Unknown keys are allowed, as they are only warnings; older spellings are accepted and marked as deprecated.
 * 3. Every key has a title and a description, which editors show.
 * 4. Keywords mean the same in drafts 7 to 2020-12, because many editors know only an older draft.
 */
import { documentDefinitions, documentSchema } from './document.ts'
import { loopDefinitions } from './loop.ts'
import { nextDefinitions } from './next.ts'
import type { Schema } from './parts.ts'
import { policyDefinitions } from './policy.ts'
import { setDefinitions } from './set.ts'
import { stepDefinitions } from './step.ts'
import { toolDefinitions } from './tool.ts'

export const PLAYBOOK_SCHEMA: Schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  ...documentSchema,
  $defs: {
    ...documentDefinitions,
    ...stepDefinitions,
    ...toolDefinitions,
    ...loopDefinitions,
    ...nextDefinitions,
    ...policyDefinitions,
    ...setDefinitions,
  },
}
