/** What `loop` is inside of a for statement. One object serves all rounds; it looks at the round under way. */
import type { Json } from '../contract/json.ts'
import { isEqual } from './compare.ts'
import type { Budget } from './limits.ts'
import { VIEW, type View } from './scope.ts'
import type { Value } from './values.ts'

const LOOP: unique symbol = Symbol('loop')

export interface LoopState extends View {
  readonly [LOOP]: true
  index: number
  /** `loop.cycle(a, b)`: the arguments in turn. */
  cycle(values: readonly Value[]): Value
  /** `loop.changed(x)`: whether the arguments differ from those of the round before. */
  changed(budget: Budget, values: readonly Value[]): boolean
}

export const isLoopState = (value: Value): value is LoopState =>
  typeof value === 'object' && value !== null && LOOP in value

export const createLoopState = (items: readonly Value[], depth: number): LoopState => {
  const size = items.length
  let previous: readonly Value[] | undefined
  const get = (key: string): Value => {
    const index = state.index
    switch (key) {
      case 'index':
        return index + 1
      case 'index0':
        return index
      case 'revindex':
        return size - index
      case 'revindex0':
        return size - index - 1
      case 'first':
        return index === 0
      case 'last':
        return index === size - 1
      case 'length':
        return size
      case 'previtem':
        return items[index - 1]
      case 'nextitem':
        return items[index + 1]
      case 'depth':
        return depth
      case 'depth0':
        return depth - 1
      default:
        return undefined
    }
  }
  const shown = ['index', 'index0', 'revindex', 'revindex0', 'first', 'last', 'length']
  const state: LoopState = {
    [VIEW]: true,
    [LOOP]: true,
    index: 0,
    get,
    plain: () => Object.fromEntries(shown.map((key) => [key, get(key) as Json])),
    cycle: (values) => values[state.index % Math.max(1, values.length)],
    changed: (budget, values) => {
      const before = previous
      previous = values
      return before === undefined || !isEqual(budget, before, values)
    },
  }
  return state
}
