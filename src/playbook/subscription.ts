/** What a document of kind Subscription must say, so that a listener can be started from it. All problems at once. */
import type { Json, JsonObject } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'

const SOURCES = ['pubsub', 'nats', 'kafka', 'webhook']
const MAX_BATCH = 1000

type Problems = string[]

/** One text per problem; none when the document is fine. */
export const subscriptionProblems = (document: JsonObject): readonly string[] => {
  const { spec } = document
  if (!isObject(spec)) return ["A subscription needs a 'spec' section"]
  const problems: Problems = []
  oneOf(problems, 'spec.source', spec['source'], SOURCES)
  checkMode(problems, spec)
  checkDispatch(problems, part(problems, spec, 'dispatch') ?? {})
  checkDedup(problems, part(problems, spec, 'dedup'))
  checkLimits(problems, part(problems, spec, 'limits'))
  checkHeaders(problems, part(problems, spec, 'headers'))
  checkSpool(problems, part(problems, spec, 'spool'))
  return problems
}

const isText = (value: Json | undefined): value is string => typeof value === 'string' && value.trim() !== ''

const part = (problems: Problems, spec: JsonObject, name: string): JsonObject | null => {
  const value = spec[name]
  if (value === undefined || value === null) return null
  if (isObject(value)) return value
  problems.push(`spec.${name} must be a mapping`)
  return null
}

const oneOf = (problems: Problems, name: string, value: Json | undefined, words: readonly string[]): void => {
  if (typeof value !== 'string' || !words.includes(value))
    problems.push(`${name} must be one of ${words.join(', ')}`)
}

const optionalWord = (
  problems: Problems,
  name: string,
  value: Json | undefined,
  words: readonly string[],
): void => {
  if (value !== undefined && value !== null) oneOf(problems, name, value, words)
}

const optionalFlag = (problems: Problems, name: string, value: Json | undefined): void => {
  if (value !== undefined && value !== null && typeof value !== 'boolean')
    problems.push(`${name} must be true or false`)
}

const positive = (problems: Problems, name: string, value: Json | undefined, most = Infinity): void => {
  if (value === undefined || value === null) return
  if (typeof value === 'number' && value > 0 && value <= most) return
  problems.push(`${name} must be a number above 0${most === Infinity ? '' : ` and at most ${most}`}`)
}

const checkMode = (problems: Problems, spec: JsonObject): void => {
  oneOf(problems, 'spec.mode', spec['mode'], ['pull', 'push'])
  optionalWord(problems, 'spec.activation', spec['activation'], ['continuous', 'scheduled'])
  if (spec['mode'] !== 'push') return
  const ingress = part(problems, spec, 'ingress') ?? {}
  const path = ingress['gateway_path']
  if (!isText(path) || !path.startsWith('/'))
    problems.push('spec.ingress.gateway_path must be a path that begins with /')
  checkVerify(problems, isObject(ingress['verify']) ? ingress['verify'] : {})
}

/** What each way to verify a sender needs. */
const VERIFY: Readonly<Record<string, readonly string[]>> = {
  hmac_sha256: ['header', 'secret'],
  bearer: ['secret'],
  pubsub_oidc: ['audience', 'service_account'],
}

const checkVerify = (problems: Problems, verify: JsonObject): void => {
  const { type } = verify
  const needed = typeof type === 'string' && Object.hasOwn(VERIFY, type) ? VERIFY[type] : undefined
  if (!needed) {
    problems.push(`spec.ingress.verify.type must be one of ${Object.keys(VERIFY).join(', ')}`)
    return
  }
  for (const name of needed)
    if (!isText(verify[name])) problems.push(`spec.ingress.verify.${name} is needed for ${type as string}`)
}

const checkDispatch = (problems: Problems, dispatch: JsonObject): void => {
  if (!isText(dispatch['playbook'])) problems.push('spec.dispatch.playbook must name a playbook')
  optionalFlag(problems, 'spec.dispatch.batch_dispatch', dispatch['batch_dispatch'])
  positive(problems, 'spec.dispatch.batch_max', dispatch['batch_max'], MAX_BATCH)
}

const checkDedup = (problems: Problems, dedup: JsonObject | null): void => {
  if (!dedup) return
  optionalFlag(problems, 'spec.dedup.enabled', dedup['enabled'])
  positive(problems, 'spec.dedup.window_secs', dedup['window_secs'])
}

const checkLimits = (problems: Problems, limits: JsonObject | null): void => {
  if (!limits) return
  for (const name of ['max_in_flight', 'max_dispatch_per_sec'])
    positive(problems, `spec.limits.${name}`, limits[name])
}

const checkHeaders = (problems: Problems, headers: JsonObject | null): void => {
  const directives = headers?.['directives']
  if (directives === undefined || directives === null) return
  if (!Array.isArray(directives)) {
    problems.push('spec.headers.directives must be a list')
    return
  }
  for (const [index, directive] of directives.entries())
    for (const name of ['header', 'controls'])
      if (!isObject(directive) || directive[name] === undefined || directive[name] === null)
        problems.push(`spec.headers.directives[${index}] needs ${name}`)
}

const BUCKETS = ['nats_object', 'gcs', 's3']

const checkSpool = (problems: Problems, spool: JsonObject | null): void => {
  if (!spool) return
  optionalWord(problems, 'spec.spool.mode', spool['mode'], ['off', 'buffer_and_ack', 'hybrid'])
  const { backend, ordering } = spool
  optionalWord(problems, 'spec.spool.backend', backend, [...BUCKETS, 'local_disk'])
  if (typeof backend === 'string' && BUCKETS.includes(backend) && !isText(spool['bucket']))
    problems.push(`spec.spool.bucket is needed for ${backend}`)
  if (backend === 'local_disk' && !isText(spool['path']))
    problems.push('spec.spool.path is needed for local_disk')
  optionalWord(problems, 'spec.spool.ordering', ordering, ['global', 'per_key', 'none'])
  const drain = isObject(spool['drain']) ? spool['drain'] : {}
  if (ordering === 'global' && drain['on_recovery'] === 'interleave')
    problems.push(
      'spec.spool.drain.on_recovery: interleave breaks the order that spec.spool.ordering: global asks for',
    )
}
