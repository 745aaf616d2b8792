import * as fc from 'fast-check';

/** From the least to the most. */
export const roles = ['reader', 'writer', 'admin'] as const;

const small = fc.nat({ max: 2 });
const any = fc.nat({ max: 11 });
const aRole = fc.constantFrom(...roles);

/** What each act may be asked with; tenants, users, accounts and credentials are counted among what there is. */
const wishes = {
  createTenant: fc.record({ tenant: small }),
  deleteTenant: fc.record({ tenant: small }),
  createUser: fc.record({ tenant: small, user: small, password: small, role: aRole }),
  deleteUser: fc.record({ tenant: small, user: small }),
  signIn: fc.record({ tenant: small, user: small, password: small }),
  createAccount: fc.record({ tenant: small, max_role: aRole, max_ttl_secs: fc.constantFrom(1, 60, 86_400) }),
  rotate: fc.record({ account: any, grace_secs: fc.constantFrom(0, 1, 60) }),
  deleteAccount: fc.record({ account: any, credentials: fc.constantFrom('revoke', 'keep', undefined) }),
  mint: fc.record({
    account: any,
    bearer: any,
    elsewhere: fc.option(small),
    role: aRole,
    ttl_secs: fc.constantFrom(1, 60, 61, 86_400),
  }),
  revoke: fc.record({ credential: any, by: fc.option(any), elsewhere: fc.option(small) }),
  lookUp: fc.record({ credential: any, elsewhere: fc.option(small) }),
  useBearer: fc.record({ account: any, bearer: any }),
  list: fc.record({ tenant: small }),
  pass: fc.record({ ms: fc.constantFrom(0, 1, 999, 1_000, 59_000, 60_000) }),
};

/** What can be asked. */
export type Act = keyof typeof wishes;
/** What one act is asked with. */
export type WishOf<A extends Act> = (typeof wishes)[A] extends fc.Arbitrary<infer W> ? W : never;

/** Something to ask of the service; what it refers to is counted among what there is. */
export type Wish = { readonly [A in Act]: { readonly act: A } & WishOf<A> }[Act];

/** How often each is drawn. Users are rare, for each costs a password hash. */
const weights: Readonly<Record<Act, number>> = {
  createTenant: 12,
  deleteTenant: 4,
  createUser: 2,
  deleteUser: 1,
  signIn: 1,
  createAccount: 14,
  rotate: 7,
  deleteAccount: 8,
  mint: 24,
  revoke: 9,
  lookUp: 12,
  useBearer: 5,
  list: 3,
  pass: 6,
};

/** Every history begins with something to act on. */
const beginning: readonly Wish[] = [
  { act: 'createTenant', tenant: 0 },
  { act: 'createTenant', tenant: 1 },
  { act: 'createAccount', tenant: 0, max_role: 'admin', max_ttl_secs: 86_400 },
  { act: 'createAccount', tenant: 0, max_role: 'reader', max_ttl_secs: 60 },
  { act: 'createAccount', tenant: 1, max_role: 'writer', max_ttl_secs: 86_400 },
];

/** A history of so many wishes behind the first few that every one has. */
export const histories = (length: {
  readonly least: number;
  readonly most: number;
}): fc.Arbitrary<readonly Wish[]> =>
  fc
    .array(
      fc.oneof(
        ...Object.entries(wishes).map(([act, arbitrary]) => ({
          weight: weights[act as Act],
          arbitrary: (arbitrary as fc.Arbitrary<object>).map((wish) => ({ act, ...wish }) as unknown as Wish),
        })),
      ),
      // Short histories are what fast-check would try most; it shortens those that fail anyway.
      { minLength: length.least, maxLength: length.most },
    )
    .map((drawn) => [...beginning, ...drawn]);
