/** Everything that a stream gives, once it is over. */
export const collect = async <T>(items: AsyncIterable<T>): Promise<readonly T[]> => {
  const collected: T[] = []
  for await (const item of items) collected.push(item)
  return collected
}
