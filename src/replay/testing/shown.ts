/** What an answer would show of a state: everything, as one text. */
import type { FoldState } from '../projection/fold-state.ts'
import { createReplayView, PARTS } from '../projection/view.ts'

export const shownText = (state: FoldState): string => {
  const view = createReplayView(state, {
    tenantId: 'default',
    organizationId: 'default',
    executionId: '1',
    projection: 'all',
    status: null,
  })
  const parts = PARTS.map((part) => `${part}: ${[...view.partText(part, 'sorted')].join('')}`)
  return [`${state.eventCount} ${state.lastEventId} ${state.lastEventType}`, ...parts].join('\n')
}
