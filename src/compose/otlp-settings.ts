/** Where traces go, from the standard environment variables of OpenTelemetry. */
import { ProblemError } from '../contract/problem.ts'
import type { AttributeValue } from '../replay/spans.ts'
import type { Env } from './settings.ts'

export interface OtlpSettings {
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
  readonly resource: Readonly<Record<string, AttributeValue>>
}

/** Null when nobody asked for traces. */
export const readOtlpSettings = (env: Env): OtlpSettings | null => {
  if (env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none')
    return null
  const endpoint = endpointOf(env)
  if (endpoint === null) return null
  const protocol =
    env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] ?? env['OTEL_EXPORTER_OTLP_PROTOCOL'] ?? 'http/json'
  if (!protocol.startsWith('http/'))
    throw new ProblemError(
      'invalid',
      `OTEL_EXPORTER_OTLP_PROTOCOL is '${protocol}'; traces are sent as http/json, usually to port 4318`,
    )
  return {
    endpoint,
    headers: {
      ...pairs('OTEL_EXPORTER_OTLP_HEADERS', env['OTEL_EXPORTER_OTLP_HEADERS']),
      ...pairs('OTEL_EXPORTER_OTLP_TRACES_HEADERS', env['OTEL_EXPORTER_OTLP_TRACES_HEADERS']),
    },
    resource: {
      'service.name': 'noetl',
      ...pairs('OTEL_RESOURCE_ATTRIBUTES', env['OTEL_RESOURCE_ATTRIBUTES']),
      ...(env['OTEL_SERVICE_NAME'] ? { 'service.name': env['OTEL_SERVICE_NAME'] } : {}),
    },
  }
}

const endpointOf = (env: Env): string | null => {
  const whole = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']
  if (whole) return checkedUrl('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', whole)
  const base = env['OTEL_EXPORTER_OTLP_ENDPOINT']
  return base ? `${checkedUrl('OTEL_EXPORTER_OTLP_ENDPOINT', base).replace(/\/+$/, '')}/v1/traces` : null
}

const checkedUrl = (name: string, text: string): string => {
  if (URL.canParse(text) && /^https?:/.test(text)) return text
  throw new ProblemError('invalid', `${name} must be an http or https URL, got '${text}'`)
}

/** `key=value,key2=value2`, values percent-encoded. */
const pairs = (name: string, text: string | undefined): Record<string, string> =>
  Object.fromEntries(
    (text ?? '')
      .split(',')
      .filter((pair) => pair.trim() !== '')
      .map((pair) => {
        const at = pair.indexOf('=')
        if (at < 1) throw new ProblemError('invalid', `${name}: '${pair.trim()}' is not key=value`)
        return [pair.slice(0, at).trim(), decoded(name, pair.slice(at + 1).trim())]
      }),
  )

const decoded = (name: string, text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new ProblemError('invalid', `${name}: a value is not percent-encoded as it should be`)
  }
}
