/** `noetl validate`: everything the parser has to say about playbook files, without running any. */
import type { Json } from '../contract/json.ts'
import { ProblemError } from '../contract/problem.ts'
import { parsePlaybook } from '../playbook/parse.ts'
import type { Diagnostic } from '../playbook/problem.ts'
import { countOf, diagnosticLines } from './diagnostics.ts'
import { errorLine, EXIT } from './failure.ts'
import { readText } from './read-text.ts'
import type { Terminal } from './terminal.ts'

export interface ValidateFlags {
  readonly files: readonly string[]
  readonly json: boolean
}

/** The exit code is 0 only when every file is a valid playbook; warnings do not count. */
export const validatePlaybooks = ({ files, json }: ValidateFlags, terminal: Terminal): number => {
  const results = files.map(check)
  if (json) {
    const answer = results.map(({ file, valid, diagnostics }): Json => ({
      file,
      valid,
      diagnostics: diagnostics.map((one) => ({ ...one })),
    }))
    terminal.out(JSON.stringify(answer, null, 2))
  } else {
    for (const { file, text, valid, diagnostics } of results) {
      if (text === null) {
        terminal.err(errorLine(diagnostics[0]?.message ?? file, terminal))
        continue
      }
      for (const line of diagnosticLines(file, text, diagnostics, terminal)) terminal.err(line)
      terminal.out(verdict(file, valid, diagnostics, terminal))
    }
  }
  return results.every(({ valid }) => valid) ? EXIT.ok : EXIT.usage
}

interface Checked {
  readonly file: string
  /** Null for a file that cannot be read. */
  readonly text: string | null
  readonly valid: boolean
  readonly diagnostics: readonly Diagnostic[]
}

const check = (file: string): Checked => {
  try {
    const text = readText(file)
    const parsed = parsePlaybook(text)
    return { file, text, valid: parsed.ok, diagnostics: parsed.ok ? parsed.warnings : parsed.problems }
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    const unreadable = { severity: 'error', code: 'FILE', message: error.message } as const
    return { file, text: null, valid: false, diagnostics: [{ ...unreadable, line: 1, column: 1, path: '' }] }
  }
}

const verdict = (
  file: string,
  valid: boolean,
  diagnostics: readonly Diagnostic[],
  { style }: Terminal,
): string => {
  const count = (severity: Diagnostic['severity']): number =>
    diagnostics.filter((one) => one.severity === severity).length
  const warnings = count('warning')
  const aside = warnings > 0 ? `, ${countOf(warnings, 'warning')}` : ''
  return valid
    ? `${style.green('valid')}    ${file}${aside}`
    : `${style.red('invalid')}  ${file}: ${countOf(count('error'), 'error')}${aside}`
}
