import { expect, test } from 'vitest'
import type { Playbook } from '../playbook/model.ts'
import { requirementsOf, toolCapability } from './requirements.ts'

const playbook = (requires: object): Playbook => ({ executor: { requires } }) as unknown as Playbook

test('tools and features become words; what the control plane provides is none of them', () => {
  expect(
    requirementsOf(playbook({ tools: ['http', 'duckdb', 'http'], features: ['gpu', 'result_storage'] })),
  ).toEqual([toolCapability('http'), toolCapability('duckdb'), 'gpu'])
})

test('nothing required, and what is not text, requires nothing', () => {
  expect(requirementsOf(playbook({}))).toEqual([])
  expect(requirementsOf(playbook({ tools: [7, null], features: [{}] }))).toEqual([])
})
