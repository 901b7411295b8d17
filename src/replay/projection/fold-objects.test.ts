/** Logs whose fold was worked out by hand: commands, loops and business objects. */
import { describe, expect, it, test } from 'vitest'
import type { LogEntry } from '../testing/log.ts'
import { replayed, replayedText } from '../testing/log.ts'

describe('commands', () => {
  it('go from issued to completed, and keep who did what when', () => {
    expect(
      replayed('command', [
        {
          type: 'command.issued',
          meta: { command_id: 'c', stage_id: 's', frame_id: 'f', parent_command_id: 'p' },
        },
        { type: 'command.claimed', workerId: 'w1', meta: { command_id: 'c', worker_id: 'not this' } },
        { type: 'command.started', contextCommandId: 'c', meta: { worker_id: 'w2', worker_locator: 'here' } },
        { type: 'command.completed', contextCommandId: 'c' },
        { type: 'call.done', status: 'COMPLETED', meta: { command_id: 'c' } },
      ]),
    ).toEqual({
      c: {
        command_id: 'c',
        stage_id: 's',
        frame_id: 'f',
        parent_command_id: 'p',
        worker_id: 'w2',
        worker_locator: 'here',
        status: 'COMPLETED',
        issued_event_id: 1,
        claimed_event_id: 2,
        started_event_id: 3,
        terminal_event_id: 4,
        last_event_id: 5,
      },
    })
  })

  test.each([
    ['command.issued', null, 'PENDING', 'issued_event_id'],
    ['command.issued', 'QUEUED', 'QUEUED', 'issued_event_id'],
    ['command.claimed', '', 'CLAIMED', 'claimed_event_id'],
    ['command.claimed', 'RUNNING', 'RUNNING', 'claimed_event_id'],
    ['command.started', null, 'RUNNING', 'started_event_id'],
    ['command.started', 'STARTED', 'STARTED', 'started_event_id'],
    ['command.completed', 'success', 'success', 'terminal_event_id'],
    ['command.failed', null, 'FAILED', 'terminal_event_id'],
    ['command.cancelled', null, 'CANCELLED', 'terminal_event_id'],
    ['command.released', 'PENDING', 'PENDING', 'last_event_id'],
    ['command.released', '', 'UNKNOWN', 'last_event_id'],
    ['call.error', 'FAILED', 'UNKNOWN', 'last_event_id'],
  ])('after %s with status %j are %s', (type, status, expected, id) => {
    expect(replayed('command', [{ type, status, meta: { command_id: 'c' } }])).toMatchObject({
      c: { status: expected, [id]: 1 },
    })
  })

  it('are named by a column, the meta, or what a worker wrote into the result (rule 1)', () => {
    expect(
      Object.keys(
        replayed('command', [
          { type: 'note', extra: { command_id: 5 }, meta: { command_id: 'm' }, contextCommandId: 'r' },
          { type: 'note', meta: { command_id: 'm' }, contextCommandId: 'r' },
          { type: 'note', meta: { command_id: null }, contextCommandId: 'r' },
        ]) as object,
      ),
    ).toEqual(['5', 'm', 'r'])
  })
})

describe('loops', () => {
  const loop = (...entries: readonly LogEntry[]): unknown =>
    replayed(
      'loop',
      entries.map((entry) => ({ ...entry, meta: { loop_id: 'l', ...(entry.meta as object) } })),
    )

  it('count ends, each command once (rule 2)', () => {
    expect(
      loop(
        { type: 'command.issued', nodeName: 'each', meta: { total: 5, collection_size: 4 } },
        { type: 'command.completed', nodeName: 'other', meta: { command_id: 'a', total: 9 } },
        { type: 'command.completed', meta: { command_id: 'a' } },
        { type: 'command.failed', meta: { command_id: 'a' } },
        { type: 'command.failed', meta: { command_id: 'b' } },
        { type: 'loop.shard.done' },
        { type: 'loop.shard.done' },
        { type: 'loop.shard.failed' },
      ),
    ).toEqual({
      l: {
        loop_id: 'l',
        step_name: 'each',
        total: 4,
        done: 3,
        failed: 2,
        completed: false,
        last_event_id: 8,
      },
    })
  })

  it('count a command once in each loop it belongs to', () => {
    expect(
      replayed('loop', [
        { type: 'command.completed', meta: { loop_id: 'x', command_id: 'a' } },
        { type: 'command.completed', meta: { loop_id: 'y', command_id: 'a' } },
      ]),
    ).toMatchObject({ x: { done: 1 }, y: { done: 1 } })
  })

  test.each(['loop.done', 'loop.fanin.completed'])('are completed by %s', (type) => {
    expect(loop({ type })).toEqual({
      l: { loop_id: 'l', done: 0, failed: 0, completed: true, last_event_id: 1 },
    })
  })

  it('are named by the first of three keys, and know their total only from the beginning', () => {
    expect(
      replayed('loop', [
        { type: 'note', meta: { loop_event_id: 7, __loop_epoch_id: 'e' } },
        { type: 'note', meta: { __loop_epoch_id: 'e', total: '3' } },
        { type: 'note', meta: { __loop_epoch_id: 'e', total: 3 } },
        { type: 'note', meta: { loop_id: null, loop_event_id: 7, total: 3 } },
      ]),
    ).toEqual({
      7: { loop_id: '7', done: 0, failed: 0, completed: false, last_event_id: 4 },
      e: { loop_id: 'e', done: 0, failed: 0, completed: false, last_event_id: 3 },
    })
  })

  it('take any 64-bit integer for their total, and nothing else', () => {
    const text = (total: string): string =>
      replayedText('loop', [{ type: 'note', meta: `{"loop_id": "l", "total": ${total}}` }])
    expect(text('9223372036854775807')).toContain('"total":9223372036854775807,')
    for (const other of ['9223372036854775808', '3.0', '3.5', '"3"', 'null'])
      expect(text(other)).not.toContain('total')
  })
})

