/** The name of the migrated database that test databases are cloned from. */
export const TEMPLATE_DATABASE = 'noetl_template'

/** The same server, another database. */
export function databaseUrl(url: string, database: string): string {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return changed.href
}
