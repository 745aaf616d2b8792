import { findTenant } from '../projections/tenants.ts';
import { findPassword, type Password } from '../projections/users.ts';
import type { Services } from './services.ts';

/** No user's password has more bytes: what is longer is hashed no further and can't be right. */
const passwordBytesMax = 1_024;

/**
 * The user whose name and password these are, in that tenant. It takes as long whether there is such a user or not;
 * throws `TooManyHashes` where too many passwords are being looked at.
 */
export const verifyUser = async (
  tenantId: string,
  username: string,
  password: string,
  { reads, passwords }: Pick<Services, 'reads' | 'passwords'>,
): Promise<Password | undefined> => {
  // An incarnation that ends while the hash is computed is told by the second look at the user.
  const tenant = await findTenant(reads, tenantId);
  const find = async () =>
    tenant === undefined ? undefined : findPassword(reads, tenant.incarnation, username);
  const isTooLong = Buffer.byteLength(password) > passwordBytesMax;
  const found = isTooLong ? undefined : await find();
  // Where there is no such user a hash is computed all the same: the time tells nothing.
  if (!(await passwords.verify(found?.password_hash, isTooLong ? '' : password)) || found === undefined)
    return undefined;
  // The hash took its time, in which the user or the tenant can have ended.
  const still = await find();
  return still?.user_id === found.user_id ? found : undefined;
};