describe('loops of our own engine', () => {
  const ours = { emitted_by: 'orchestrator' }
  const issued = (id: string, index: number, meta: object = {}): LogEntry => ({
    type: 'command.issued',
    nodeName: 'each',
    meta: {
      ...ours,
      command_id: id,
      iterator_step: 'each',
      iteration_index: index,
      iteration_total: 2,
      ...meta,
    },
  })
  const entered: LogEntry = { type: 'step.enter', nodeName: 'each', meta: ours }
  const ended = (id: string, type = 'command.completed', status = 'COMPLETED'): LogEntry => ({
    type,
    status,
    nodeName: 'each',
    meta: { command_id: id },
  })
  const left = (status: string): LogEntry => ({ type: 'step.exit', nodeName: 'each', status, meta: ours })

  it('are runs of their step and count its iterations', () => {
    expect(
      replayed('loop', [entered, issued('a', 0), issued('b', 1), ended('b'), ended('b'), ended('a')]),
    ).toEqual({
      1: {
        loop_id: '1',
        step_name: 'each',
        total: 2,
        done: 2,
        failed: 0,
        completed: false,
        last_event_id: 6,
      },
    })
    const other: LogEntry = { ...issued('c', 0), eventId: '13' }
    expect(
      replayed('loop', [
        entered,
        issued('a', 0),
        issued('b', 1),
        ended('a'),
        ended('b'),
        left('COMPLETED'),
        { ...entered, eventId: '12' },
        other,
        { ...ended('c'), eventId: '14' },
      ]),
    ).toMatchObject({ 1: { done: 2, completed: true, last_event_id: 6 }, 12: { done: 1, completed: false } })
  })

  it('are not completed by a failure, and go on when the execution is opened again', () => {
    const failure = [entered, issued('a', 0), ended('a', 'command.failed', 'FAILED'), left('FAILED')]
    expect(replayed('loop', failure)).toMatchObject({ 1: { done: 0, failed: 1, completed: false } })
    expect(
      replayed('loop', [
        ...failure,
        { type: 'playbook.reopened', meta: ours },
        issued('a2', 0),
        ended('a2'),
        left('COMPLETED'),
      ]),
    ).toMatchObject({ 1: { done: 1, failed: 1, completed: true } })
  })

  it('begin with what a rerun kept', () => {
    expect(
      replayed('loop', [{ type: 'step.kept', nodeName: 'each', meta: ours }, issued('a', 1)]),
    ).toMatchObject({ 1: { total: 2, done: 0 } })
  })

  it('do not count an iteration that is parked before it ends', () => {
    const parked = [entered, issued('a', 0), ended('a', 'command.completed', 'PENDING')]
    expect(replayed('loop', parked)).toMatchObject({ 1: { done: 0 } })
    expect(replayed('command', parked)).toMatchObject({ a: { status: 'PENDING' } })
    expect(replayed('command', parked)).not.toHaveProperty('a.terminal_event_id')
    expect(replayed('loop', [...parked, ended('a')])).toMatchObject({ 1: { done: 1 } })
  })

  it('do not know a total where a cursor brings the rows', () => {
    expect(replayed('loop', [entered, issued('a', 0, { cursor: { phase: 'body' } })])).not.toHaveProperty(
      '1.total',
    )
  })

  it('are not concluded from imported events, nor from commands outside of loops', () => {
    expect(replayed('loop', [entered, issued('a', 0, { imported: true }), ended('a')])).toEqual({})
    expect(
      replayed('loop', [
        entered,
        { type: 'command.issued', nodeName: 'each', meta: { ...ours, command_id: 'a' } },
        ended('a'),
        left('COMPLETED'),
      ]),
    ).toEqual({})
  })
})

