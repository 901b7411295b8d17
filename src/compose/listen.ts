/** Why an address cannot be listened on, in words, and whether it can. */
import { createServer } from 'node:net'
import { ProblemError } from '../contract/problem.ts'

/** Throws before anything is started when the address cannot be used; the real listening may still lose a race. */
export const refuseTakenAddress = (host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', (error) => reject(listenProblem(error, host, port) as Error))
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve()))
  })

export const listenProblem = (error: unknown, host: string, port: number): unknown => {
  const code = (error as { code?: string }).code
  if (code === 'EADDRINUSE')
    return new ProblemError(
      'conflict',
      `Port ${port} on ${host} is taken. Stop the program that uses it, or choose another with --port.`,
      { cause: error },
    )
  if (code === 'EACCES')
    return new ProblemError(
      'conflict',
      `Port ${port} may not be opened by this user. Choose one above 1023 with --port.`,
      { cause: error },
    )
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new ProblemError(
      'invalid',
      `${host} is not an address of this machine. Choose another with --host.`,
      { cause: error },
    )
  return error
}
