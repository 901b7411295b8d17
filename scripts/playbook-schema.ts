/**
 * Writes what is made from the declarations of the language, `npm run playbook-schema`: docs/playbook.schema.json, the schema
 * for editors, and docs/tools.md, the reference of the tools.
 */
import { writeFileSync } from 'node:fs'
import { PLAYBOOK_SCHEMA } from '../src/playbook/schema/playbook-schema.ts'
import { schemaText } from '../src/playbook/schema/schema-text.ts'
import { toolsPage } from '../src/playbook/schema/tools-page.ts'

const write = (name: string, text: string): void => {
  writeFileSync(new URL(`../docs/${name}`, import.meta.url), text)
  console.log(`docs/${name} is written`)
}

write('playbook.schema.json', schemaText(PLAYBOOK_SCHEMA))
write('tools.md', toolsPage())
