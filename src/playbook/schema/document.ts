/** The document itself: identity, defaults, credentials, executor; steps and tools have files of their own. */
import {
  FILLED_TEXT,
  OPTIONAL_FLAG,
  OPTIONAL_MAPPING,
  OPTIONAL_TEXT,
  TEXT,
  about,
  at,
  legacy,
  optionalList,
  ref,
  word,
} from './parts.ts'
import type { Schema } from './parts.ts'

const metadata: Schema = {
  ...about('Metadata', 'Name and place of the playbook in the catalog.', {
    name: 'daily_report',
    path: 'reports/daily',
  }),
  type: 'object',
  required: ['name'],
  properties: {
    name: { ...about('Name', 'Name of the playbook.', 'daily_report'), ...FILLED_TEXT },
    path: {
      ...about('Path', 'Path in the catalog, by which it is run; the name when left out.', 'reports/daily'),
      ...OPTIONAL_TEXT,
    },
    description: about('Description', 'What the playbook is for.', 'Mails the figures of the day'),
    labels: about('Labels', 'Words to find the playbook by; values are text.', { team: 'billing' }),
    version: about('Version', "The author's own version word; the catalog counts versions by itself.", '1.2'),
    tags: about('Tags', 'Words to find the playbook by.', ['report']),
  },
}

const keychainEntry: Schema = {
  ...about('Keychain entry', 'A credential with a name: auth: name, or {{ keychain.name.field }}.', {
    name: 'api',
    kind: 'oauth2',
    endpoint: 'https://shop.example/token',
    data: { grant_type: 'client_credentials', client_secret: '{{ keychain.shop.secret }}' },
  }),
  type: 'object',
  required: ['name'],
  properties: {
    name: { ...about('Name', 'How tools and templates refer to it.', 'api'), ...TEXT },
    kind: about(
      'Kind',
      'What it is made of.',
      'static',
      'bearer',
      'credential',
      'secret_manager',
      'oauth2',
      'http',
      'google_id_token',
    ),
    type: { ...about('Kind', 'Another name for kind.', 'secrets'), ...legacy('Write kind') },
    provider: about(
      'Provider',
      'Where the secret is kept: credential, env, file or vault.',
      'credential',
      'env',
      'file',
      'vault',
    ),
    auth: {
      ...about('Credential', 'Name of the credential that opens the provider.', 'vault_main'),
      ...OPTIONAL_TEXT,
    },
    map: about(
      'Fields',
      'Field of the entry: path of the secret. Paths may be templates over the workload.',
      {
        token: 'secret/shop#token',
      },
    ),
    endpoint: about('Endpoint', 'Address of the request that gives the token.', 'https://shop.example/token'),
    method: about('Method', 'Of the request; POST when left out.', 'POST'),
    headers: about('Headers', 'Of the request.', { accept: 'application/json' }),
    data: about('Form', 'Fields of the request.', { grant_type: 'client_credentials' }),
    json: about('JSON body', 'The body of the request as data.', { app: 'x' }),
    token_field: about('Token', 'Path of the token in the answer.', 'access_token'),
    ttl_field: about('Life', 'Field of the answer with the seconds it lives.', 'expires_in'),
    ttl: about('Life', 'How long it is kept, whatever the answer says.', '1h'),
    auto_renew: about('Renew', 'true: renewed by renew_config when it ran out.', true),
    renew_config: about('Renewal', 'A request like that of oauth2, for an entry that ran out.', {
      endpoint: 'https://shop.example/token',
      data: { grant_type: 'refresh_token', refresh_token: '{{ keychain.api.refresh_token }}' },
    }),
    target_audience: about('Audience', 'google_id_token: who the token is for.', 'https://service.example'),
    credential: about('Stored credential', 'Name of a stored credential.', 'pg_main'),
    token_type: about('Token type', 'A note for readers.', 'Bearer'),
    scope: about(
      'Scope',
      'local (one run), global (one playbook) or shared (a run and its children).',
      'local',
    ),
    region: about('Region', 'Region of the provider.', 'eu-west-1'),
    residency: {
      ...about('Residency', 'strict refuses to read the secret from another region.', 'strict'),
      ...word('none', 'advisory', 'strict'),
      default: 'none',
    },
    allowed_regions: about('Allowed regions', 'Further regions that may read the secret.', ['eu-west-2']),
    no_broker_fallback: about('No fallback', 'true: never ask the broker of another region.', true),
  },
}

