/** An event in one line: its type, its node and the facts that decisions rest on. */
import type { EventRecord } from '../../contract/event.ts'
import { EVENT, terminalStatusOf } from '../../contract/event.ts'
import type { Json } from '../../contract/json.ts'

export const describeEvent = (event: EventRecord): string => {
  const facts = factsOf(event)
  return [event.eventType, nodeOf(event), ...(facts === '' ? [] : [facts])]
    .filter((part) => part !== '')
    .join(' ')
}

const nodeOf = ({ nodeName, eventType, meta }: EventRecord): string => {
  if (nodeName === null || terminalStatusOf(eventType) !== null) return ''
  const index = meta['iteration_index']
  return index === undefined ? nodeName : `${nodeName}#${text(index)}`
}

const factsOf = (event: EventRecord): string => {
  const context = event.result?.context ?? {}
  if (terminalStatusOf(event.eventType) !== null) return event.error ?? text(context['data'])
  switch (event.eventType) {
    case EVENT.stepEnter:
      return context['items'] === undefined ? '' : `over ${text(context['items'])}`
    case EVENT.stepSkipped:
      return `(${word(context['reason'])})`
    case EVENT.stepExit:
      return exitFacts(event)
    case EVENT.contextUpdated:
      return `${word(context['source'])} ${text(context['values'])}`
    case EVENT.commandClaimed:
      return `by ${event.workerId ?? 'nobody'}`
    default:
      return ''
  }
}

const exitFacts = ({ result, error }: EventRecord): string => {
  const { next, handled } = result?.context ?? {}
  const verdict = result?.status === 'FAILED' ? (handled === true ? 'handled' : `failed: ${error}`) : ''
  const targets = Array.isArray(next) && next.length > 0 ? `-> ${next.join(', ')}` : ''
  return [verdict, targets].filter((part) => part !== '').join(' ')
}

const text = (value: Json | undefined): string => (value === undefined ? '' : JSON.stringify(value))

const word = (value: Json | undefined): string => (typeof value === 'string' ? value : text(value))
