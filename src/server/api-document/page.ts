/**
 * The API document as one page: everything is in it, so it works without a network; it needs no script to be read,
 * only to be searched.
 */
import type { ApiDocument } from './document.ts'
import type { Html } from './html.ts'
import { html, prose, trusted } from './html.ts'
import type { Placed } from './page-operation.ts'
import { renderOperation } from './page-operation.ts'
import { PAGE_SCRIPT } from './page-script.ts'
import { PAGE_STYLE } from './page-style.ts'
import { createResolve } from './schema-view.ts'

interface Group {
  readonly name: string
  readonly description: string | undefined
  readonly operations: readonly Placed[]
}

export const renderPage = (document: ApiDocument): string => {
  const { info } = document
  const resolve = createResolve(document)
  const groups = groupsOf(document)
  const total = groups.reduce((sum, { operations }) => sum + operations.length, 0)
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${info.title}</title>
        <style>
          ${trusted(PAGE_STYLE)}
        </style>
      </head>
      <body>
        <aside>
          <a class="brand" href="#top"><b>NoETL</b> API <small>${info.version}</small></a>
          <input
            id="search"
            type="search"
            placeholder="Search ${total} operations"
            aria-label="Search"
            autocomplete="off"
          />
          <nav>${groups.map(renderLinks)}</nav>
        </aside>
        <main id="top">
          <header>
            <h1>${info.title}</h1>
            ${info.description.split('\n\n').map((paragraph) => html`<p>${prose(paragraph)}</p>`)}
            <p class="tools">
              <a href="openapi.json">OpenAPI 3.1 document</a>
              <button id="expand" type="button">Open all</button>
            </p>
          </header>
          <p id="nothing" hidden>Nothing is called that.</p>
          ${groups.map(
            ({ name, description, operations }) =>
              html`<section id="${anchorOf(name)}">
                <h2>${name}</h2>
                ${description !== undefined && html`<p>${prose(description)}</p>`}
                ${operations.map((placed) => renderOperation(placed, document, resolve))}
              </section>`,
          )}
        </main>
        ${trusted(`<script>${PAGE_SCRIPT}</script>`)}
      </body>
    </html>`.html
}

const anchorOf = (tag: string): string => `tag-${tag.replaceAll(' ', '-')}`

const groupsOf = ({ tags, paths }: ApiDocument): readonly Group[] => {
  const all = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]): Placed => ({ method, path, operation })),
  )
  return tags.map(({ name, description }) => ({
    name,
    description,
    // What is deprecated comes last.
    operations: all
      .filter(({ operation }) => operation.tags.includes(name))
      .sort((a, b) => Number(a.operation.deprecated ?? false) - Number(b.operation.deprecated ?? false)),
  }))
}

const renderLinks = ({ name, operations }: Group): Html =>
  html`<div class="group">
    <a class="tag" href="#${anchorOf(name)}">${name}</a>
    ${operations
      .filter(({ operation }) => !operation.deprecated)
      .map(
        ({ method, operation }) =>
          html`<a href="#${operation.operationId}"
            ><span class="method ${method}">${method}</span>${operation.operationId}</a
          >`,
      )}
  </div>`
