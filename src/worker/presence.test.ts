import { expect, test } from 'vitest'
import { silentLog } from './log.ts'
import { createPresence } from './presence.ts'
import { createHandClock } from './test-support.ts'

const PRESENCE = { workerId: 'w', pool: 'shared', slots: 2, capabilities: [], hostname: 'h', version: '1' }

const setUp = () => {
  const said: string[] = []
  const failures: Error[] = []
  const time = createHandClock()
  const say = (word: string): Promise<void> => {
    said.push(word)
    const failure = failures.shift()
    return failure ? Promise.reject(failure) : Promise.resolve()
  }
  const plane = { announce: () => say('here'), farewell: () => say('gone') }
  return {
    said,
    failures,
    time,
    presence: createPresence(plane, PRESENCE, { clock: time.clock, log: silentLog }),
  }
}

test('a worker says that it lives at once, then now and then, and at last that it is gone', async () => {
  const { said, time, presence } = setUp()
  presence.start()
  await time.advance(0)
  expect(said).toEqual(['here'])
  await time.advance(45_000)
  expect(said).toEqual(['here', 'here', 'here', 'here'])
  await presence.stop()
  await time.advance(60_000)
  expect(said).toEqual(['here', 'here', 'here', 'here', 'gone'])
})

test('a control plane that is away is told later, and does not keep a worker from stopping', async () => {
  const { said, failures, time, presence } = setUp()
  failures.push(new Error('away'))
  presence.start()
  await time.advance(15_000)
  expect(said).toEqual(['here', 'here'])
  failures.push(new Error('away'))
  await presence.stop()
  expect(said.at(-1)).toBe('gone')
})
