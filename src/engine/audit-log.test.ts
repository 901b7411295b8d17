/** What a log says must be stored beside it. Numbers are rules of `audit-log.ts`. */
import { describe, expect, it } from 'vitest'
import type { EventRecord } from '../contract/event.ts'
import { anEvent } from '../contract/testing/event.ts'
import type { JsonObject } from '../contract/json.ts'
import { contextReference, createWaits, referenceIn, waitingForChild } from './audit-log.ts'
import { evolve } from './evolve.ts'
import { createState } from './state.ts'
import type { Happening } from './testing/inputs.ts'
import { cancelled, completed, parked, started } from './testing/inputs.ts'
import { aPlaybook } from './testing/playbook.ts'
import { createSimulation } from './testing/simulation.ts'

const graph = aPlaybook(`
  - {step: start, tool: {kind: noop}, next: [a, b]}
  - {step: a, tool: {kind: container}}
  - {step: b, tool: {kind: playbook, path: x}}`)

const audited = (...happenings: readonly Happening[]) => {
  const simulation = createSimulation(graph)
  for (const happening of [started(), completed('start'), ...happenings]) simulation.tell(happening)
  const state = createState(simulation.state().executionId)
  const waits = createWaits()
  for (const event of simulation.events) {
    evolve(state, event)
    waits.see(event, state)
  }
  return {
    timed: waits.timed(state).map((id) => id.split(':')[1]),
    forChild: waitingForChild(state).map(({ step }) => step),
  }
}

describe('waits', () => {
  it('have a timer while they last, if they have a limit (1)', () => {
    expect(audited().timed).toEqual([])
    expect(audited(parked('a', 9000), parked('b', null)).timed).toEqual(['a'])
    expect(audited(parked('a', 9000), parked('b', 100)).timed).toEqual(['a', 'b'])
    expect(audited(parked('a', 9000), completed('a')).timed).toEqual([])
    expect(audited(parked('a', 9000), cancelled()).timed).toEqual([])
  })

  it('of sub-playbooks are for the child (2)', () => {
    expect(audited().forChild).toEqual([])
    expect(audited(parked('a', 9000), parked('b', 100)).forChild).toEqual(['b'])
  })
})

const REF = 'noetl://execution/500/result/a/7'
const marker = { _ref: REF, _store: 'kv', _size_bytes: 10 }

const event = (eventType: string, context: JsonObject, meta: JsonObject = {}): EventRecord =>
  anEvent({
    eventType,
    nodeName: 'a',
    status: 'COMPLETED',
    result: { status: 'COMPLETED', context },
    meta,
  })

const found = { ref: REF, name: 'a', resultId: '7', bytes: 10, sha256: null }

describe('references', () => {
  it('stand where data of reports, of kept steps and of the end stands, with what is said of them', () => {
    const inner = { status: 'success', context: { data: marker } }
    expect(referenceIn(event('command.completed', { result: inner }))).toEqual(found)
    expect(referenceIn(event('step.kept', { data: marker }))).toEqual(found)
    expect(referenceIn(event('playbook.completed', { data: marker }))).toEqual(found)
    const reference = { kind: 'result_ref', ref: REF, meta: { bytes: 11, sha256: 'abc' } }
    expect(referenceIn(event('command.completed', { result: { ...inner, reference } }))).toEqual({
      ...found,
      bytes: 11,
      sha256: 'abc',
    })
    expect(contextReference('500', REF)).toEqual({ ...found, bytes: null })
  })

  it('are no other data, no iteration and no other type of event (3)', () => {
    const result = { status: 'success', context: { data: { deeper: marker } } }
    expect(referenceIn(event('command.completed', { result }))).toBeNull()
    expect(referenceIn(event('command.completed', { data: marker }, { command_id: '500:a:3:i1' }))).toBeNull()
    expect(referenceIn(event('note', { data: marker }))).toBeNull()
    expect(referenceIn(event('command.completed', { data: { _ref: REF } }))).toBeNull()
  })

  it('to results of other executions are not judged (4)', () => {
    const foreign = 'noetl://execution/501/result/a/7'
    expect(referenceIn(event('step.kept', { data: { ...marker, _ref: foreign } }))).toBeNull()
    expect(contextReference('500', foreign)).toBeNull()
  })
})
