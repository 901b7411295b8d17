/** Logs whose fold was worked out by hand: execution, stages and frames. */
import { describe, expect, it, test } from 'vitest'
import { eventsOf, replayed } from '../testing/log.ts'
import { foldEvent, foldEvents } from './fold.ts'
import { createFoldState } from './fold-state.ts'
import { compareEventIds, eventOfRecord, eventOfRow } from './replay-event.ts'

describe('the log as a whole', () => {
  it('counts events and keeps the last one, in the order of ids, each id once (rules 1 and 2)', () => {
    const events = eventsOf([
      { type: 'last', eventId: '10' },
      { type: 'first', eventId: '9' },
      { type: 'again', eventId: '9' },
    ])
    expect(foldEvents(events)).toMatchObject({ eventCount: 2, lastEventId: '10', lastEventType: 'last' })
  })

  it('refuses an event that belongs before the last one, and skips the last one itself (rules 1 and 2)', () => {
    const state = createFoldState()
    const [one, two] = eventsOf([{ type: 'a' }, { type: 'b' }])
    if (!one || !two) throw new Error('no events')
    expect(foldEvent(state, two)).toBe(true)
    expect(foldEvent(state, two)).toBe(false)
    expect(() => foldEvent(state, one)).toThrow(RangeError)
    expect(state.eventCount).toBe(1)
  })

  test.each([
    ['1', '2', -1],
    ['9', '10', -1],
    ['9223372036854775807', '9223372036854775806', 1],
    ['-1', '1', -1],
    ['-10', '-9', -1],
    ['-9', '-10', 1],
    ['5', '5', 0],
  ])('id %s compared with %s gives %s', (left, right, expected) => {
    expect(compareEventIds(left, right)).toBe(expected)
  })
})

describe('the execution', () => {
  const statusOf = (...types: string[]): unknown =>
    (
      replayed(
        'execution',
        types.map((type) => ({ type })),
      ) as { status: string }
    ).status

  test.each([
    [[], 'UNKNOWN'],
    [['playbook_started'], 'UNKNOWN'],
    [['playbook_started', 'command.issued'], 'UNKNOWN'],
    [['step.enter'], 'RUNNING'],
    [['step_enter'], 'RUNNING'],
    [['step_started'], 'RUNNING'],
    [['step.exit'], 'UNKNOWN'],
    [['playbook.completed'], 'COMPLETED'],
    [['playbook_completed'], 'COMPLETED'],
    [['playbook.failed'], 'FAILED'],
    [['playbook_failed'], 'FAILED'],
    [['playbook.cancelled'], 'CANCELLED'],
    [['playbook_cancelled'], 'CANCELLED'],
    [['execution.cancelled'], 'CANCELLED'],
    [['playbook.completed', 'step.enter'], 'COMPLETED'],
    [['playbook.completed', 'playbook.cancelled', 'playbook.failed'], 'FAILED'],
    [['playbook.failed', 'playbook.reopened'], 'RUNNING'],
    [['playbook.failed', 'playbook.reopened', 'playbook.completed'], 'COMPLETED'],
  ])('after %j is %s', (types, expected) => {
    expect(statusOf(...types)).toBe(expected)
  })

  it('keeps the last step that was entered, left or completed', () => {
    expect(
      replayed('execution', [
        { type: 'step.enter', nodeName: 'start' },
        { type: 'command.completed', nodeName: 'work' },
        { type: 'step.exit' },
        { type: 'command.issued', nodeName: 'other' },
        { type: 'playbook.completed', nodeName: 'playbook' },
      ]),
    ).toEqual({ status: 'COMPLETED', last_node_name: 'work', payload_refs: [] })
  })

  it('collects the references of all events, summarised', () => {
    expect(
      replayed('execution', [
        { type: 'note', reference: { uri: 's3://x', sha256: 7, digest: 'd', row_count: 3 } },
        { type: 'note' },
        { type: 'note', reference: 'text' },
        {
          type: 'note',
          reference: {
            sha256: 's',
            rows_ref: {
              ref: 'r',
              meta: { sha256: 'not this', media_type: 'm' },
              ipc: { schema_digest: 'i', media_type: 'n' },
            },
          },
        },
      ]),
    ).toMatchObject({
      payload_refs: [
        { event_id: 1, reference: { uri: 's3://x' }, summary: { sha256: 'd', row_count: 3, ref: 's3://x' } },
        { event_id: 3, reference: 'text', summary: {} },
        { event_id: 4, summary: { sha256: 's', schema_digest: 'i', media_type: 'm', ref: 'r' } },
      ],
    })
  })
})

