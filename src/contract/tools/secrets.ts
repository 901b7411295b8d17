import type { ToolDeclaration } from './tool-declaration.ts'

export const secrets: ToolDeclaration = {
  kind: 'secrets',
  title: 'Secrets',
  description:
    'Fetches a secret from where it is kept, best into the keychain of the run: then no value is in its data.',
  fields: {
    provider: {
      title: 'Provider',
      type: 'text',
      description:
        'credential (stored here, the default), env, file or vault. gcp, aws, azure and k8s are known and say what to use instead.',
      examples: ['credential', 'env', 'file', 'vault'],
    },
    path: {
      title: 'Path',
      type: 'text',
      description:
        'What the provider calls the secret: name or name.field, a variable, a file, mount/path#field.',
      aliases: ['secret', 'secret_name', 'key'],
      examples: ['shop_api.token', 'secret/shop/db#password'],
    },
    map: {
      title: 'Several',
      type: 'mapping',
      description: 'Several secrets: names to paths.',
      examples: [{ user: 'secret/shop/db#user', password: 'secret/shop/db#password' }],
    },
    keychain: {
      title: 'Keychain entry',
      type: 'text',
      description: 'Keeps the secret under this name for the run; read it as {{ keychain.<name>.<field> }}.',
      examples: ['shop_db'],
    },
    ttl: {
      title: 'Life',
      type: 'duration',
      description: 'With keychain: how long it is kept, an hour when left out.',
      examples: ['1h'],
    },
    field: {
      title: 'Field',
      type: 'text',
      description: 'vault: one field of the secret.',
      examples: ['password'],
    },
    mount: { title: 'Mount', type: 'text', description: 'vault: mount of the engine.', examples: ['secret'] },
    version: { title: 'Version', type: 'text', description: 'vault: an older version.', examples: [2] },
  },
  oneOf: [{ fields: ['path', 'map'], message: 'A secrets tool needs `path`, or `map` with several' }],
  examples: [
    { provider: 'vault', map: { password: 'secret/shop/db#password' }, keychain: 'shop_db' },
    { provider: 'env', path: 'SHOP_KEY', keychain: 'shop' },
  ],
  data: {
    status: 'success',
    provider: 'who was asked',
    'keychain, fields':
      'with keychain: the name of the entry and its fields; a secret that is one text is the field value',
    secret: 'without keychain: the value; sealed in the log, known to templates',
  },
  notes: [
    'env gives only the variables named in NOETL_KEYCHAIN_ENV_VARS of the worker, file only what lies below NOETL_SECRETS_DIR (/run/secrets by default). vault is the key/value engine version 2 at VAULT_ADDR with VAULT_TOKEN, or the credential in `auth` with address and token.',
    'A secret that is not there is an error of kind `not_found` with the code `SECRET_NOT_FOUND`.',
    'A later step that uses {{ step.secret }} has the value rendered into its command, where only telling names are sealed. The keychain has no such gap.',
  ],
}
