/** Writes docs/playbook.schema.json, the schema of the playbook language for editors: `npm run playbook-schema`. */
import { writeFileSync } from 'node:fs'
import { PLAYBOOK_SCHEMA } from '../src/playbook/schema/playbook-schema.ts'
import { schemaText } from '../src/playbook/schema/schema-text.ts'

writeFileSync(new URL('../docs/playbook.schema.json', import.meta.url), schemaText(PLAYBOOK_SCHEMA))
console.log('docs/playbook.schema.json is written')
