/**
 * Examples through the whole product, as a user runs them: the file as it is, with a payload in the place of `--set`.
 *
 * 1. A run with nothing set but where things are answers what docs/examples.md says.
 */
import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import type { JsonObject } from '../../src/contract/json.ts'
import type { PlaybookRun, Product } from '../support/playbook-run.ts'
import { useProduct } from '../support/playbook-run.ts'
import { documentedAnswer } from './documented-answers.ts'

export interface Examples {
  readonly product: Product
  register(example: string): Promise<string>
  /** Starts it and answers the execution id. */
  start(example: string, payload?: JsonObject): Promise<string>
  /** Runs it to its end, however that is. */
  run(example: string, payload?: JsonObject): Promise<PlaybookRun>
  /** The result of a run that must complete. */
  result(example: string, payload?: JsonObject): Promise<unknown>
  /** Stores a credential under its name. */
  credential(request: JsonObject): Promise<void>
  /** Stores the credential that the comments of an example tell to store. */
  credentialOf(example: string): Promise<void>
}

/** Workload keys that say where something is, and nothing else. */
const PLACES: ReadonlySet<string> = new Set(['api', 'db', 'endpoint', 'nats'])

const readExample = (name: string): string =>
  readFileSync(new URL(`../../examples/${name}.yaml`, import.meta.url), 'utf8')

/** Without the comments in front: the product takes a text that begins with its version for a whole playbook. */
const textOfExample = (name: string): string => {
  const text = readExample(name)
  return text.slice(text.indexOf('apiVersion:'))
}

export const useExamples = (): Examples => {
  const product = useProduct()
  const run: Examples['run'] = async (example, payload = {}) => {
    const ended = await product.run(textOfExample(example), { payload })
    const promised = Object.keys(payload).every((key) => PLACES.has(key))
      ? documentedAnswer(example)
      : undefined
    if (promised !== undefined) expect(ended.result).toEqual(promised)
    return ended
  }
  const credential: Examples['credential'] = async (request) => {
    expect((await product.post('/api/credentials', request)).status).toBe(200)
  }
  return {
    product,
    run,
    register: (example) => product.register(textOfExample(example)),
    start: (example, payload = {}) => product.start(textOfExample(example), { payload }),
    result: async (example, payload) => {
      const { status, error, result } = await run(example, payload)
      expect({ status, error }).toEqual({ status: 'COMPLETED', error: null })
      return result
    },
    credential,
    credentialOf: (example) => {
      const told = /^#.*\/api\/credentials .*\n#.* -d '(.*)'$/m.exec(readExample(example))?.[1]
      return credential(JSON.parse(told ?? 'null') as JsonObject)
    },
  }
}
