/** Who asked for something is written beside the event that records it, and decides nothing. */
import { expect, it } from 'vitest'
import { encodeState } from './snapshot.ts'
import type { Happening } from './testing/inputs.ts'
import { cancelled, completed, started, variablesWritten } from './testing/inputs.ts'
import { aPlaybook } from './testing/playbook.ts'
import { createSimulation } from './testing/simulation.ts'

const graph = aPlaybook(`
  - {step: start, tool: {kind: noop}, next: b}
  - {step: b, tool: {kind: noop}}`)

const by =
  (actor: string | undefined, happening: Happening): Happening =>
  (state) => ({ ...happening(state), ...(actor === undefined ? {} : { actor }) })

const life = (actor?: string) => {
  const simulation = createSimulation(graph)
  simulation.tell(by(actor, started()))
  simulation.tell(completed('start'))
  simulation.tell(by(actor, variablesWritten({ a: 1 })))
  simulation.tell(by(actor, cancelled('enough')))
  return simulation
}

it('is on the events that were asked for and on no other', () => {
  const signed = life('ci/operator').events.filter(({ meta }) => 'actor' in meta)
  expect(signed.map(({ eventType, meta }) => [eventType, meta['actor']])).toEqual([
    ['playbook_started', 'ci/operator'],
    ['ctx.updated', 'ci/operator'],
    ['playbook_cancelled', 'ci/operator'],
  ])
})

it('changes neither the state nor any other event', () => {
  const [signed, unsigned] = [life('ci/operator'), life()]
  expect(encodeState(signed.state())).toEqual(encodeState(unsigned.state()))
  const withoutActor = signed.events.map((event) => ({
    ...event,
    meta: Object.fromEntries(Object.entries(event.meta).filter(([name]) => name !== 'actor')),
  }))
  expect(withoutActor).toEqual(unsigned.events)
})

it('is not written for what was refused', () => {
  const simulation = life()
  expect(simulation.tell(by('ci/operator', cancelled('again'))).events).toEqual([])
})
