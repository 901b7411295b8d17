/** Kinds that need a service or a plug-in from elsewhere: they are read and checked, and say what they need. */
import { statementFields } from './shared-fields.ts'
import type { ToolDeclaration } from './tool-declaration.ts'

export const snowflake: ToolDeclaration = {
  kind: 'snowflake',
  title: 'Snowflake',
  description: 'Runs SQL in Snowflake. Its data has one entry for each statement.',
  fields: {
    ...statementFields,
    account: {
      title: 'Account',
      type: 'text',
      description: 'Account identifier.',
      examples: ['ab12345.eu-west-1'],
    },
    user: { title: 'User', type: 'text', description: 'User name.', examples: ['LOADER'] },
    password: { title: 'Password', type: 'text', description: 'Better kept in a credential: auth.' },
    private_key: { title: 'Key', type: 'text', description: 'Better kept in a credential: auth.' },
    warehouse: {
      title: 'Warehouse',
      type: 'text',
      description: 'Warehouse that runs the statements.',
      examples: ['COMPUTE_WH'],
    },
    database: { title: 'Database', type: 'text', description: 'Name of the database.', examples: ['APP'] },
    schema: { title: 'Schema', type: 'text', description: 'Name of the schema.', examples: ['PUBLIC'] },
    role: { title: 'Role', type: 'text', description: 'Role to use.', examples: ['LOADER'] },
  },
  open: true,
  examples: [{ auth: 'sf_main', query: 'SELECT 1' }],
  unavailable:
    'the Snowflake driver and an account; call the SQL API of Snowflake with kind: http (auth: a bearer credential), or use kind: python with snowflake-connector-python',
}

export const gcs: ToolDeclaration = {
  kind: 'gcs',
  title: 'Google Cloud Storage',
  description: 'Copies a file to a bucket.',
  fields: {
    source: {
      title: 'Source',
      type: 'text',
      description: 'The file to copy.',
      examples: ['/tmp/report.csv'],
    },
    destination: {
      title: 'Destination',
      type: 'text',
      description: 'Where it goes.',
      examples: ['gs://bucket/report.csv'],
    },
  },
  open: true,
  examples: [{ source: '/tmp/report.csv', destination: 'gs://bucket/report.csv', auth: 'gcs_main' }],
  unavailable:
    'a Google Cloud account and its client; upload with kind: http (POST https://storage.googleapis.com/upload/storage/v1/b/BUCKET/o) and a bearer credential, or with kind: shell and gcloud',
}

export const gateway: ToolDeclaration = {
  kind: 'gateway',
  title: 'Gateway',
  description: 'Talks to a gateway where a worker offers it.',
  fields: {},
  open: true,
  examples: [{ url: 'https://gateway.example.com' }],
  unavailable: 'a gateway service; call it with kind: http',
}

export const provider: ToolDeclaration = {
  kind: 'provider',
  title: 'Cloud resource',
  description: 'Creates or checks a resource of a cloud provider.',
  fields: {
    action: {
      title: 'Action',
      type: 'text',
      description: 'What to do with the resource.',
      examples: ['google.storage.ensure'],
    },
    dry_run: {
      title: 'Dry run',
      type: 'flag',
      description: 'true (the default) changes nothing.',
      examples: [true],
    },
    poll: {
      title: 'Polling',
      type: 'mapping',
      description: 'How to wait for the resource.',
      examples: [{ max_attempts: 30, interval_ms: 2000 }],
    },
    reconcile: {
      title: 'Reconcile',
      type: 'text',
      description: 'report, enforce or adopt.',
      examples: ['report'],
    },
    endpoint: { title: 'Endpoint', type: 'text', description: 'Another address of the provider.' },
  },
  open: true,
  examples: [{ action: 'google.storage.ensure', dry_run: true }],
  unavailable:
    "a cloud account; use kind: http against the provider's API, or kind: shell with its command line",
}

export const subscription: ToolDeclaration = {
  kind: 'subscription',
  title: 'Subscription',
  description: 'Takes or acknowledges messages of a queue.',
  fields: {
    source: { title: 'Source', type: 'text', description: 'nats, pubsub or kafka.', examples: ['nats'] },
    operation: {
      title: 'Operation',
      type: 'text',
      description: 'poll, ack, nack or term.',
      examples: ['poll'],
    },
    batch: { title: 'Batch', type: 'integer', description: 'Messages to take at once.', examples: [100] },
    timeout_ms: {
      title: 'Wait',
      type: 'integer',
      description: 'Milliseconds to wait for messages.',
      examples: [1000],
    },
    ack: {
      title: 'Acknowledge',
      type: 'text',
      description: 'on_success, auto, manual, defer or none.',
      examples: ['on_success'],
    },
    ack_ids: {
      title: 'Messages',
      type: 'any',
      description: 'What to acknowledge.',
      examples: ['{{ poll.ack_ids }}'],
    },
  },
  open: true,
  examples: [{ source: 'nats', operation: 'poll', batch: 10 }],
  unavailable: 'a message broker; with NATS use kind: nats, operation: js_consume',
}

export const wasm: ToolDeclaration = {
  kind: 'wasm',
  title: 'WebAssembly',
  description: 'Runs a WebAssembly plug-in where a worker offers it.',
  fields: {},
  open: true,
  examples: [{ module: 'plugin.wasm' }],
  unavailable: 'a plug-in host; run the program with kind: shell (a WASI runtime) or kind: container',
}

export const rhai: ToolDeclaration = {
  kind: 'rhai',
  title: 'Rhai',
  description: 'Runs a Rhai script where a worker offers it.',
  fields: {
    code: { title: 'Code', type: 'text', description: 'The script.', examples: ['let x = 1; x + 1'] },
  },
  open: true,
  examples: [{ code: 'let x = 1; x + 1' }],
  unavailable: 'an interpreter of Rhai; use kind: expression (values from values) or kind: python',
}
