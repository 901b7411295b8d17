/** Random logs in which everything that replay folds comes up: few ids, many events, values of every type. */
import type { Random } from '../../engine/testing/random.ts'
import type { ReplayRow } from '../projection/replay-event.ts'

const TYPES = [
  'playbook_started',
  'playbook.completed',
  'playbook_failed',
  'execution.cancelled',
  'playbook.reopened',
  'step.enter',
  'step_started',
  'step.exit',
  'step.kept',
  'stage.opened',
  'stage.closed',
  'frame.dispatched',
  'frame.started',
  'frame.committed',
  'frame.failed',
  'frame.abandoned',
  'command.issued',
  'command.claimed',
  'command.started',
  'command.completed',
  'command.failed',
  'command.cancelled',
  'command.heartbeat',
  'loop.shard.done',
  'loop.shard.failed',
  'loop.done',
  'order.created',
  'Order.Updated',
  'order.deleted',
  'note',
] as const

/** Values as JSON text, so that there are some a double cannot hold. */
const VALUES = [
  '1',
  '"1"',
  '"a"',
  '"é😀\\uFFFF"',
  'null',
  'true',
  '3.0',
  '12345678901234567890',
  '9007199254740993',
  '""',
] as const
const OBJECTS = [
  '{"b":1.0,"a":[1,"ü"]}',
  '{}',
  '{"😀":1e30,"\\uFFFF":-0}',
  '{"__proto__":2}',
  '{"n":0.1}',
] as const
const REFERENCES = [
  '{"kind":"result_ref","ref":"noetl://execution/1/result/a/2","meta":{"bytes":10,"sha256":"ab"}}',
  '{"sha256":"aa","rows_ref":{"meta":{"row_count":3,"media_type":"x"},"ipc":{"schema_digest":"s"},"ref":"r"}}',
  '{"uri":"s3://b/ü","row_count":2.0,"digest":"dd"}',
  '{}',
] as const

const KEYS = [
  'stage_id',
  'frame_id',
  'command_id',
  'parent_stage_id',
  'parent_frame_id',
  'parent_command_id',
  'loop_id',
  'loop_event_id',
  '__loop_epoch_id',
  'worker_id',
  'worker_locator',
  'kind',
  'step_name',
  'frame_count',
  'row_count',
  'events_emitted',
  'failed_count',
  'attempt',
  'collection_size',
  'total',
  'business_object_type',
  'object_id',
  'business_object_version',
  'iteration_index',
  'iteration_total',
  'cursor',
  'imported',
] as const

const objectText = (entries: readonly (readonly [string, string])[]): string =>
  `{${entries.map(([key, value]) => `${JSON.stringify(key)}: ${value}`).join(', ')}}`

const businessPart = (random: Random): string =>
  objectText(
    [
      ['type', random.pick(['"order"', '"bill"'])],
      ['object_id', random.pick(['1', '"1"', '"x/y"'])],
      ['version', random.pick(VALUES)],
      ['state', random.pick([...OBJECTS, '1'])],
      ['patch', random.pick([...OBJECTS, 'null'])],
      ['attributes', random.pick(OBJECTS)],
    ]
      .filter(() => random.chance(0.6))
      .map(([key = '', value = '']) => [key, value] as const),
  )

const randomMeta = (random: Random): string => {
  const entries: (readonly [string, string])[] = KEYS.filter(() => random.chance(0.15)).map((key) => [
    key,
    random.pick(VALUES),
  ])
  if (random.chance(0.5)) entries.push(['emitted_by', '"orchestrator"'])
  if (random.chance(0.3)) entries.push(['iterator_step', random.pick(['"start"', '"end"'])])
  if (random.chance(0.25)) entries.push(['business_object', businessPart(random)])
  return objectText(entries)
}

const EXTRAS = [
  '{"stage_id": 7}',
  '{"frame_id": "f1", "command_id": 12345678901234567890}',
  '{"aggregate_type": "stage", "aggregate_id": "stage/s/1"}',
  '{"aggregate_type": "frame", "aggregate_id": "frame/9"}',
  '{"aggregate_type": "business_object", "aggregate_id": "business_object/order//1/2"}',
  '{"aggregate_type": "business_object", "aggregate_id": "lonely"}',
] as const

const randomRow = (random: Random, eventId: string): ReplayRow => ({
  eventId,
  eventType: random.pick(TYPES),
  nodeName: random.pick([null, 'start', 'näxt', 'end']),
  status: random.pick([null, '', 'COMPLETED', 'success', 'DELETED', 'RUNNING']),
  workerId: random.pick([null, null, 'w1', 'w2']),
  meta: randomMeta(random),
  contextCommandId: random.pick([null, null, 'c1', 'c2']),
  reference: random.chance(0.2) ? random.pick(REFERENCES) : null,
  extra: random.chance(0.3) ? random.pick(EXTRAS) : null,
})

/** In the order of their ids, which are far apart and beyond what a double holds. */
export const randomLog = (random: Random, length: number): readonly ReplayRow[] => {
  let id = 7_000_000_000_000_000_000n
  return Array.from({ length }, () => {
    id += BigInt(1 + random.below(1000))
    return randomRow(random, id.toString())
  })
}

export const shuffled = <Value>(random: Random, values: readonly Value[]): Value[] => {
  const list = [...values]
  for (let index = list.length - 1; index > 0; index -= 1) {
    const other = random.below(index + 1)
    const value = list[index] as Value
    list[index] = list[other] as Value
    list[other] = value
  }
  return list
}
