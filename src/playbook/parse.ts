/**
 * YAML text to the normalised playbook, or to all its problems at once.
 *
 * 1. The answer is total: no input makes it throw.
 * 2. A playbook is given only when there is no error; warnings never refuse.
 * 3. A step with `case` is reported before anything else.
 */
import { createReport } from './report.ts'
import type { Report } from './report.ts'
import type { ReadContext } from './context.ts'
import { endlessCycles } from './cycles.ts'
import { readExecutor } from './executor.ts'
import { checkKeychain } from './keychain-check.ts'
import { readKeychain, readMetadata, readVersions, readWorkload } from './header.ts'
import type { Playbook } from './model.ts'
import { unreachableSteps, warnReservedName, warnStepName, warnUnknownNames } from './names.ts'
import type { Diagnostic } from './problem.ts'
import { asMap, child, items, isMapField, keyAt, ownedBy, rootField, warnUnknownKeys } from './reader.ts'
import type { Field, MapField } from './reader.ts'
import { readStep } from './step.ts'
import { readTask } from './task.ts'
import { createTemplateCheck } from './template-check.ts'
import { readWorkbook } from './workbook.ts'
import { loadYaml } from './yaml-load.ts'

export type ParseResult =
  | { readonly ok: true; readonly playbook: Playbook; readonly warnings: readonly Diagnostic[] }
  | {
      readonly ok: false
      /** `yaml`: the text is not YAML. `invalid`: it is YAML, but not a valid playbook. */
      readonly kind: 'yaml' | 'invalid'
      /** Errors first, then warnings. */
      readonly problems: readonly Diagnostic[]
    }

export const parsePlaybook = (text: string): ParseResult => {
  const report = createReport(text)
  const yaml = loadYaml(text, report)
  if (!yaml.ok) return { ok: false, kind: yaml.kind, problems: report.sorted() }
  const document = asDocument(rootField(yaml.root), report)
  const playbook = document === null ? null : readPlaybook(document, text, report)
  if (playbook === null || report.hasErrors())
    return { ok: false, kind: 'invalid', problems: report.sorted() }
  return { ok: true, playbook, warnings: report.sorted() }
}

const asDocument = (root: Field, report: Report): MapField | null => {
  if (isMapField(root)) return root
  report.error('PARSE', root, 'A playbook is a mapping with apiVersion, kind, metadata and workflow')
  return null
}

const DOCUMENT_KEYS = [
  'apiVersion',
  'kind',
  'metadata',
  'workload',
  'keychain',
  'workbook',
  'workflow',
  'executor',
  'vars',
]

const readPlaybook = (document: MapField, text: string, report: Report): Playbook => {
  const elements = readElements(document, report)
  readVersions(document, report)
  const identity = readMetadata(document, report)
  const stepNames = new Set(elements.flatMap(({ name }) => name ?? []))
  const { executor, entry, hasEntry } = readExecutor(child(document, 'executor'), stepNames, report)
  const workflow = child(document, 'workflow')
  if (workflow?.node.kind === 'list' && !hasEntry && !stepNames.has('start')) {
    const message = "Workflow must have a step named 'start'; name one so, or set executor.spec.entry_step"
    report.error('NO_START', workflow, message)
  }
  reportDuplicates(elements, report)
  const context: ReadContext = {
    report,
    templates: createTemplateCheck(text, report),
    stepNames,
    defined: new Set(),
    workbook: readWorkbook(child(document, 'workbook'), report),
    usedTools: new Set(),
  }
  const workload = readWorkload(document, context)
  const keychain = readKeychain(document, report)
  checkKeychain(document, context)
  const steps = elements.map(({ name, field }) => readStep(field, name ?? '', context))
  checkUnusedTools(context)
  const playbook = { ...identity, workload, keychain, executor, steps, entry: entry ?? 'start' }
  advise(document, elements, playbook, context)
  return playbook
}

/** An element of `workflow` with its name. */
interface Element {
  /** Null when it has none; the rest of it is checked all the same. */
  readonly name: string | null
  readonly field: MapField
}

