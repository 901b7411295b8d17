/** What docs/examples.md says about the examples. */
import { readFileSync } from 'node:fs'

const PAGE = readFileSync(new URL('../../docs/examples.md', import.meta.url), 'utf8')

interface DocumentedExample {
  readonly name: string
  readonly file: string
  readonly shows: string
  readonly needs: readonly string[]
  /** The answer to a run with nothing set, when it is the same each time. */
  readonly answer?: unknown
}

/** A cell that is nothing but code is the answer itself. */
const answerIn = (cell: string): { answer?: unknown } => {
  const code = /^`([^`]+)`$/.exec(cell)?.[1]
  return code === undefined ? {} : { answer: JSON.parse(code) as unknown }
}

export const documentedExamples = (): readonly DocumentedExample[] =>
  [...PAGE.matchAll(/^\| \[([\w-]+)\]\(\.\.\/(\S+)\) \|(.*?)\|(.*?)\|(.*)\|$/gm)].map(
    ([, name = '', file = '', shows = '', needs = '', answers = '']) => ({
      name,
      file,
      shows: shows.trim(),
      needs: needs
        .split(',')
        .map((need) => need.trim())
        .filter((need) => need !== ''),
      ...answerIn(answers.trim()),
    }),
  )

/** Undefined when the page promises no answer in particular. */
export const documentedAnswer = (example: string): unknown =>
  documentedExamples().find(({ name }) => name === example)?.answer
