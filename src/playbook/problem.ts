/** What the parser has to say about a document, with its place. Errors refuse the playbook, warnings do not. */
export interface Diagnostic {
  readonly severity: 'error' | 'warning'
  /** Stable word, upper case for errors of the language definition (`NEXT_UNKNOWN`), lower case kebab for warnings. */
  readonly code: string
  readonly message: string
  /** Place in the YAML text, 1-based. */
  readonly line: number
  readonly column: number
  /** Where in the document, for people: `workflow[2].next.arcs[0].when` or `step 'fetch'`. */
  readonly path: string
}
