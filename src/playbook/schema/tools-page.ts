/** docs/tools.md: the reference of every kind of tool, from the same declarations that check their blocks. */
import { stringify } from 'yaml'
import { TOOL_DECLARATIONS, unavailableText } from '../../contract/tools/all.ts'
import { typeWords } from '../../contract/tools/check-fields.ts'
import { COMMON_FIELDS } from '../../contract/tools/tool-declaration.ts'
import type { ToolDeclaration, ToolField, ToolFields } from '../../contract/tools/tool-declaration.ts'

const INTRODUCTION = `# Tools

Every kind of tool with its fields, from the declarations in \`src/contract/tools\`; \`npm run playbook-schema\` writes this page
anew. How tools are used in steps and pipelines is in [playbooks.md](playbooks.md).

A field that a kind does not have is a warning when the playbook is registered; a literal of the wrong type is an error. What a
template gives is checked when the tool runs, and a mistake is an error of kind \`config\` that names the field. Null and empty text
mean "not given".

## Large numbers

A whole number beyond 2^53 - 1, which a double does not hold exactly, is a text of its digits: from a \`bigint\` column, in JSON that
an API, a program or Python code gave, in YAML and in a payload. That is so everywhere and for as long as the value lives, so that no
digit is lost and what was stored is what was there; smaller numbers stay numbers. In templates \`{{ id | int + 1 }}\` calculates
with all digits, in Python \`int(id)\` does, and SQL takes the text as a parameter of a \`bigint\`. A service that wants a number in
its body gets one from JSON that is written as text: \`json: '{"id": {{ id }}}'\`.

## Private addresses

With \`NOETL_HTTP_ALLOW_PRIVATE_ADDRESSES=false\` a worker does not call loopback, private and link-local addresses by the word of
a playbook. That goes for \`http\`, \`transfer\`, \`mcp\`, scripts behind an address (\`python\`, \`shell\`, \`script\`, \`postgres\`,
\`duckdb\`, \`ducklake\`), for \`secrets\` from a Vault that a credential names, and for tokens of the keychain; for names that lead
there, and for redirects. It fails with \`ADDRESS_BLOCKED\`. Addresses that the worker itself is set up with may be private:
\`NOETL_MCP_…\`, \`VAULT_ADDR\`. Connections to databases and NATS are not HTTP and are not checked; nor is what code does on its own (\`python\`,
\`shell\`, \`container\`, SQL of DuckDB that reads an address): keep that in with the network.
`

/** Text inside a cell of a table. */
const cell = (text: string): string => text.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ')

const code = (text: string): string => `\`${text}\``

const nameCell = (name: string, { aliases = [], older = [], required = false }: ToolField): string => {
  const others = [...aliases, ...older].map(code).join(', ')
  return `${code(name)}${others === '' ? '' : `, ${others}`}${required ? ' (required)' : ''}`
}

const descriptionCell = (field: ToolField): string => {
  const { description, words } = field
  const listed = words === undefined ? '' : ` One of ${words.map(code).join(', ')}.`
  return cell(`${description}${listed}`)
}

const fieldTable = (fields: ToolFields): string => {
  const rows = Object.entries(fields).map(
    ([name, field]) => `| ${nameCell(name, field)} | ${cell(typeWords(field))} | ${descriptionCell(field)} |`,
  )
  return ['| field | type | |', '|---|---|---|', ...rows].join('\n')
}

const exampleBlock = ({ kind, examples }: ToolDeclaration): string => {
  const blocks = examples.map((example) => stringify({ tool: { kind, ...example } }, { lineWidth: 110 }))
  return `\`\`\`yaml\n# fragment\n${blocks.join('---\n')}\`\`\``
}

const dataNames = (names: string): string =>
  names
    .split(', ')
    .map((name) => (name === '…' ? name : code(name)))
    .join(', ')

const dataList = (data: Readonly<Record<string, string>>): string =>
  `*Data*: ${Object.entries(data)
    .map(([name, text]) => `${dataNames(name)} (${text})`)
    .join('; ')}.`

const section = (declaration: ToolDeclaration): string => {
  const { kind, description, fields, data, notes = [] } = declaration
  const unavailable = unavailableText(kind)
  const parts = [
    `## ${kind}`,
    description,
    ...(unavailable === null
      ? []
      : [
          `**Not run by this worker.** It needs ${declaration.unavailable}. A step of this kind fails with \`TOOL_UNAVAILABLE\`.`,
        ]),
    ...(Object.keys(fields).length === 0 ? [] : [fieldTable(fields)]),
    ...(data === undefined ? [] : [dataList(data)]),
    ...notes,
    exampleBlock(declaration),
  ]
  return `${parts.join('\n\n')}\n`
}

export const toolsPage = (): string => {
  const [available, others] = [false, true].map((isMissing) =>
    TOOL_DECLARATIONS.filter(({ unavailable }) => (unavailable !== undefined) === isMissing).sort((a, b) =>
      a.kind < b.kind ? -1 : 1,
    ),
  ) as [ToolDeclaration[], ToolDeclaration[]]
  return [
    INTRODUCTION,
    `## Fields of every kind\n\n${fieldTable(COMMON_FIELDS)}\n`,
    ...available.map(section),
    ...others.map(section),
  ].join('\n')
}
