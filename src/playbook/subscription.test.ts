import { expect, test } from 'vitest'
import { subscriptionProblems } from './subscription.ts'

const PULL = { source: 'nats', mode: 'pull', dispatch: { playbook: 'orders/import' } }
const PUSH = {
  source: 'webhook',
  mode: 'push',
  ingress: { gateway_path: '/hooks/orders', verify: { type: 'bearer', secret: 'hook' } },
  dispatch: { playbook: 'orders/import' },
}

test.each([
  [PULL],
  [PUSH],
  [
    {
      ...PULL,
      activation: 'scheduled',
      dedup: { enabled: true, window_secs: 60 },
      limits: { max_in_flight: 5 },
    },
  ],
  [
    {
      ...PULL,
      spool: { mode: 'hybrid', backend: 's3', bucket: 'b', ordering: 'per_key' },
      headers: { directives: [{ header: 'x', controls: 'y' }] },
    },
  ],
])('a listener can be started from %j', (spec) => {
  expect(subscriptionProblems({ spec })).toEqual([])
})

test.each([
  [{ ...PULL, source: 'mail' }, 'spec.source must be one of pubsub, nats, kafka, webhook'],
  [{ ...PULL, mode: 'wait' }, 'spec.mode must be one of pull, push'],
  [{ ...PULL, activation: 'once' }, 'spec.activation must be one of continuous, scheduled'],
  [
    { ...PUSH, ingress: { ...PUSH.ingress, gateway_path: 'hooks' } },
    'spec.ingress.gateway_path must be a path that begins with /',
  ],
  [
    { ...PUSH, ingress: { ...PUSH.ingress, verify: { type: 'hmac_sha256', secret: 'x' } } },
    'spec.ingress.verify.header is needed for hmac_sha256',
  ],
  [
    { ...PUSH, ingress: { ...PUSH.ingress, verify: {} } },
    'spec.ingress.verify.type must be one of hmac_sha256, bearer, pubsub_oidc',
  ],
  [{ ...PULL, dispatch: {} }, 'spec.dispatch.playbook must name a playbook'],
  [
    { ...PULL, dispatch: { playbook: 'x', batch_max: 1001 } },
    'spec.dispatch.batch_max must be a number above 0 and at most 1000',
  ],
  [
    { ...PULL, dispatch: { playbook: 'x', batch_dispatch: 'yes' } },
    'spec.dispatch.batch_dispatch must be true or false',
  ],
  [{ ...PULL, dedup: { window_secs: 0 } }, 'spec.dedup.window_secs must be a number above 0'],
  [{ ...PULL, limits: [] }, 'spec.limits must be a mapping'],
  [
    { ...PULL, limits: { max_dispatch_per_sec: -1 } },
    'spec.limits.max_dispatch_per_sec must be a number above 0',
  ],
  [{ ...PULL, headers: { directives: [{ header: 'x' }] } }, 'spec.headers.directives[0] needs controls'],
  [{ ...PULL, spool: { backend: 'gcs' } }, 'spec.spool.bucket is needed for gcs'],
  [{ ...PULL, spool: { backend: 'local_disk' } }, 'spec.spool.path is needed for local_disk'],
  [
    { ...PULL, spool: { ordering: 'global', drain: { on_recovery: 'interleave' } } },
    'spec.spool.drain.on_recovery: interleave breaks the order that spec.spool.ordering: global asks for',
  ],
])('what is wrong is named: %j', (spec, problem) => {
  expect(subscriptionProblems({ spec })).toEqual([problem])
})

test('without a spec there is nothing to start', () => {
  expect(subscriptionProblems({})).toEqual(["A subscription needs a 'spec' section"])
  expect(subscriptionProblems({ spec: {} })).toHaveLength(3)
})
