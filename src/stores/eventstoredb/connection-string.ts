import { readFileSync } from 'node:fs';

/** A server's address. */
export type Host = { readonly address: string; readonly port: number };

/** What a connection string says. */
export type ConnectionSettings = {
  readonly hosts: readonly Host[];
  /** Ask the hosts for the cluster's members: of one host where the scheme says so, of several always. */
  readonly discover: boolean;
  readonly credentials: { readonly username: string; readonly password: string } | undefined;
  readonly tls: boolean;
  readonly certificates: {
    readonly rootCertificate?: Buffer;
    readonly userCertFile?: Buffer;
    readonly userKeyFile?: Buffer;
  };
  /** The other options, by their lower-case names. */
  readonly options: ReadonlyMap<string, string>;
};

/** The port of a host that names none. */
const defaultPort = 2113;

const form =
  /^(?:esdb|kurrentdb)(?<discover>\+discover)?:\/\/(?:(?<user>[^@/?:]+):(?<password>[^@/?]+)@)?(?<hosts>[^@/?]+)\/?(?:\?(?<query>.*))?$/;

const whole = /^-?\d+$/;

/** Every option that is taken, by its lower-case name, and the form of its value. */
const optionForms: ReadonlyMap<string, RegExp> = new Map([
  ['tls', /^(true|false)$/],
  // The client ignores `false`, so that taking it would promise what is not done.
  ['tlsverifycert', /^true$/],
  ['tlscafile', /^.+$/],
  ['usercertfile', /^.+$/],
  ['userkeyfile', /^.+$/],
  ['nodepreference', /^leader$/i],
  ['connectionname', /^.+$/],
  ['maxdiscoverattempts', whole],
  ['discoveryinterval', whole],
  ['gossiptimeout', whole],
  ['defaultdeadline', /^[1-9]\d*$/],
  ['keepaliveinterval', whole],
  ['keepalivetimeout', whole],
]);

// No part of a connection string is ever quoted: it can hold a password.
const refuse = (why: string): Error => new Error(`The event store's connection string ${why}.`);

const readOptions = (query: string): ReadonlyMap<string, string> => {
  const options = new Map<string, string>();
  // Else a part of a password could be taken for an option's name, which is quoted.
  if (query.includes('@')) throw refuse('has credentials that are not percent-encoded');
  for (const [name, value] of new URLSearchParams(query)) {
    const optionForm = optionForms.get(name.toLowerCase());
    if (optionForm === undefined) throw refuse(`has an option that is not known: ${name.slice(0, 40)}`);
    if (!optionForm.test(value)) throw refuse(`has a value of ${name} that is not supported`);
    options.set(name.toLowerCase(), value);
  }
  return options;
};

const readHost = (text: string): Host => {
  const [, address, port] = /^([^:\s]+)(?::(\d{1,5}))?$/.exec(text.trim()) ?? [];
  if (address === undefined) throw refuse('has a host that can not be read');
  return { address, port: port === undefined ? defaultPort : Number(port) };
};

const readFile = (path: string | undefined): Buffer | undefined => {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path);
  } catch {
    throw refuse(`names a file that can not be read: ${path}`);
  }
};

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    throw refuse('has credentials that are not percent-encoded');
  }
};

/**
 * Reads a connection string as KurrentDB's documentation has it. Throws one clear line without any part of the
 * credentials; refuses options that the client would ignore.
 */
export const readConnectionString = (text: string): ConnectionSettings => {
  const { discover, user, password, hosts, query = '' } = form.exec(text.trim())?.groups ?? {};
  if (hosts === undefined) throw refuse('is not of the form esdb://user:password@host:2113?tls=true');
  const options = readOptions(query);
  const [rootCertificate, userCertFile, userKeyFile] = ['tlscafile', 'usercertfile', 'userkeyfile'].map(
    (name) => readFile(options.get(name)),
  );
  if ((userCertFile === undefined) !== (userKeyFile === undefined))
    throw refuse('names one of userCertFile and userKeyFile without the other');
  const all = hosts.split(',').map(readHost);
  return {
    hosts: all,
    discover: discover !== undefined || all.length > 1,
    credentials:
      user === undefined || password === undefined
        ? undefined
        : { username: decode(user), password: decode(password) },
    tls: options.get('tls') !== 'false',
    certificates: {
      ...(rootCertificate === undefined ? {} : { rootCertificate }),
      ...(userCertFile === undefined ? {} : { userCertFile }),
      ...(userKeyFile === undefined ? {} : { userKeyFile }),
    },
    options,
  };
};
