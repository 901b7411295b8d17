/** The rules of OpenAPI 3.1 for the parts of it that our document uses, as a JSON Schema. Closed: a key that is not here is a mistake. */

const text = { type: 'string', minLength: 1 }
const named = (schema: object) => ({ type: 'object', additionalProperties: schema })
const closed = (properties: object, required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const reference = closed({ $ref: { type: 'string', pattern: '^#/components/' } }, ['$ref'])

const media = named(closed({ schema: { type: 'object' } }, ['schema']))

const parameter = {
  ...closed(
    {
      name: text,
      in: { enum: ['path', 'query', 'header'] },
      required: { type: 'boolean' },
      description: text,
      schema: { type: 'object' },
    },
    ['name', 'in', 'schema'],
  ),
  // A parameter of the path is always there.
  if: { properties: { in: { const: 'path' } } },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { properties: { required: { const: true } }, required: ['required'] },
}

const response = closed({ description: text, content: media }, ['description'])

const operation = closed(
  {
    operationId: text,
    tags: { type: 'array', items: text, minItems: 1 },
    summary: text,
    description: text,
    deprecated: { const: true },
    security: { type: 'array', items: named({ type: 'array', items: text }) },
    'x-access': text,
    'x-roles': { type: 'array', items: text },
    parameters: { type: 'array', items: parameter, minItems: 1 },
    requestBody: closed({ required: { type: 'boolean' }, content: media }, ['content']),
    responses: {
      type: 'object',
      patternProperties: { '^[1-5][0-9]{2}$': { oneOf: [response, reference] } },
      additionalProperties: false,
      minProperties: 1,
    },
  },
  ['operationId', 'tags', 'summary', 'security', 'responses'],
)

export const OPENAPI_RULES: object = closed(
  {
    openapi: { const: '3.1.1' },
    info: closed({ title: text, version: text, description: text }, ['title', 'version']),
    servers: { type: 'array', items: closed({ url: text }, ['url']) },
    tags: { type: 'array', items: closed({ name: text, description: text }, ['name']), uniqueItems: true },
    paths: {
      type: 'object',
      propertyNames: { pattern: String.raw`^(?:/|(?:/(?:[\w.-]+|\{\w+\}))+)$` },
      additionalProperties: {
        type: 'object',
        propertyNames: { enum: ['get', 'put', 'post', 'delete', 'patch'] },
        additionalProperties: operation,
        minProperties: 1,
      },
    },
    components: closed(
      {
        schemas: { ...named({ type: 'object' }), propertyNames: { pattern: '^[A-Za-z0-9._-]+$' } },
        responses: { ...named(response), propertyNames: { pattern: '^[A-Za-z0-9._-]+$' } },
        securitySchemes: named(
          closed({ type: { const: 'http' }, scheme: { const: 'bearer' }, description: text }, [
            'type',
            'scheme',
          ]),
        ),
      },
      ['schemas'],
    ),
  },
  ['openapi', 'info', 'paths'],
)
