/** What the templates below a field read, as far as it can be told without rendering them. */
import { compileTemplate, hasTemplateSyntax } from '../template/template.ts'
import { children, isMapField, items } from './reader.ts'
import type { Field } from './reader.ts'

export interface FoundRead {
  readonly field: Field
  /** Root name and members, such as `['keychain', 'shop', 'token']`; only the root when no member is written out. */
  readonly path: readonly string[]
}

export const templateReads = (field: Field): readonly FoundRead[] => {
  if (isMapField(field)) return children(field).flatMap(([, entry]) => templateReads(entry))
  if (field.node.kind === 'list') return items(field).flatMap(templateReads)
  if (field.node.kind !== 'scalar' || !hasTemplateSyntax(field.node.text)) return []
  try {
    const { roots, paths } = compileTemplate(field.node.text)
    const known = new Set(paths.map(([root]) => root))
    const bare = [...roots].filter((root) => !known.has(root)).map((root) => [root])
    return [...paths, ...bare].map((path) => ({ field, path }))
  } catch {
    // A template that does not compile is reported where it is checked.
    return []
  }
}