describe('business objects', () => {
  const order = (part: object = {}): object => ({
    business_object: { object_type: 'order', object_id: 1, ...part },
  })

  it('are created, changed and deleted', () => {
    expect(
      replayed('business_object', [
        { type: 'order.created', meta: order({ state: { a: 1, b: 2 } }), reference: { ref: 'r1' } },
        { type: 'order.updated', meta: order({ patch: { b: 3, c: null }, attributes: { d: 4 } }) },
        { type: 'order.note', meta: order({ attributes: { d: 4 }, version: 10 }), reference: { ref: 'r2' } },
        {
          type: 'Order.REMOVED',
          meta: { ...order({ patch: null, attributes: { never: 1 } }), business_object_version: 11 },
        },
        { type: 'order.touched', meta: order() },
      ]),
    ).toEqual({
      'order/1': {
        object_key: 'order/1',
        object_type: 'order',
        object_id: '1',
        status: 'DELETED',
        version: 5,
        event_count: 5,
        first_event_id: 1,
        last_event_id: 5,
        deleted_event_id: 4,
        last_event_type: 'order.touched',
        attributes: { a: 1, b: 3, c: null, d: 4 },
        payload_refs: [
          { event_id: 1, reference: { ref: 'r1' }, summary: { ref: 'r1' } },
          { event_id: 3, reference: { ref: 'r2' }, summary: { ref: 'r2' } },
        ],
        last_payload_ref: { event_id: 3, reference: { ref: 'r2' }, summary: { ref: 'r2' } },
      },
    })
  })

  test.each([
    ['order.created', null, 'ACTIVE'],
    ['order.upserted', '', 'ACTIVE'],
    ['order.updated', 'PAID', 'PAID'],
    ['order.removed', null, 'DELETED'],
    ['order.deleted', null, 'DELETED'],
    ['deleted', null, 'UNKNOWN'],
    ['note', 'DELETED', 'DELETED'],
  ])('after %s with status %j are %s', (type, status, expected) => {
    const objects = replayed('business_object', [{ type, status, meta: order() }])
    expect(objects).toMatchObject({
      'order/1': { status: expected, ...(expected === 'DELETED' ? { deleted_event_id: 1 } : {}) },
    })
  })

  it('take an integer version from themselves, then from the meta, else count events', () => {
    const version = (meta: object | string): unknown =>
      (replayed('business_object', [{ type: 'note', meta }]) as { 'order/1': { version: number } })['order/1']
        .version
    expect(version({ ...order({ version: 7 }), business_object_version: 8 })).toBe(7)
    expect(version({ ...order({ version: '7' }), business_object_version: 8 })).toBe(8)
    expect(version({ ...order({ version: 0 }), business_object_version: 8 })).toBe(0)
    expect(version('{"business_object": {"type": "order", "id": "1", "version": 7.0}}')).toBe(1)
  })

  test.each([
    [{ meta: { business_object: { type: 't', id: 'i' } } }, 't/i'],
    [{ meta: { business_object: { object_type: 'o', type: 't' }, business_object_id: 2 } }, 'o/2'],
    [{ meta: { business_object_type: 't', object_type: 'u', object_id: 3 } }, 't/3'],
    [{ meta: { object_type: 'u', object_id: true } }, 'u/true'],
    [{ extra: { aggregate_type: 'business_object', aggregate_id: 'business_object/a//b/c/' } }, 'a/b/c'],
    [
      { extra: { aggregate_type: 'business_object', aggregate_id: 'business_object/a' } },
      'business_object/business_object/a',
    ],
    [{ extra: { aggregate_type: 'business_object', aggregate_id: 'a' }, meta: { object_type: 'u' } }, 'u/a'],
  ])('%j is about %s', (entry, key) => {
    expect(Object.keys(replayed('business_object', [{ type: 'note', ...entry }]) as object)).toEqual([key])
  })

  test.each([
    [{ meta: { object_type: 'u' } }],
    [{ meta: { object_id: 'u' } }],
    [{ meta: { business_object: 'text' } }],
    [{ extra: { aggregate_type: 'other', aggregate_id: 'a/b' } }],
  ])('%j is about none', (entry) => {
    expect(replayed('business_object', [{ type: 'note', ...entry }])).toEqual({})
  })

  it('keep attributes digit for digit', () => {
    const meta =
      '{"business_object": {"type": "t", "id": "i", "state": {"big": 12345678901234567890, "one": 1.0, "deep": {"z": 1, "a": 2}}}}'
    expect(replayedText('business_object', [{ type: 'note', meta }])).toContain(
      '"attributes":{"big":12345678901234567890,"deep":{"a":2,"z":1},"one":1.0}',
    )
  })
})
