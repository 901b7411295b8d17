/**
 * Logs of the past keep their meaning. A difference in the state says that executions which are running somewhere
 * would go on differently after an update; a difference in the decisions says that new executions take another
 * way. The second may be wanted, the first hardly ever: see scripts/record-histories.ts.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../contract/json.ts'
import { encodeState } from './snapshot.ts'
import { decideAgain } from './testing/history.ts'
import type { History } from './testing/history.ts'
import { graphOf } from './testing/playbook.ts'
import { fold } from './testing/simulation.ts'

const FOLDER = new URL('../../test/histories/', import.meta.url)
const files = readdirSync(FOLDER).filter((file) => file.endsWith('.json'))

describe.each(files)('the history %s', (file) => {
  const { playbook, turns, state } = JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as History & {
    state: JsonObject
  }

  it('folds to the state it had', () => {
    const folded = fold(turns.flatMap(({ events }) => events))
    // State may gain fields with time; those that were there keep their values.
    const { format: _format, ...known } = state
    expect(JSON.parse(encodeState(folded))).toMatchObject(known)
  })

  it('is decided the same way again', () => {
    const graph = graphOf(playbook)
    const past: History['turns'][number]['events'][number][] = []
    for (const turn of turns) {
      const { reply, events } = decideAgain(graph, past, turn)
      expect(JSON.parse(JSON.stringify({ reply, events }))).toEqual({
        reply: turn.reply,
        events: turn.events,
      })
      past.push(...turn.events)
    }
  })
})

it('histories are there to be checked', () => {
  expect(files.length).toBeGreaterThanOrEqual(10)
})
