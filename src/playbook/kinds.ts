/** The tool kinds a playbook may name. Which of them a worker can run is the worker's business. */
import { TOOL_DECLARATIONS } from '../contract/tools/all.ts'

export const TOOL_KINDS: readonly string[] = TOOL_DECLARATIONS.map(({ kind }) => kind)

export const isToolKind = (word: string): boolean => TOOL_KINDS.includes(word)
