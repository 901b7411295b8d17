import { expect, test } from 'vitest'
import { UiSchemaAnswer } from '../../contract/api-catalog.ts'
import { single } from '../../../test/support/playbooks.ts'
import { useServer } from '../../../test/support/server-file.ts'

const server = useServer()
const get = (tail: string) => server().get(`/api/catalog/${tail}`)

const withWorkload = (path: string, lines: string): string =>
  single(path).replace('workflow:', `workload:\n${lines}workflow:`)

test('the workload of a playbook is described as fields', async () => {
  await server().register(withWorkload('forms/a/b', '  name: x # ui:description=Who\n'))
  await server().register(withWorkload('forms/a/b', '  mode: fast # ui:enum=[fast, slow]\n  size: 5\n'))
  const { status, body } = await get('forms/a/b/ui_schema')
  expect(status).toBe(200)
  expect(body).toEqual({
    path: 'forms/a/b',
    version: 2,
    kind: 'playbook',
    title: 'forms/a/b',
    description_markdown: null,
    exposed_in_ui: false,
    fields: [
      {
        name: 'mode',
        kind: 'enum',
        default: 'fast',
        description: null,
        secret: false,
        credential_glob: null,
        options: ['fast', 'slow'],
        children: null,
      },
      expect.objectContaining({ name: 'size', kind: 'integer', default: 5, options: null, children: null }),
    ],
    generated_at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
  })
  expect(UiSchemaAnswer.parse(body)).toEqual(body)
  for (const version of ['latest', '2', ''])
    expect((await get(`forms/a/b/ui_schema?version=${version}`)).body['version']).toBe(2)
  expect((await get('forms/a/b/ui_schema?version=1')).body).toMatchObject({
    fields: [{ name: 'name', description: 'Who' }],
  })
  expect((await get('forms%2Fa%2Fb/ui_schema')).body['path']).toBe('forms/a/b')
})

test.each([
  ['forms/never/ui_schema', 404, "Catalog entry 'forms/never' not found"],
  ['forms/a/b/ui_schema?version=9', 404, "Catalog entry 'forms/a/b' version 9 not found"],
  ['forms/a/b/ui_schema?version=x', 422, 'Invalid version number'],
  ['/ui_schema', 422, 'The path is empty'],
  ['forms/a/b', 404, 'no route matched GET /api/catalog/forms/a/b'],
  ['ui_schema', 404, 'no route matched GET /api/catalog/ui_schema'],
])('GET /api/catalog/%s is %i', async (tail, status, error) => {
  expect(await get(tail)).toMatchObject({ status, body: { error, status } })
})

test('routes that take other methods still say which', async () => {
  const { status, body, headers } = await get('register')
  expect([status, body['code'], headers['allow']]).toEqual([405, 'method_not_allowed', 'POST'])
})