describe('stages', () => {
  it('open, close with their counts, and tell what else they know', () => {
    expect(
      replayed('stage', [
        {
          type: 'stage.opened',
          nodeName: 'load',
          meta: { stage_id: 's', kind: 'k', parent_stage_id: 1, loop_event_id: 'l' },
        },
        {
          type: 'stage.closed',
          meta: {
            stage_id: 's',
            kind: 'other',
            frame_count: 2,
            row_count: 30,
            events_emitted: '4',
            failed_count: 1.5,
          },
        },
      ]),
    ).toEqual({
      s: {
        stage_id: 's',
        status: 'CLOSED',
        kind: 'k',
        step_name: 'load',
        parent_stage_id: '1',
        loop_event_id: 'l',
        opened_event_id: 1,
        closed_event_id: 2,
        frame_count: 2,
        row_count: 30,
        events_emitted: 0,
        failed_count: 0,
        last_event_id: 2,
      },
    })
  })

  it('take the status of any other event that has one', () => {
    const stage = (status: string | null) =>
      replayed('stage', [
        { type: 'stage.opened', status: 'ignored', meta: { stage_id: 's', step_name: 'by meta' } },
        { type: 'note', status, meta: { stage_id: 's' } },
      ])
    expect(stage('BUSY')).toMatchObject({ s: { status: 'BUSY', step_name: 'by meta', last_event_id: 2 } })
    expect(stage('')).toMatchObject({ s: { status: 'OPEN' } })
    expect(
      replayed('stage', [{ type: 'stage.closed', status: 'FAILED', meta: { stage_id: 's' } }]),
    ).toMatchObject({
      s: { status: 'FAILED', closed_event_id: 1 },
    })
  })

  it('are named by a column, the aggregate or the meta, in this order', () => {
    const names = replayed('stage', [
      {
        type: 'note',
        extra: { stage_id: 12, aggregate_type: 'stage', aggregate_id: 'a' },
        meta: { stage_id: 'm' },
      },
      {
        type: 'note',
        extra: { aggregate_type: 'stage', aggregate_id: 'stage/stage/a' },
        meta: { stage_id: 'm' },
      },
      { type: 'note', extra: { aggregate_type: 'frame', aggregate_id: 'frame/a' }, meta: { stage_id: 'm' } },
      { type: 'note', meta: { stage_id: null } },
      { type: 'note', meta: { stage_id: '' } },
      { type: 'note', meta: { stage_id: true } },
      { type: 'note', meta: { stage_id: { b: 1, a: [2] } } },
      { type: 'note', meta: '{"stage_id": 1.0}' },
      { type: 'note', meta: '{"stage_id": 12345678901234567890}' },
    ])
    expect(Object.keys(names as object).toSorted()).toEqual(
      ['12', 'stage/a', 'm', '', 'true', '{"a":[2],"b":1}', '1.0', '12345678901234567890'].toSorted(),
    )
  })
})

