/** Every tool kind with what an editor says about it. The type makes sure that none is missing. */
import type { TOOL_KINDS } from '../kinds.ts'
import { codeKinds } from './kind-code.ts'
import { dataKinds } from './kind-data.ts'
import type { KindNotes } from './kind-field.ts'
import { flowKinds } from './kind-flow.ts'
import { serviceKinds } from './kind-service.ts'

export const KIND_NOTES: Readonly<Record<(typeof TOOL_KINDS)[number], KindNotes>> = {
  ...serviceKinds,
  ...dataKinds,
  ...codeKinds,
  ...flowKinds,
}
