/** One operation of the API as a card: what it is for, what it takes, what it answers, and how to call it. */
import { exampleOf, pathExample } from './example.ts'
import type { ApiDocument, ApiResponse, Operation, Parameter } from './document.ts'
import type { Html } from './html.ts'
import { html, prose } from './html.ts'
import type { Resolve } from './schema-view.ts'
import { notes, renderNeed, renderSchema, typeWords } from './schema-view.ts'

export interface Placed {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

export const renderOperation = (
  { method, path, operation }: Placed,
  document: ApiDocument,
  resolve: Resolve,
): Html => {
  const { operationId, summary, description, deprecated } = operation
  const search = `${method} ${path} ${operationId} ${summary}`.toLowerCase()
  return html`<details
    class="operation${deprecated && ' deprecated'}"
    id="${operationId}"
    data-search="${search}"
  >
    <summary>
      <span class="method ${method}">${method}</span>
      <code class="path"
        >${path.split(/(\{\w+\})/).map((part) => (part.startsWith('{') ? html`<i>${part}</i>` : part))}</code
      >
      <span class="summary">${prose(summary)}</span>
      ${deprecated && html`<span class="badge">deprecated</span>`}
      <span class="badge access">${operation['x-access']}</span>
    </summary>
    <div class="body">
      <div class="what">
        ${description !== undefined && html`<p>${prose(description)}</p>`} ${renderAccess(operation)}
        ${renderParameters(operation, resolve)} ${renderBody(operation, resolve)}
        ${renderAnswers(operation, resolve)} ${renderProblems(operation, document)}
      </div>
      <div class="how">
        <h4>Call it ${COPY}</h4>
        <pre><code>${curlOf({ method, path, operation }, resolve)}</code></pre>
        ${renderExample(operation, resolve)}
      </div>
    </div>
  </details>`
}

/** Shown where a script can copy. */
const COPY = html`<button class="copy" type="button" hidden>Copy</button>`

const renderAccess = (operation: Operation): Html =>
  operation['x-access'] === 'public'
    ? html`<p class="access-line">Open to everybody.</p>`
    : html`<p class="access-line">
        For ${operation['x-roles'].map((role) => html`<span class="role">${role}</span> `)}
        ${operation['x-access'] === 'internal' && html`<span class="role">internal token</span>`}
      </p>`

const PLACES = { path: 'In the path', query: 'In the query', header: 'In the headers' } as const

const renderParameters = ({ parameters = [] }: Operation, resolve: Resolve): Html => {
  const groups = Object.entries(PLACES).map(([place, title]) => ({
    title,
    list: parameters.filter((parameter) => parameter.in === place),
  }))
  return html`${groups.map(
    ({ title, list }) =>
      list.length > 0 &&
      html`<h4>${title}</h4>
        <ul class="fields">
          ${list.map((parameter) => renderParameter(parameter, resolve))}
        </ul>`,
  )}`
}

const renderParameter = ({ name, required, description, schema }: Parameter, resolve: Resolve): Html =>
  html`<li>
    <code class="name">${name}</code>${renderNeed(required ?? false, 'request')}
    <span class="type">${schema['format'] === 'int64' ? 'id' : typeWords(schema, resolve)}</span>
    ${notes(schema, resolve)}
    ${description !== undefined && html`<span class="text">${prose(description)}</span>`}
  </li>`

const renderBody = ({ requestBody }: Operation, resolve: Resolve): Html | null => {
  if (!requestBody) return null
  return html`<h4>Body ${!requestBody.required && html`<small>may be left out</small>`}</h4>
    ${Object.entries(requestBody.content).map(
      ([type, { schema }]) =>
        renderSchema(schema, resolve, 'request') ??
        html`<p class="type">${type === JSON_TYPE ? typeWords(schema, resolve) : type}</p>`,
    )}`
}

const JSON_TYPE = 'application/json'

const isProblem = (
  response: ApiResponse | { readonly $ref: string },
): response is { readonly $ref: string } => '$ref' in response

const renderAnswers = ({ responses }: Operation, resolve: Resolve): Html => {
  const answers = Object.entries(responses).filter(
    (entry): entry is [string, ApiResponse] => !isProblem(entry[1]),
  )
  return html`${answers.map(([status, { content = {} }]) => {
    const [entry] = Object.entries(content)
    const fields = entry && renderSchema(entry[1].schema, resolve, 'answer')
    return html`<h4>
        Answer <span class="status ok">${status}</span>
        <small>${entry ? describeMedia(entry[0], typeWords(entry[1].schema, resolve)) : 'nothing'}</small>
      </h4>
      ${fields}`
  })}`
}

const describeMedia = (type: string, words: string): string => (type === JSON_TYPE ? words : type)

const renderProblems = ({ responses }: Operation, document: ApiDocument): Html => {
  const problems = Object.entries(responses).filter((entry): entry is [string, { $ref: string }] =>
    isProblem(entry[1]),
  )
  return html`<details class="problems">
    <summary><h4>Problems</h4></summary>
    <ul>
      ${problems.map(([status, { $ref }]) => {
        const description = document.components.responses[$ref.split('/').at(-1) ?? '']?.description ?? ''
        return html`<li><span class="status">${status}</span> ${prose(description)}</li>`
      })}
    </ul>
  </details>`
}

const shown = (value: unknown): string => JSON.stringify(value, null, 2)

const renderExample = ({ responses }: Operation, resolve: Resolve): Html | null => {
  const [first] = Object.values(responses)
  const schema = first && !isProblem(first) ? first.content?.[JSON_TYPE]?.schema : undefined
  if (!schema) return null
  return html`<h4>It answers</h4>
    <pre><code>${shown(exampleOf(schema, resolve, { everything: true }))}</code></pre>`
}

const curlOf = ({ method, path, operation }: Placed, resolve: Resolve): string => {
  const url = path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => encodeURI(pathExample(name)))
  const needed = (operation.parameters ?? []).filter((each) => each.in === 'query' && each.required)
  const query = needed.map(({ name, schema }) => {
    const value = exampleOf(schema, resolve, { everything: false, name })
    return `${name}=${encodeURIComponent(typeof value === 'string' ? value : shown(value))}`
  })
  const body = operation.requestBody?.content[JSON_TYPE]
  const lines = [
    `curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}"$NOETL_URL${url}${query.length > 0 ? `?${query.join('&')}` : ''}"`,
    ...(operation['x-access'] === 'public' ? [] : ['  -H "authorization: Bearer $NOETL_TOKEN"']),
    ...(body
      ? [
          "  -H 'content-type: application/json'",
          `  -d '${shown(exampleOf(body.schema, resolve, { everything: false })).replaceAll("'", String.raw`'\''`)}'`,
        ]
      : []),
    ...(operation.requestBody && !body ? ['  --data-binary @file'] : []),
  ]
  return lines.join(' \\\n')
}
