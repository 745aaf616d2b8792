import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import proxyAddr from 'proxy-addr';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { sealedAtOnceMax } from './proofs/sealer.ts';
import { signerOf } from './proofs/signing-key.ts';

/** A token as a header can carry it. */
const token = z.string().regex(/^[\u0021-\u007e]{1,4096}$/, 'must be 1 to 4,096 visible ASCII characters');

/** The most proxies that may be named: each is looked at for each address that a request came by. */
const trustedProxiesMax = 100;

/** Names of blocks of addresses that `proxy-addr` knows. */
const proxyNames: ReadonlySet<string> = new Set(['loopback', 'linklocal', 'uniquelocal']);

/** Asked beside `compile`, which takes `10` for 0.0.0.10. */
const isProxy = (entry: string): boolean => {
  const [address = ''] = entry.split('/', 1);
  if (!proxyNames.has(entry) && (isIP(address) === 0 || address.includes('%'))) return false;
  try {
    proxyAddr.compile(entry);
    return true;
  } catch {
    return false;
  }
};

const trustedProxies = z
  .string('must be text')
  .transform((text) => (text.trim() === '' ? [] : text.split(',').map((entry) => entry.trim())))
  .refine((entries) => entries.every(isProxy), {
    message:
      'must be IP addresses, CIDR blocks, `loopback`, `linklocal` or `uniquelocal`, separated by commas',
    abort: true,
  })
  .refine((entries) => entries.length <= trustedProxiesMax, `must name at most ${trustedProxiesMax}`)
  .readonly();

const isSigningKey = (pem: string): boolean => {
  try {
    signerOf(pem);
    return true;
  } catch {
    return false;
  }
};

/** A whole number in its usual digits. */
const wholeNumber = (min: number, max: number) => {
  const message = `must be a number from ${min} to ${max}`;
  return z
    .string('must be a number')
    .regex(/^\d{1,7}$/, message)
    .transform(Number)
    .pipe(z.int().min(min, message).max(max, message));
};

const members = z.strictObject({
  admin_token: token.optional(),
  admin_token_previous: token.optional(),
  verifier_token: token.optional(),
  host: z.string().min(1, 'must not be empty').default('127.0.0.1'),
  port: wholeNumber(0, 65_535).default(8080),
  data_dir: z.string().min(1, 'must not be empty').default('./data'),
  event_store: z
    .string()
    .regex(
      /^(?:embedded|(?:esdb|kurrentdb)(?:\+discover)?:\/\/.+)$/,
      'must be `embedded`, or a connection string: `esdb://…` or `kurrentdb://…`',
    )
    .default('embedded'),
  read_models: z
    .string()
    .regex(
      /^(?:embedded|mongodb(?:\+srv)?:\/\/.+)$/,
      'must be `embedded`, or a connection string: `mongodb://…`',
    )
    .default('embedded'),
  trusted_proxies: trustedProxies.default([]),
  signing_key: z.string().refine(isSigningKey, 'must be a private key of Ed25519 in PEM').optional(),
  checkpoint_events: wholeNumber(1, sealedAtOnceMax).default(1_000),
  checkpoint_minutes: wholeNumber(1, 1_440).default(5),
  log_level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
});

/** A log on one machine with read models elsewhere would be two places that can each be lost without the other. */
const settings = members.refine(
  ({ event_store, read_models }) => event_store !== 'embedded' || read_models === 'embedded',
  {
    path: ['read_models'],
    message: 'must be `embedded` where the event store is embedded',
  },
);

/** The service's settings, checked. */
export type Config = Readonly<z.output<typeof settings>>;

/** An admin token below this many characters is taken, with a warning. */
const adminTokenCharsAdvised = 32;

const environmentNames: { readonly [K in keyof Config]-?: string } = {
  admin_token: 'SERVICE_CP_ADMIN_TOKEN',
  admin_token_previous: 'SERVICE_CP_ADMIN_TOKEN_PREVIOUS',
  verifier_token: 'SERVICE_CP_VERIFIER_TOKEN',
  host: 'SERVICE_HOST',
  port: 'SERVICE_PORT',
  data_dir: 'SERVICE_DATA_DIR',
  event_store: 'SERVICE_EVENT_STORE',
  read_models: 'SERVICE_READ_MODELS',
  trusted_proxies: 'SERVICE_TRUSTED_PROXIES',
  signing_key: 'SERVICE_SIGNING_KEY',
  checkpoint_events: 'SERVICE_CHECKPOINT_EVENTS',
  checkpoint_minutes: 'SERVICE_CHECKPOINT_MINUTES',
  log_level: 'SERVICE_LOG_LEVEL',
};

