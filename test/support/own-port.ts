/**
 * A port that stays free until the test uses it, also while what uses it is restarted: it is not one of those that the
 * system gives to connections and to servers that ask for any.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'

const LOWEST = 10_000
/** Where the system begins to choose, unless it says otherwise. */
const USUAL_END = 32_768

export const ownPort = async (): Promise<number> => {
  const end = firstOfSystem()
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (end - LOWEST))
    if (await isFree(port)) return port
  }
}

const firstOfSystem = (): number => {
  try {
    const first = Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s/)[0])
    return first > LOWEST + 1000 ? first : USUAL_END
  } catch {
    return USUAL_END
  }
}

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
