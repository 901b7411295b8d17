import type { ToolDeclaration } from './tool-declaration.ts'

export const http: ToolDeclaration = {
  kind: 'http',
  title: 'HTTP request',
  description:
    'Sends a request. Its data is {status_code, headers, data, body}; a status other than 2xx is an error.',
  fields: {
    url: {
      title: 'URL',
      type: 'text',
      description: 'Address of the request.',
      required: true,
      older: ['endpoint'],
      examples: ['https://example.com/items/{{ workload.id }}'],
    },
    method: {
      title: 'Method',
      type: 'text',
      description: 'GET when left out.',
      examples: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'],
    },
    headers: {
      title: 'Headers',
      type: 'mapping',
      description: 'Headers of the request.',
      examples: [{ accept: 'application/json' }],
    },
    params: {
      title: 'Query',
      type: ['mapping', 'text'],
      description: 'Parameters of the query string.',
      examples: [{ page: '{{ ctx.page }}' }],
    },
    json: {
      title: 'JSON body',
      type: 'any',
      description: 'The body as data.',
      examples: [{ name: '{{ workload.name }}' }],
    },
    body: {
      title: 'Body',
      type: 'any',
      description: 'Text is sent as it is, anything else as JSON.',
      examples: ['plain text'],
    },
    payload: {
      title: 'JSON body',
      type: 'any',
      description: 'Another name for json.',
      examples: [{ name: 'x' }],
    },
    form: { title: 'Form', type: 'any', description: 'Fields of a form.', examples: [{ user: 'x' }] },
    files: {
      title: 'Files',
      type: ['mapping', 'list'],
      description: 'Files of a multipart form: {field: {path}} or {field: {filename, content}}.',
      examples: [{ report: { path: '/tmp/report.csv' } }],
    },
    data: {
      title: 'Data',
      type: 'any',
      description: '{query, body}, or the body itself.',
      examples: [{ body: { name: 'x' } }],
    },
    follow_redirects: {
      title: 'Redirects',
      type: 'flag',
      description: 'false: a redirect is the answer.',
      aliases: ['allow_redirects'],
      examples: [true],
    },
    verify_ssl: {
      title: 'Check certificates',
      type: 'flag',
      description: 'false: any certificate will do.',
      aliases: ['verify'],
      examples: [true],
    },
    response_type: {
      title: 'Answer as',
      type: 'text',
      description: 'json, text or binary (base64).',
      words: ['json', 'auto', 'text', 'binary', 'bytes', 'base64'],
      examples: ['json', 'text', 'binary'],
    },
  },
  examples: [
    { url: 'https://example.com/items', params: { page: 2 } },
    { url: 'https://example.com/items', method: 'POST', json: { name: 'x' }, timeout: '10s' },
  ],
  data: {
    status_code: 'of the answer',
    headers: 'of the answer, names in lower case',
    'data, body': 'the body, parsed when it is JSON',
    url: 'the address after redirects',
    elapsed: 'seconds it took',
  },
  notes: [
    'The limit of time is 30 seconds when none is given.',
    'Errors have the code `HTTP_<status>` and the kind `rate_limit`, `auth`, `not_found`, `client_error` or `server_error`; without an answer `connection` or `timeout`.',
  ],
}
