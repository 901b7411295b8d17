import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { eventsOf } from '../testing/log.ts'
import type { Checksums, Hash } from './checksums.ts'
import { checksumsOf } from './checksums.ts'
import { foldEvents } from './fold.ts'
import type { ReplayHead } from './view.ts'
import { createReplayView, PARTS } from './view.ts'

const createSha256 = (): Hash => {
  const hash = createHash('sha256')
  return { update: (text) => hash.update(text), digest: () => hash.digest('hex') }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const HEAD: ReplayHead = {
  tenantId: 'default',
  organizationId: 'default',
  executionId: '1',
  projection: 'all',
  status: null,
}

const EMPTY_MAP = '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'
const EMPTY_EXECUTION = 'cffd8af539585ad49715f8a9b78dfbf864915233ef31dc9792fb56efc682f297'

const log = eventsOf([
  { type: 'step.enter', nodeName: 'stärt', eventId: '324000000000000001' },
  { type: 'command.issued', eventId: '324000000000000002', meta: { command_id: 'c' } },
])

const checksums = (over: Partial<ReplayHead> = {}, events = log): Checksums =>
  checksumsOf(createReplayView(foldEvents(events), { ...HEAD, ...over }), createSha256)

describe('checksums', () => {
  it('of an empty state have known values', () => {
    const { checksum, parts } = checksums({}, [])
    expect(checksum).toBe('a3f25246832a81e6682a7f29cb4c0650b4ce0def59a264854a63da152d36fdcf')
    for (const part of PARTS) expect(parts.get(part)).toBe(part === 'execution' ? EMPTY_EXECUTION : EMPTY_MAP)
  })

  it('of a small state are those of the canonical text written by hand (rules 1 to 3)', () => {
    const execution = sha256('{"last_node_name":"stärt","payload_refs":[],"status":"RUNNING"}')
    const command =
      '{"c":{"command_id":"c","issued_event_id":324000000000000002,"last_event_id":324000000000000002,"status":"PENDING"}}'
    const values = {
      business_object: EMPTY_MAP,
      command: sha256(command),
      execution,
      frame: EMPTY_MAP,
      loop: EMPTY_MAP,
      stage: EMPTY_MAP,
    }
    const { checksum, digest, parts } = checksums({ executionId: '324000000000000000' })
    expect(Object.fromEntries(parts)).toEqual(values)
    const checks = Object.entries(values).map(
      ([part, value]) => `"${part}":{"type":"sha256","value":"${value}"}`,
    )
    expect(checksum).toBe(
      sha256(
        `{"business_objects":{},"commands":${command},"event_count":2,"execution":{"last_node_name":"stärt","payload_refs":[],"status":"RUNNING"},"execution_id":324000000000000000,"frames":{},"last_event_id":324000000000000002,"last_event_type":"command.issued","loops":{},"organization_id":"default","projection":"all","projection_checksums":{${checks.join(',')}},"stages":{},"tenant_id":"default"}`,
      ),
    )
    expect(digest).toBe(
      sha256(
        `{"algorithm":"noetl-replay-v1","event_count":2,"execution_id":324000000000000000,"last_event_id":324000000000000002,"parts":${JSON.stringify(values)}}`,
      ),
    )
  })

  it('of the whole depend on the tenant, those of the facts do not (rules 2 and 3)', () => {
    expect(checksums({ tenantId: 'other' }).checksum).not.toBe(checksums().checksum)
    expect(checksums({ tenantId: 'other' }).digest).toBe(checksums().digest)
  })

  it('cover what is shown: of one projection its own part', () => {
    const { parts } = checksums({ projection: 'command' })
    expect([...parts]).toEqual([['command', checksums().parts.get('command')]])
  })

  it('know the status that is told from outside', () => {
    expect(checksums({ status: 'COMPLETED' }).parts.get('execution')).toBe(
      sha256('{"last_node_name":"stärt","payload_refs":[],"status":"COMPLETED"}'),
    )
  })
})