const readElements = (document: MapField, report: Report): readonly Element[] => {
  const workflow = child(document, 'workflow')
  if (workflow === null) {
    report.error('PARSE', document, "The playbook has no 'workflow'; add a list of steps")
    return []
  }
  if (workflow.node.kind !== 'list') {
    report.error('PARSE', workflow, "'workflow' must be a list of steps; start each with - step: name")
    return []
  }
  return items(workflow).flatMap((item) => readElement(item, report))
}

const readElement = (item: Field, report: Report): readonly Element[] => {
  const element = asMap(item, report, '; start it with - step: name')
  if (element === null) return []
  const field = child(element, 'step')
  const name = field?.node.kind === 'scalar' ? field.node.text.trim() : ''
  const owner = name === '' ? item.path : `Step '${name}'`
  const step = ownedBy(element, owner)
  if (step.node.entries.has('case')) {
    report.error(
      'CASE_NOT_ALLOWED',
      keyAt(step, 'case'),
      "'case' is not part of the language; route with next: {arcs: [{step, when}]}",
    )
  }
  if (name !== '') return [{ name, field: step }]
  const hint = child(element, 'name') === null ? '' : "; write 'step' instead of 'name'"
  report.error(
    'PARSE',
    { ...step, offset: (field ?? step).offset },
    `the step has no name; add step: name${hint}`,
  )
  return [{ name: null, field: step }]
}

const reportDuplicates = (elements: readonly Element[], report: Report): void => {
  const seen = new Set<string>()
  for (const { name, field } of elements) {
    if (name === null) continue
    const at = { ...(child(field, 'step') ?? field), owner: '' }
    if (seen.has(name)) report.error('DUPLICATE_STEP', at, `Duplicate step name: ${name}`)
    seen.add(name)
  }
}

/** Tools of the workbook that no step uses are read too, so that their mistakes show. */
const checkUnusedTools = (context: ReadContext): void => {
  for (const [name, tool] of context.workbook) {
    if (!context.usedTools.has(name)) readTask(tool, { labels: [name], index: 0 }, context)
  }
}

/** Everything that is only worth a warning, after the whole document is known. */
const advise = (
  document: MapField,
  elements: readonly Element[],
  playbook: Playbook,
  context: ReadContext,
): void => {
  warnUnknownKeys(document, DOCUMENT_KEYS, context.report)
  if (document.node.entries.has('vars')) {
    context.report.warn(
      'ignored-key',
      keyAt(document, 'vars'),
      "'vars' has no effect here; put defaults into 'workload'",
    )
  }
  const workload = child(document, 'workload')
  if (workload !== null) {
    for (const key of Object.keys(playbook.workload)) {
      warnReservedName('the workload key', key, keyAt(workload, key), context)
    }
  }
  const unreachable = new Set(unreachableSteps(playbook))
  // A misspelt arc leaves its target unconnected; the error says enough.
  const isSound = !context.report.hasErrors()
  for (const { name, field } of elements) {
    if (name === null) continue
    const at = child(field, 'step') ?? field
    warnStepName(name, at, context)
    if (!isSound || !unreachable.has(name)) continue
    const message = `nothing leads to it from '${playbook.entry}'; add an arc, or remove the step`
    context.report.warn('unreachable-step', at, message)
  }
  if (isSound) warnEndlessCycles(elements, playbook, context)
  warnUnknownNames(context)
}

const MOST_NAMES = 8

const warnEndlessCycles = (
  elements: readonly Element[],
  playbook: Playbook,
  { report }: ReadContext,
): void => {
  const fields = new Map(elements.map(({ name, field }) => [name, field]))
  for (const cycle of endlessCycles(playbook)) {
    const field = fields.get(cycle[0] ?? null)
    if (field === undefined) continue
    const shown = cycle.length > MOST_NAMES ? [...cycle.slice(0, MOST_NAMES), '…'] : cycle
    const message =
      `no arc leads out of the cycle ${[...shown, cycle[0]].join(' → ')}, so it goes round until the limit of step runs fails it; ` +
      "put a 'when' on one of its arcs, or add an arc to a step outside"
    report.warn('endless-cycle', child(field, 'step') ?? field, message)
  }
}
