/** Reads connection strings: URLs (`postgresql://…`) and keyword strings (`host=… dbname=…`). */
import type { JsonObject } from '../../../contract/json.ts'
import { configFailure } from '../../tool-failure.ts'

const fromUrl = (text: string): JsonObject => {
  // A driver in the scheme, as in postgresql+psycopg://, says nothing about the server.
  const url = URL.parse(text.replace(/^(postgres(?:ql)?)\+\w+:/i, '$1:'))
  if (url === null) throw configFailure('The connection string is not a valid URL')
  const decoded = (part: string): string | null => (part === '' ? null : decodeURIComponent(part))
  return {
    host: decoded(url.hostname.replace(/^\[|\]$/g, '')),
    port: decoded(url.port),
    user: decoded(url.username),
    password: decoded(url.password),
    database: decoded(url.pathname.replace(/^\//, '')),
    ...Object.fromEntries(url.searchParams),
  }
}

const KEYWORD = /([A-Za-z_]\w*)\s*=\s*('(?:[^'\\]|\\.)*'|(?:[^\s'\\]|\\.)*)/g

const fromKeywords = (text: string): JsonObject => {
  const entries = [...text.matchAll(KEYWORD)].map(([, name, value]): [string, string] => [
    (name as string).toLowerCase(),
    (value as string).replace(/^'([\s\S]*)'$/, '$1').replaceAll(/\\(.)/g, '$1'),
  ])
  if (entries.length === 0) {
    throw configFailure('The connection string is neither a postgresql:// URL nor a list of keyword=value')
  }
  return Object.fromEntries(entries)
}

export const parseConnectionString = (text: string): JsonObject =>
  /^postgres(?:ql)?(?:\+\w+)?:\/\//i.test(text.trim()) ? fromUrl(text.trim()) : fromKeywords(text)
