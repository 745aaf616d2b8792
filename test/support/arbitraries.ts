import * as fc from 'fast-check';
import type { ApiDescription, Schema } from './openapi.ts';

/** Optional members that a generated object has at most beside those that it must have. */
const itemsMax = 4;

const anyText = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '',
    ' ',
    '\0',
    '\uD800',
    '__proto__',
    'constructor',
    '../..',
    "' OR 1=1 --",
    '{{7*7}}',
    '%00',
    '😀',
  ),
  fc.string({ minLength: 300, maxLength: 2_000 }),
);

const anyNumber = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.constantFrom(0, -0, -1, 1.5, 86_400, 86_401, 1e21, 2 ** 53, -(2 ** 63), Number.MAX_VALUE),
);

/** Any JSON value, the odd ones among them. */
export const anyJson: fc.Arbitrary<unknown> = fc.oneof(
  anyText,
  anyNumber,
  fc.constantFrom(null, true, false, [], {}),
  fc.jsonValue({ maxDepth: 3 }),
);

const textOf = ({ pattern, minLength = 0, maxLength = 64, example }: Schema): fc.Arbitrary<unknown> => {
  const text =
    pattern === undefined
      ? fc.string({ minLength, maxLength: Math.min(maxLength, 300) })
      : fc.stringMatching(new RegExp(pattern));
  // What words alone demand, the example has.
  return example === undefined ? text : fc.oneof(text, fc.constant(example));
};

/** Values that a schema takes, as far as it can say: what it says in words alone can still be refused. */
export const validFor = (schema: Schema, document: ApiDescription): fc.Arbitrary<unknown> => {
  const within = (inner: Schema): fc.Arbitrary<unknown> => validFor(inner, document);
  if (schema.$ref !== undefined) {
    const named = document.components.schemas[schema.$ref.split('/').at(-1) ?? ''];
    if (named === undefined) throw new Error(`${schema.$ref} leads nowhere.`);
    return within(named);
  }
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(within));
  switch (schema.type) {
    case 'string':
      return textOf(schema);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -1_000, max: schema.maximum ?? 1_000 });
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.uniqueArray(within(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? itemsMax, itemsMax),
      });
    case 'object': {
      const members = Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, within(inner)]);
      return fc.record(Object.fromEntries(members) as Record<string, fc.Arbitrary<unknown>>, {
        requiredKeys: [...(schema.required ?? [])],
      });
    }
    case undefined:
    default:
      return anyJson;
  }
};

/** One change to an object that is valid: a member dropped, bent, misspelt or too many. */
const bend = (value: unknown, change: number, name: string, other: unknown): unknown => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return other;
  const names = Object.keys(value);
  const one = names[change % Math.max(1, names.length)] ?? name;
  const { [one]: taken, ...rest } = value as Record<string, unknown>;
  switch (change % 4) {
    case 0:
      return rest;
    case 1:
      return { ...rest, [one]: other };
    case 2:
      return { ...rest, [`${one}s`]: taken };
    default:
      return { ...rest, [one]: taken, [name]: other };
  }
};

/** Values that are all but valid. */
export const nearlyValidFor = (schema: Schema, document: ApiDescription): fc.Arbitrary<unknown> =>
  fc
    .tuple(validFor(schema, document), fc.nat(1_000), anyText, anyJson)
    .map(([value, change, name, other]) => bend(value, change, name, other));
