import type { ExecutionEnd, ExecutionEvent } from '../../src/client/answers.ts'
import type { Client } from '../../src/client/client.ts'

/** Every event of an execution, and how it ended. */
export const readToEnd = async (
  client: Client,
  executionId: string,
): Promise<{ end: ExecutionEnd; events: ExecutionEvent[] }> => {
  const events: ExecutionEvent[] = []
  for await (const followed of client.follow(executionId)) {
    if (followed.type === 'end') return { end: followed.end, events }
    events.push(followed.event)
  }
  throw new Error('the stream ended before the execution')
}
