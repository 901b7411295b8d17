/** What the help of several commands says in the same words. */

/** Which server is asked: the same for all commands that ask one. */
export const WHICH_SERVER =
  'Asks the server of the data directory or at http://127.0.0.1:8082 if one is up, else starts one for this command.'

/** What stands below the flags: examples, and what there is to know. */
export const helpAfter = (examples: readonly string[], ...notes: readonly string[]): string =>
  ['', 'Examples:', ...examples.map((line) => `  ${line}`), ...notes.flatMap((note) => ['', note])].join('\n')
