/** The packages of NATS, loaded when the first call needs them: a worker without them runs everything else. */
import type * as JetStream from '@nats-io/jetstream'
import type * as KeyValue from '@nats-io/kv'
import type * as Objects from '@nats-io/obj'
import type * as Transport from '@nats-io/transport-node'

import { toolUnavailable } from '../tool-unavailable.ts'

export interface NatsPackages {
  readonly transport: typeof Transport
  readonly jetstream: typeof JetStream
  readonly keyValue: typeof KeyValue
  readonly objects: typeof Objects
}

/** How the packages are found; a test gives others. */
export type LoadNats = () => Promise<NatsPackages>

export const loadNats: LoadNats = async () => {
  try {
    const [transport, jetstream, keyValue, objects] = await Promise.all([
      import('@nats-io/transport-node'),
      import('@nats-io/jetstream'),
      import('@nats-io/kv'),
      import('@nats-io/obj'),
    ])
    return { transport, jetstream, keyValue, objects }
  } catch (error) {
    throw toolUnavailable(
      'Tools of kind nats need packages that are not installed: npm install @nats-io/transport-node @nats-io/jetstream @nats-io/kv @nats-io/obj',
      error,
    )
  }
}
