import { expect, test } from 'vitest'
import type { ReplayFlags } from './replay.ts'
import { showReplay } from './replay.ts'
import { createRecordingTerminal } from './testing/recording-terminal.ts'

const FLAGS: ReplayFlags = {
  execution: '324000000000000000',
  asOfEvent: null,
  asOfTime: null,
  asOfPosition: null,
  projection: 'all',
  resolvePayloads: false,
  json: false,
}

const ANSWER = `{"execution_id":324000000000000001,"event_count":3,"last_event_id":324000000000000003,"last_event_type":"command.completed",
  "execution":{"status":"RUNNING","last_node_name":"work","payload_refs":[{}]},"stages":{},"frames":{},
  "commands":{"a":{"status":"COMPLETED"},"b":{"status":"PENDING"},"c":{"status":"COMPLETED"}},"business_objects":{},
  "loops":{"l":{"loop_id":"l","step_name":"each","total":5,"done":2,"failed":1,"completed":false}},
  "digest":{"algorithm":"noetl-replay-v1","value":"ab"},"last_position":7,"truncated":false}`

const show = async (over: Partial<ReplayFlags>, answer = ANSWER) => {
  const terminal = createRecordingTerminal()
  const asked: Readonly<Record<string, string>>[] = []
  const client = {
    replay: async (query: Readonly<Record<string, string>>) => {
      asked.push(query)
      return answer
    },
  }
  const exitCode = await showReplay({ ...FLAGS, ...over }, client, terminal)
  return { exitCode, asked: asked[0], written: terminal.written() }
}

test('an execution is told in a few lines, with the ids of the log', async () => {
  const { exitCode, written } = await show({})
  expect(exitCode).toBe(0)
  expect(written).toBe(
    [
      'execution 324000000000000001 RUNNING, last at step work',
      '3 events; the last is command.completed (324000000000000003, position 7)',
      'commands: 3 (2 COMPLETED, 1 PENDING)',
      'loop each: 2 done of 5, 1 failed',
      '1 payload reference',
      'noetl-replay-v1 ab',
      '',
    ].join('\n'),
  )
})

test('the whole log is asked for (rule 1), up to the point that was named', async () => {
  expect((await show({})).asked).toEqual({ execution_id: FLAGS.execution, projection: 'all', limit: 'all' })
  expect((await show({ asOfEvent: '7', projection: 'loop' })).asked).toMatchObject({
    as_of_event_id: '7',
    projection: 'loop',
  })
  expect((await show({ asOfTime: '2026-01-01T00:00:00Z' })).asked).toMatchObject({
    as_of_time: '2026-01-01T00:00:00Z',
  })
  expect((await show({ asOfPosition: '12', resolvePayloads: true })).asked).toMatchObject({
    as_of_sequence: '12',
    resolve_payloads: 'true',
  })
})

test('with --json the answer is printed as it came (rule 2)', async () => {
  expect((await show({ json: true })).written).toBe(`${ANSWER}\n`)
})
