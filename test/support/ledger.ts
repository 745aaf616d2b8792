/** How a thing stands as its clients know it: asked for, there, asked to end, ended. */
export type Life = 'asked' | 'alive' | 'ending' | 'ended';

export type LedgerTenant = { readonly id: string; life: Life };

export type LedgerAccount = {
  readonly id: string;
  readonly name: string;
  readonly tenant: LedgerTenant;
  life: Life;
  /** Absent where a rotation was made but its answer never came. */
  bearer: string | undefined;
  /** A rotation was asked for and not answered: whether `bearer` still works is open. */
  rotating: boolean;
  readonly rotatedAway: string[];
  /** Looked up since it last changed. */
  checked: boolean;
};

export type LedgerCredential = {
  readonly username: string;
  readonly password: string;
  readonly subject: string;
  readonly account: LedgerAccount;
  life: Life;
  /** Looked up since it last changed. */
  checked: boolean;
};

export type LedgerUser = {
  readonly username: string;
  readonly password: string;
  readonly tenant: LedgerTenant;
  life: Life;
  checked: boolean;
};

/** All that clients asked of one data folder, and what was answered: what must hold after whatever happens to it. */
export type Ledger = {
  readonly tenants: LedgerTenant[];
  readonly accounts: LedgerAccount[];
  readonly credentials: LedgerCredential[];
  readonly users: LedgerUser[];
  /** Names of accounts and subjects of credentials that were asked for and not answered. */
  readonly unanswered: Set<string>;
  /** How many names have been given. */
  named: number;
};

/** A ledger of an empty folder. It is plain data: `structuredClone` copies it. */
export const createLedger = (): Ledger => ({
  tenants: [],
  accounts: [],
  credentials: [],
  users: [],
  unanswered: new Set(),
  named: 0,
});

/** A name that nothing else of this ledger has. */
export const newName = (ledger: Ledger, kind: string): string => `${kind}-${(ledger.named += 1)}`;

/** What a look-up has to say of something. */
export type Expectation = 'works' | 'refused' | 'either';

const expected = (lives: readonly Life[]): Expectation => {
  if (lives.includes('ended')) return 'refused';
  return lives.every((life) => life === 'alive') ? 'works' : 'either';
};

/** Whether the account is there: it ends with its tenant. */
export const expectedOfAccount = ({ life, tenant }: LedgerAccount): Expectation =>
  expected([life, tenant.life]);

/** Whether the account's newest bearer works. */
export const expectedOfBearer = (account: LedgerAccount): Expectation => {
  const ofAccount = expectedOfAccount(account);
  return ofAccount === 'works' && account.rotating ? 'either' : ofAccount;
};

/** Whether the credential works: it ends with its account and its tenant. */
export const expectedOfCredential = ({ life, account }: LedgerCredential): Expectation =>
  expected([life, account.life, account.tenant.life]);

/** Whether the user can sign in: it ends with its tenant. */
export const expectedOfUser = ({ life, tenant }: LedgerUser): Expectation => expected([life, tenant.life]);
