/** Credentials for tests: a control plane that has these and counts what it is asked. */
import type { ControlPlane, Credential } from '../../contract/command.ts'
import { type Clock, systemClock } from '../clock.ts'
import { createCredentialSource } from './credential-source.ts'

export type Stored = Readonly<Record<string, Omit<Credential, 'name'>>>

export const createVault = (stored: Stored, clock: Clock = systemClock) => {
  const asked: string[] = []
  const credentials = new Map(Object.entries(stored))
  const controlPlane: Pick<ControlPlane, 'credential'> = {
    credential({ alias }) {
      asked.push(alias)
      const found = credentials.get(alias)
      return Promise.resolve(found === undefined ? null : { name: alias, ...found })
    },
  }
  return { source: createCredentialSource({ controlPlane, clock }), asked, credentials, controlPlane }
}