const stepName = (title: string, description: string): Schema => ({
  ...about(title, description, 'report'),
  ...OPTIONAL_TEXT,
})

const executor: Schema = {
  ...about('Executor', 'Where the run starts and ends, and how it treats dead ends.', {
    spec: { final_step: 'report' },
  }),
  type: ['object', 'null'],
  properties: {
    profile: {
      ...about('Profile', 'Where the run may take place.', 'auto'),
      ...word('local', 'distributed', 'auto'),
      default: 'auto',
    },
    version: about('Version', 'Version of the runtime.', 'noetl-runtime/1'),
    requires: {
      ...about('Requirements', 'Lists of what the playbook needs.', { tools: ['http'] }),
      ...OPTIONAL_MAPPING,
      additionalProperties: { type: 'array' },
    },
    spec: {
      ...about('Options', 'Entry, end and dead ends.', { entry_step: 'begin' }),
      ...OPTIONAL_MAPPING,
      properties: {
        entry_step: stepName('Entry step', 'The step the run starts at, instead of start.'),
        final_step: stepName('Final step', 'A step that runs once after everything else.'),
        no_next_is_error: {
          ...about('Dead ends', 'true: a step whose arcs all stay silent fails the run.', true),
          ...OPTIONAL_FLAG,
          default: false,
        },
        policy: {
          ...about('Policy', 'failure: {mode: fail_fast} starts nothing new after a failure.', {
            failure: { mode: 'fail_fast' },
          }),
          ...OPTIONAL_MAPPING,
        },
      },
    },
  },
}

export const documentDefinitions: Readonly<Record<string, Schema>> = { metadata, keychainEntry, executor }

const startStep: Schema = at(['step'], { type: 'string', pattern: String.raw`^\s*start\s*$` })

export const documentSchema: Schema = {
  ...about(
    'NoETL playbook',
    'A workflow as a document: steps that run tools, read each other by name through {{ templates }}, and lead to each other by next.',
  ),
  type: 'object',
  required: ['apiVersion', 'kind', 'metadata', 'workflow'],
  properties: {
    apiVersion: {
      ...about('Language version', 'noetl.io/v2. The older noetl.io/v10 is read as the same.', 'noetl.io/v2'),
      enum: ['noetl.io/v2', 'noetl.io/v10'],
    },
    kind: { ...about('Kind of document', 'Playbook.', 'Playbook'), const: 'Playbook' },
    metadata: ref('metadata'),
    workload: about(
      'Workload',
      'Default inputs. Templates read them as workload.name or name; the request that starts a run may replace each of them.',
      { city: 'Paris', limit: 10 },
    ),
    keychain: {
      ...about('Keychain', 'Credentials of this playbook, by name.', [
        { name: 'api', kind: 'secrets', provider: 'gcp' },
      ]),
      ...optionalList(ref('keychainEntry')),
    },
    workbook: { ...about('Workbook', 'Reusable tools, by name.'), ...optionalList(ref('workbookEntry')) },
    workflow: {
      ...about(
        'Workflow',
        'The steps. The run starts at the step named start, or at executor.spec.entry_step.',
        [{ step: 'start', tool: { kind: 'noop' } }],
      ),
      type: 'array',
      items: ref('step'),
    },
    executor: ref('executor'),
    vars: { ...about('Variables', 'Has no effect here.'), ...legacy('Put defaults into workload') },
  },
  if: at(['executor', 'spec', 'entry_step'], { not: { type: 'null' } }),
  else: { properties: { workflow: { contains: startStep } } },
}
