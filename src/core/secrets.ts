/** A secret that is given to a client once, and the digest that is kept instead. */
export type FreshSecret = { readonly value: string; readonly digest: string };

/** What makes and checks machine secrets: tokens, bearers, keys. */
export type Secrets = {
  /** A new secret: the prefix, 256 random bits in base62, a 6-character checksum. */
  fresh(prefix: SecretPrefix): FreshSecret;
  /** Whether the text has that prefix and its checksum is right: a mistyped secret is told without a look-up. */
  isWellFormed(prefix: SecretPrefix, text: string): boolean;
  /** SHA-256 in base64url. */
  digest(text: string): string;
  /**
   * What tells tokens of one holder apart and gives none away: the first 8 hexadecimal digits of the SHA-256 of the
   * token's digest, so that not even a part of the digest is shown.
   */
  fingerprint(digest: string): string;
  /** Compares two digests in constant time. */
  isSame(digest: string, other: string): boolean;
  /** A new id of that kind, in order of time, so that neighbours in time are neighbours in every index. */
  newId(prefix?: IdPrefix): string;
};

/** What a secret is for, told by how it starts. */
export type SecretPrefix = 'sab_' | 'tk_' | 'svc_' | 'ses_';

/** What an id is of, told by how it starts. */
export type IdPrefix = 'sa_' | 'cred_' | 'key_' | 'agent_' | 'thread_' | 'workflow_';

/** Too many passwords are being hashed: the request may be tried again. */
export class TooManyHashes extends Error {
  override readonly name = 'TooManyHashes';
}

/** Hashing of user passwords; both methods throw `TooManyHashes` where too many wait. */
export type Passwords = {
  /** An argon2id PHC string. */
  hash(password: string): Promise<string>;
  /** Takes as long where there is no hash to compare with (`undefined`), and answers false. */
  verify(hash: string | undefined, password: string): Promise<boolean>;
  /** Resolves when no hash is in flight any more; none is taken after it. */
  drain(): Promise<void>;
};
