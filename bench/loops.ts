/** Parallel loops of growing length through the whole product: the cost of an item must stay flat, the memory bounded. */
import { loopPlaybook } from './playbooks.ts'
import { startProduct } from './product.ts'

const SIZES = [1000, 10_000, 100_000]

const product = await startProduct()
try {
  await product.register(loopPlaybook('loop'))
  await product.run('bench/loop', 2, 1)
  for (const items of SIZES) {
    const seconds = await product.run('bench/loop', 1, 1, { items })
    const perItem = ((seconds / items) * 1e6).toFixed(0)
    const megabytes = (process.memoryUsage().rss / 1e6).toFixed(0)
    console.log(
      `${String(items).padStart(7)} items   ${perItem.padStart(5)} µs per item   ${(items / seconds).toFixed(0).padStart(6)} items/s   server ${megabytes} MB`,
    )
  }
} finally {
  await product.stop()
}
