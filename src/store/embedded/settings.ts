/** How the embedded server is configured: durable, for one machine shared with its user's other programs. */

const DEFAULTS: Readonly<Record<string, string>> = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  cluster_name: 'noetl',
  max_connections: '100',
  shared_buffers: '192MB',
  effective_cache_size: '1GB',
  // Every acknowledged event survives a power failure.
  fsync: 'on',
  synchronous_commit: 'on',
  // Compressing the log would cost a tenth of the time of an append.
  wal_compression: 'off',
  // Few, long checkpoints: each one makes the next change of every page cost a full page of log.
  checkpoint_timeout: '15min',
  max_wal_size: '2GB',
  // Many small queries over data that is in memory or on a solid-state disk.
  jit: 'off',
  random_page_cost: '1.1',
  timezone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
  log_line_prefix: '%m [%p] ',
  log_min_duration_statement: '-1',
  log_checkpoints: 'off',
}

/** Command line arguments of `postgres`; what the caller gives wins over the defaults. */
export function settingArguments(overrides: Readonly<Record<string, string>>): string[] {
  return Object.entries({ ...DEFAULTS, ...overrides }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}
