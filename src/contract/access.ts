/**
 * Who may do what: roles of callers, and the needs of routes. One table answers for all of them.
 *
 * 1. Secrets are given to workers, who work with them, and to admins; to nobody else, whatever a route asks for.
 * 2. Every role may look. What a role may do besides is listed, never derived: no role contains another by accident.
 */

export const ROLES = ['viewer', 'operator', 'admin', 'worker'] as const
/** viewer looks; operator also starts and stops; admin also sees secrets and changes access; worker does the work. */
export type Role = (typeof ROLES)[number]

/** What a route asks of its caller. `internal` is opened by the internal token, and by the token of an admin. */
export type Access = 'public' | 'viewer' | 'operator' | 'run' | 'worker' | 'admin' | 'internal'

const ALLOWED: Readonly<Record<Access, readonly Role[]>> = {
  /** Whoever reaches the server; credentials are not even looked at. */
  public: ROLES,
  /** Reading without secrets. */
  viewer: ROLES,
  /** Changing what runs and what is registered. */
  operator: ['operator', 'admin'],
  /** What people do and tools do on their behalf: starting executions, setting variables, storing results. */
  run: ['operator', 'admin', 'worker'],
  /** The protocol of workers: leases, reports, secrets to work with. */
  worker: ['worker', 'admin'],
  admin: ['admin'],
  internal: ['admin'],
}

const SEES_SECRETS: readonly Role[] = ['worker', 'admin']

export const mayUse = (role: Role, access: Access): boolean => ALLOWED[access].includes(role)

export const seesSecrets = (role: Role): boolean => SEES_SECRETS.includes(role)

/** The roles that a route asks for, as a sentence names them: `operator, admin or worker`. */
export const rolesFor = (access: Access): string => {
  const roles = ALLOWED[access]
  const last = roles.at(-1) ?? ''
  return roles.length < 2 ? last : `${roles.slice(0, -1).join(', ')} or ${last}`
}