describe('frames', () => {
  it('are dispatched, started and committed', () => {
    expect(
      replayed('frame', [
        { type: 'frame.dispatched', meta: { frame_id: 1, stage_id: 's', parent_frame_id: 'p' } },
        { type: 'frame.dispatched', meta: { frame_id: 1, attempt: 3, command_id: 'c' } },
        { type: 'frame.dispatched', meta: { frame_id: 1, attempt: 2 } },
        { type: 'frame.started', meta: { frame_id: 1 } },
        {
          type: 'frame.committed',
          meta: { frame_id: 1, row_count: 10, events_emitted: 2 },
          reference: { ref: 'r' },
        },
      ]),
    ).toEqual({
      1: {
        frame_id: '1',
        stage_id: 's',
        parent_frame_id: 'p',
        command_id: 'c',
        claimed_event_id: 3,
        terminal_event_id: 5,
        status: 'COMPLETED',
        row_count: 10,
        attempts: 3,
        last_event_id: 5,
        events_emitted: 2,
        output_ref: { ref: 'r' },
        output_ref_summary: { ref: 'r' },
      },
    })
  })

  it('lose the output of an earlier end, and have a summary from their end on', () => {
    const running = replayed('frame', [{ type: 'frame.started', meta: { frame_id: 'f' } }])
    expect(running).toEqual({
      f: { frame_id: 'f', status: 'RUNNING', row_count: 0, attempts: 0, last_event_id: 1, events_emitted: 0 },
    })
    expect(
      replayed('frame', [
        { type: 'frame.committed', meta: { frame_id: 'f', row_count: 1 }, reference: { ref: 'r' } },
        { type: 'frame.failed', meta: { frame_id: 'f', row_count: 9, events_emitted: 5 } },
      ]),
    ).toEqual({
      f: {
        frame_id: 'f',
        terminal_event_id: 2,
        status: 'FAILED',
        row_count: 1,
        attempts: 0,
        last_event_id: 2,
        events_emitted: 5,
        output_ref_summary: {},
      },
    })
  })

  test.each([
    ['frame.abandoned', null, 'ABANDONED'],
    ['frame.abandoned', 'LOST', 'LOST'],
    ['frame.committed', 'PARTIAL', 'PARTIAL'],
    ['frame.failed', 'TIMEOUT', 'TIMEOUT'],
    ['frame.dispatched', 'x', 'CLAIMED'],
    ['frame.started', 'x', 'RUNNING'],
    ['command.completed', 'success', 'success'],
    ['note', '', 'UNKNOWN'],
  ])('after %s with status %j are %s', (type, status, expected) => {
    expect(replayed('frame', [{ type, status, meta: { frame_id: 'f' } }])).toMatchObject({
      f: { status: expected },
    })
  })
})

describe('events of our own log', () => {
  it('fold like rows of the same content', () => {
    const record = {
      executionId: '1',
      position: 4,
      eventId: '11',
      createdAt: '2026-01-01T00:00:00.000Z',
      eventType: 'command.completed',
      nodeName: 'start',
      nodeType: null,
      status: 'COMPLETED',
      parentEventId: null,
      workerId: 'w',
      durationMs: 3,
      context: null,
      result: {
        status: 'COMPLETED',
        context: { command_id: 'c', result: {} },
        reference: { ref: 'r', kind: 'k' },
      },
      meta: { loop_id: 'l' },
      error: null,
    }
    const row = {
      eventId: '11',
      eventType: 'command.completed',
      nodeName: 'start',
      status: 'COMPLETED',
      workerId: 'w',
      meta: '{"loop_id": "l"}',
      contextCommandId: 'c',
      reference: '{"ref": "r", "kind": "k"}',
      extra: null,
    }
    expect(eventOfRecord(record)).toEqual(eventOfRow(row, { tenantId: 'default', organizationId: 'default' }))
  })

  it('refer to a result that was stored apart where the report has it', () => {
    const row = {
      type: 'command.completed',
      innerReference: '{"kind": "result_ref", "ref": "r", "extracted": {"long": "text"}}',
    }
    expect(replayed('execution', [row])).toMatchObject({
      payload_refs: [{ event_id: 1, reference: { kind: 'result_ref', ref: 'r' }, summary: { ref: 'r' } }],
    })
    expect(replayed('execution', [{ ...row, reference: { ref: 'outer' } }])).toMatchObject({
      payload_refs: [{ reference: { ref: 'outer' } }],
    })
    expect(replayed('execution', [{ ...row, meta: { imported: true } }])).toMatchObject({ payload_refs: [] })
  })
})
