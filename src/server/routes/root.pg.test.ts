import { expect, test } from 'vitest'
import { useServer } from '../../../test/support/server-file.ts'

const server = useServer()

const ROOT = {
  name: 'noetl',
  version: '0.0.0-test',
  links: { docs: '/api/docs', openapi: '/api/openapi.json', health: '/api/health' },
}

const askRoot = (accept?: string) =>
  server().send('GET', '/', undefined, accept === undefined ? {} : { accept })

test.each([
  'text/html',
  'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  '*/*, Text/HTML;q=1',
])('a browser that comes to the bare address is sent to the page of the API: %s', async (accept) => {
  expect(await askRoot(accept)).toMatchObject({
    status: 302,
    headers: { location: ROOT.links.docs, vary: 'accept' },
  })
})

test.each([undefined, '*/*', 'application/json', 'text/htmlx'])(
  'a program is told what this is and where to go on: %s',
  async (accept) => {
    expect(await askRoot(accept)).toMatchObject({ status: 200, headers: { vary: 'accept' }, body: ROOT })
  },
)

test('every link of it leads somewhere', async () => {
  for (const link of Object.values(ROOT.links))
    expect([link, (await server().get(link)).status]).toEqual([link, 200])
})