/** Settings that are secret, and can also be named by a file: `<NAME>_FILE`. */
const secretSettings = [
  'admin_token',
  'admin_token_previous',
  'verifier_token',
  'event_store',
  'read_models',
  'signing_key',
] as const;

/** Settings that are numbers. */
const numbers = ['port', 'checkpoint_events', 'checkpoint_minutes'] as const;

/** The settings are wrong: `faults` has one line for each. */
export class BadConfig extends Error {
  override readonly name = 'BadConfig';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

/** What a source of settings gave, and what was wrong with it. */
type Source = { readonly values: Readonly<Record<string, unknown>>; readonly faults: readonly string[] };

const readText = (path: string, what: string): { readonly text: string } | { readonly fault: string } => {
  try {
    return { text: readFileSync(path, 'utf8') };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    return { fault: `${what}: cannot read ${path} (${code})` };
  }
};

const fromFile = (path: string | undefined): Source => {
  if (path === undefined || path === '') return { values: {}, faults: [] };
  const read = readText(path, 'configuration file');
  if ('fault' in read) return { values: {}, faults: [read.fault] };
  let parsed: unknown;
  try {
    parsed = parseYaml(read.text) ?? {};
  } catch {
    return { values: {}, faults: [`configuration file: ${path} is not well-formed YAML`] };
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    return { values: {}, faults: [`configuration file: ${path} must hold one mapping of settings`] };
  }
  const values: Record<string, unknown> = { ...parsed };
  // YAML reads `port: 8080` as a number. Of any other setting a number is refused: digits of a token would be lost.
  for (const name of numbers) if (typeof values[name] === 'number') values[name] = String(values[name]);
  return { values, faults: [] };
};

const fromEnvironment = (env: NodeJS.ProcessEnv): Source => {
  const values: Record<string, string> = {};
  const faults: string[] = [];
  for (const [setting, name] of Object.entries(environmentNames)) {
    const value = env[name];
    if (value !== undefined && value !== '') values[setting] = value;
  }
  for (const setting of secretSettings) {
    const name = `${environmentNames[setting]}_FILE`;
    const path = env[name];
    if (path === undefined || path === '') continue;
    if (values[setting] !== undefined) {
      faults.push(`${environmentNames[setting]} and ${name} are both set`);
      continue;
    }
    const read = readText(path, name);
    if ('fault' in read) faults.push(read.fault);
    else values[setting] = read.text.trim();
  }
  return { values, faults };
};

const faultsOf = (error: z.ZodError): readonly string[] =>
  error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => `${key}: there is no such setting`);
    const setting = String(issue.path[0]);
    const name = environmentNames[setting as keyof Config] ?? setting;
    return [`${setting} (${name}): ${issue.message}`];
  });

/**
 * The settings from the environment, then from the YAML file that `path` or `SERVICE_CONFIG` names, then the
 * defaults. Throws `BadConfig` with every fault; no message holds a value, for values can be secrets.
 */
export const readConfig = (
  env: NodeJS.ProcessEnv,
  path?: string,
): { readonly config: Config; readonly warnings: readonly string[] } => {
  const file = fromFile(path ?? env['SERVICE_CONFIG']);
  const environment = fromEnvironment(env);
  const parsed = settings.safeParse({ ...file.values, ...environment.values });
  const faults = [...file.faults, ...environment.faults, ...(parsed.success ? [] : faultsOf(parsed.error))];
  if (!parsed.success || faults.length > 0) throw new BadConfig(faults);
  const config = parsed.data;
  const warnings: string[] = [];
  if (config.admin_token === undefined) {
    warnings.push('No admin token is set: the Admin API is off.');
  } else if (config.admin_token.length < adminTokenCharsAdvised) {
    warnings.push(`The admin token is shorter than ${adminTokenCharsAdvised} characters: use a longer one.`);
  }
  if (config.signing_key === undefined && config.read_models !== 'embedded')
    warnings.push('No signing key is set: the log is not sealed.');
  return { config, warnings };
};
