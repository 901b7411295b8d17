/** Diagnostics as one line of text, the way compilers print them. */
import type { Diagnostic } from './problem.ts'

/** `12:7 error NEXT_UNKNOWN Step 'fetch': …` */
export const formatDiagnostic = (diagnostic: Diagnostic): string =>
  `${diagnostic.line}:${diagnostic.column} ${diagnostic.severity} ${diagnostic.code} ${diagnostic.message}`
