/** One server for a whole test file, before which doors of any kind can be put; after every test nobody has a token. */
import { afterEach } from 'vitest'
import type { Role } from '../../src/contract/access.ts'
import { createToken } from '../../src/server/access/tokens.ts'
import type { AccessFace, AccessOptions } from './access-server.ts'
import { withAccess } from './access-server.ts'
import { useServer } from './server-file.ts'

/** Of the right form, but nobody's. */
export const WRONG_TOKEN = `noetl_1_${'x'.repeat(43)}`

export const useAccess = () => {
  const server = useServer()
  const faces: AccessFace[] = []

  afterEach(async () => {
    await Promise.all(faces.splice(0).map((face) => face.close()))
    await server().core.shards.cluster.query('truncate noetl.access_token restart identity')
  })

  return {
    server,
    /** Another face of the server, closed after the test. */
    face: (options: AccessOptions = {}): AccessFace => {
      const made = withAccess(server(), options)
      faces.push(made)
      return made
    },
    /** A token of somebody called `a viewer`, `a admin` and so on. */
    aToken: async (role: Role, expiresInSeconds: number | null = null): Promise<string> => {
      const name = `a ${role}`
      const { cluster } = server().core.shards
      return (await createToken(cluster, { name, role, expiresInSeconds, createdBy: 'test' })).token
    },
  }
}
