import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** A JSON Schema, as far as tests look into one. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly example?: unknown;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
};

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

/** One operation of a document. */
export type Operation = {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly in: 'path' | 'query' | 'header';
    readonly name: string;
    readonly required?: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description: string;
        readonly content?: Content;
        readonly headers?: Readonly<Record<string, unknown>>;
      }
    >
  >;
};

/** An OpenAPI document, as far as tests look into one. */
export type ApiDescription = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

/** What a client received, to be held against the document. */
export type Received = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
};

const documentId = 'api';

const escape = (step: string): string => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'));

/** A check of answers against the document: `undefined` where all is as documented, else what is not. */
export const createAnswerCheck = (
  document: ApiDescription,
): ((path: string, method: string, received: Received) => string | undefined) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addSchema(document, documentId);
  const validators = new Map<string, ValidateFunction>();
  const validatorOf = (pointer: string): ValidateFunction => {
    const known = validators.get(pointer) ?? ajv.compile({ $ref: `${documentId}#${pointer}` });
    validators.set(pointer, known);
    return known;
  };

  return (path, method, { status, headers, text }) => {
    const response = document.paths[path]?.[method]?.responses[String(status)];
    if (response === undefined) return `${status} is not documented: ${text.slice(0, 300)}`;
    const type = String(headers['content-type'] ?? '').split(';', 1)[0] ?? '';
    if (response.content === undefined)
      return text === '' && type === '' ? undefined : 'A body is not documented.';
    if (response.content[type] === undefined) return `The content type ${type} is not documented.`;
    const steps = ['paths', path, method, 'responses', String(status), 'content', type, 'schema'];
    const validate = validatorOf(steps.map((step) => `/${escape(step)}`).join(''));
    if (!validate(JSON.parse(text))) return `${ajv.errorsText(validate.errors)}: ${text.slice(0, 500)}`;
    const documented = Object.keys(response.headers ?? {}).map((name) => name.toLowerCase());
    const stray = ['location', 'link'].find(
      (name) => headers[name] !== undefined && !documented.includes(name),
    );
    return stray === undefined ? undefined : `The header ${stray} is not documented.`;
  };
};
