import { describe, expect, test } from 'vitest'
import { PlaybookContent, Registered } from '../../contract/api-catalog.ts'
import { chain, single } from '../../../test/support/playbooks.ts'
import { useServer } from '../../../test/support/server-file.ts'

const server = useServer()
const content = (query: string) => server().get(`/api/catalog/playbook/content?${query}`)

describe('the text of a playbook', () => {
  test('is read by id, by path and by version', async () => {
    const catalogId = await server().register(single('edit/read'))
    await server().register(chain('edit/read', 2))
    const first = await content(`playbook_id=${catalogId}`)
    expect(first).toMatchObject({
      status: 200,
      body: {
        catalog_id: catalogId,
        path: 'edit/read',
        version: 1,
        kind: 'playbook',
        content: single('edit/read'),
      },
    })
    expect(PlaybookContent.parse(first.body)).toEqual(first.body)
    expect((await content('playbook_id=edit/read&version=1')).body).toEqual(first.body)
    expect((await content('playbook_id=edit%2Fread')).body['content']).toBe(chain('edit/read', 2))
  })

  test.each(['/api/catalog/playbook/content', '/api/catalog/playbook'])(
    'is written with PUT %s',
    async (url) => {
      const path = `edit/write${url.length}`
      const catalogId = await server().register(single(path))
      const put = (query: string, body: object) => server().send('PUT', `${url}?${query}`, body)
      const answer = await put(`playbook_id=${catalogId}`, { content: chain(path, 2) })
      expect(answer).toMatchObject({
        status: 200,
        body: { path, version: 2, kind: 'playbook', status: 'success' },
      })
      expect(Registered.parse(answer.body)).toEqual(answer.body)
      expect((await put(`playbook_id=${path}`, { content: chain(path, 3) })).body['version']).toBe(3)
      expect((await content(`playbook_id=${path}`)).body['content']).toBe(chain(path, 3))
      expect(await put(`playbook_id=${path}`, { content: single('edit/other') })).toMatchObject({
        status: 422,
        body: { error: `The text is of 'edit/other', not of '${path}'; register it by itself` },
      })
      expect((await content('playbook_id=edit/other')).status).toBe(404)
      expect((await put(`playbook_id=${path}`, { content: 'a: [1,' })).status).toBe(400)
      expect((await put(`playbook_id=${path}`, { content: 'kind: Playbook' })).status).toBe(422)
      expect((await put(`playbook_id=${path}`, {})).status).toBe(422)
      expect((await put('playbook_id=edit/never', { content: single('edit/never') })).status).toBe(404)
      expect((await put('', { content: single(path) })).status).toBe(422)
    },
  )

  test.each([
    ['', 422],
    ['playbook_id=', 422],
    ['playbook_id=edit/never', 404],
    ['playbook_id=77', 404],
    ['playbook_id=edit/read&version=77', 404],
    ['playbook_id=edit/read&version=new', 422],
    ['playbook_id=a&playbook_id=b', 422],
    ['playbook_id=%00', 422],
  ])('is refused for ?%s with %i', async (query, status) => {
    expect((await content(query)).status).toBe(status)
  })
})
