import { expect, test } from 'vitest'
import { readOtlpSettings } from './otlp-settings.ts'

test('without an endpoint there are no traces', () => {
  expect(readOtlpSettings({})).toBeNull()
  expect(readOtlpSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: '' })).toBeNull()
})

test('the common endpoint gets the path of traces, the endpoint of traces is taken as it is', () => {
  expect(readOtlpSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318/' })?.endpoint).toBe(
    'http://c:4318/v1/traces',
  )
  expect(
    readOtlpSettings({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://t/in',
    })?.endpoint,
  ).toBe('https://t/in')
})

test('headers and resource attributes are read, the more special ones win', () => {
  expect(
    readOtlpSettings({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c',
      OTEL_EXPORTER_OTLP_HEADERS: 'a=1, b=two%20words',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'a=3',
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=x,deployment.environment=test',
      OTEL_SERVICE_NAME: 'orders',
    }),
  ).toMatchObject({
    headers: { a: '3', b: 'two words' },
    resource: { 'service.name': 'orders', 'deployment.environment': 'test' },
  })
})

test.each([[{ OTEL_SDK_DISABLED: 'true' }], [{ OTEL_TRACES_EXPORTER: 'none' }]])(
  'they can be switched off: %j',
  (env) => {
    expect(readOtlpSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', ...env })).toBeNull()
  },
)

test.each([
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' },
    'OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL',
  ],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'http/json'],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', OTEL_EXPORTER_OTLP_HEADERS: 'token' },
    "'token' is not key=value",
  ],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', OTEL_EXPORTER_OTLP_HEADERS: 'a=%zz' }, 'percent-encoded'],
])('what is wrong is named: %j', (env, message) => {
  expect(() => readOtlpSettings(env)).toThrow(message)
})
