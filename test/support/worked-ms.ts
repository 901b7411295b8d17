/** How long this thread has worked so far. Unlike the time of day, it stands still while others have the processor. */
export const workedMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
