/** What the readers of the document's parts share while one document is read. */
import type { Report } from './report.ts'
import type { TemplateCheck } from './template-check.ts'
import type { MapField } from './reader.ts'

export interface ReadContext {
  readonly report: Report
  readonly templates: TemplateCheck
  readonly stepNames: ReadonlySet<string>
  /** Names that templates may read because the document defines them; readers add to it. */
  readonly defined: Set<string>
  /** Reusable tools by name. */
  readonly workbook: ReadonlyMap<string, MapField>
  /** Names of the reusable tools that some step refers to; readers add to it. */
  readonly usedTools: Set<string>
}
