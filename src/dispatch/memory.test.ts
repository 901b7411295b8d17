import { dispatcherSuite } from './dispatcher.suite.ts'
import { createMemoryDispatcher } from './memory.ts'

dispatcherSuite('memory', () => Promise.resolve(createMemoryDispatcher()))
