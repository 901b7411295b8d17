/** What `noetl doctor` asks for, adds up and prints. */
import { describe, expect, it } from 'vitest'
import type { DoctorAnswer } from '../contract/api-history.ts'
import { examine } from './doctor.ts'
import { answering, flagsOf } from './testing/history-client.ts'
import { createRecordingTerminal } from './testing/recording-terminal.ts'

describe('noetl doctor', () => {
  const page: DoctorAnswer = {
    healthy: true,
    checked: 2,
    events: 10,
    snapshots: 1,
    timers: 1,
    results: 0,
    idle_timers: 0,
    unreferenced_results: 0,
    unreferenced_bytes: 0,
    next: null,
    differences: [],
  }

  it('goes through all pages and exits with 0 when all is well', async () => {
    const { history, asked } = answering('doctor', { ...page, next: '7' }, page)
    const terminal = createRecordingTerminal()
    expect(await examine(await flagsOf('doctor'), history, terminal)).toBe(0)
    expect(asked).toEqual([[{}], [{ after: '7' }]])
    expect(terminal.written()).toBe(
      '✓ 4 executions, 20 events, 2 snapshots, 2 timers, 0 stored results examined: everything stored is what the logs say\n',
    )
  })

  it('tells what is left over, which is no difference, and how it goes away', async () => {
    const left = { ...page, idle_timers: 1, unreferenced_results: 2, unreferenced_bytes: 3_000_000 }
    const { history } = answering('doctor', left)
    const terminal = createRecordingTerminal()
    expect(await examine(await flagsOf('doctor'), history, terminal)).toBe(0)
    expect(terminal.written()).toContain(
      '  1 timer with nothing left to tell: each goes away when it is due\n' +
        '  2 stored results (3 MB) that no event refers to: left by reports that came too late',
    )
    expect(terminal.written()).toContain('DELETE /api/result/ID')
  })

  it('prints the sums of all pages as JSON', async () => {
    const { history } = answering('doctor', { ...page, next: '7' }, { ...page, unreferenced_results: 3 })
    const terminal = createRecordingTerminal()
    await examine(await flagsOf('doctor', '--json'), history, terminal)
    expect(JSON.parse(terminal.written())).toMatchObject({
      healthy: true,
      checked: 4,
      timers: 2,
      unreferenced_results: 3,
      differences: [],
    })
  })

  it('lists differences and exits with 1', async () => {
    const difference = {
      execution_id: '7',
      kind: 'row' as const,
      message: 'the column status is not what the log says',
      stored: 'RUNNING',
      folded: 'FAILED',
    }
    const stuck = { ...difference, kind: 'no_cause' as const, message: 'nothing moves it', folded: null }
    const untold = { ...difference, kind: 'timer' as const, message: 'no timer tells', stored: null }
    const { history, asked } = answering('doctor', { ...page, differences: [difference, stuck, untold] })
    const terminal = createRecordingTerminal()
    expect(await examine(await flagsOf('doctor', '7'), history, terminal)).toBe(1)
    expect(asked).toEqual([[{ execution_id: '7' }]])
    expect(terminal.written()).toContain(
      '✗ 7  the column status is not what the log says: stored "RUNNING", by the log "FAILED"\n✗ 7  nothing moves it\n✗ 7  no timer tells\n',
    )
  })
})
