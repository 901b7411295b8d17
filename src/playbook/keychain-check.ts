/**
 * Checks of the `keychain` block beyond its shape.
 *
 * 1. Templates of its entries compile. They can read the workload and other entries; anything of the run is not there yet.
 * 2. A kind that nobody knows is worth a word, and so is a request without an address.
 * 3. Entries that need each other in a circle can never be made: that is an error.
 */
import type { ReadContext } from './context.ts'
import { asList, child, children, isMapField } from './reader.ts'
import type { Field, MapField } from './reader.ts'
import { didYouMean } from './suggest.ts'
import { templateReads } from './template-roots.ts'

const KINDS = [
  'static',
  'bearer',
  'credential',
  'credential_ref',
  'secret_manager',
  'secrets',
  'secret',
  'oauth2',
  'http',
  'google_id_token',
]
const WITH_ENDPOINT = ['oauth2', 'http']

const textOf = (field: Field | null): string | null =>
  field?.node.kind === 'scalar' && field.node.text !== '' ? field.node.text : null

const checkKind = (entry: MapField, { report }: ReadContext): void => {
  const field = child(entry, 'kind')
  const kind = textOf(field)
  if (field === null || kind === null) return
  if (!KINDS.includes(kind.toLowerCase())) {
    const message = `'${field.label}' is '${kind}', which workers do not know.${didYouMean(kind, KINDS)} Known kinds are ${KINDS.join(', ')}`
    report.warn('keychain-kind', field, message)
  }
  const hasAddress = ['endpoint', 'url', 'token_url'].some((key) => textOf(child(entry, key)) !== null)
  if (WITH_ENDPOINT.includes(kind.toLowerCase()) && !hasAddress) {
    report.warn(
      'keychain-endpoint',
      entry,
      `'${entry.label}' has no 'endpoint'; say where the token comes from`,
    )
  }
}

const checkTemplates = (entry: MapField, { report, templates, stepNames, defined }: ReadContext): void => {
  for (const [key, field] of children(entry)) {
    if (key === 'name' || key === 'kind') continue
    templates.value(field, 'KEYCHAIN_TEMPLATE')
    for (const { field: at, path } of templateReads(field)) {
      const [root = ''] = path
      if (!stepNames.has(root) || defined.has(root)) continue
      const message = `'${at.label}' reads the step '${root}'; an entry of the keychain can read the workload and other entries`
      report.warn('keychain-scope', at, message)
    }
  }
}

/** Names of other entries that an entry needs; how it renews itself is another matter. */
const needsOf = (entry: MapField): readonly string[] =>
  children(entry)
    .filter(([key]) => key !== 'renew_config')
    .flatMap(([, field]) => templateReads(field))
    .flatMap(({ path: [root, alias] }) => (root === 'keychain' && alias !== undefined ? [alias] : []))

/**
 * Every circle once, as the way from one of its entries back to it. Walks without recursion: a document may have as many
 * entries as it likes.
 */
const circlesIn = (needs: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] => {
  const done = new Set<string>()
  const circles: string[][] = []
  for (const start of needs.keys()) {
    const way: string[] = []
    const onWay = new Set<string>()
    const pending: { readonly name: string; next: number }[] = done.has(start)
      ? []
      : [{ name: start, next: 0 }]
    for (let top = pending.at(-1); top !== undefined; top = pending.at(-1)) {
      if (top.next === 0) {
        way.push(top.name)
        onWay.add(top.name)
      }
      const needed = needs.get(top.name)?.[top.next]
      top.next += 1
      if (needed === undefined) {
        pending.pop()
        onWay.delete(way.pop() ?? '')
        done.add(top.name)
      } else if (onWay.has(needed)) circles.push([...way.slice(way.indexOf(needed)), needed])
      else if (needs.has(needed) && !done.has(needed)) pending.push({ name: needed, next: 0 })
    }
  }
  return circles
}

const checkCircles = (entries: ReadonlyMap<string, MapField>, { report }: ReadContext): void => {
  const needs = new Map([...entries].map(([name, entry]) => [name, needsOf(entry)]))
  for (const circle of circlesIn(needs)) {
    const [name = ''] = circle
    const entry = entries.get(name)
    if (entry === undefined) continue
    report.error('KEYCHAIN_CYCLE', entry, `the keychain entry '${name}' needs itself: ${circle.join(' → ')}`)
  }
}

export const checkKeychain = (document: MapField, context: ReadContext): void => {
  const block = child(document, 'keychain')
  if (block?.node.kind !== 'list') return
  const byName = new Map<string, MapField>()
  for (const entry of asList(block, context.report)) {
    if (!isMapField(entry)) continue
    checkKind(entry, context)
    checkTemplates(entry, context)
    const name = textOf(child(entry, 'name'))
    // Of two with one name the first counts.
    if (name !== null && !byName.has(name)) byName.set(name, entry)
  }
  checkCircles(byName, context)
}
