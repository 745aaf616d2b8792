import type { ReadModels } from '../core/ports.ts';
import type { Role } from '../events/fields.ts';
import { projection } from './define.ts';
import { standing, tombstone } from './revocations.ts';

/** A user's session in the web interface of their workspace. */
export type UserSession = {
  readonly kind: 'user';
  readonly session_id: string;
  readonly workspace_id: string;
  readonly incarnation: string;
  readonly user_id: string;
  readonly username: string;
  readonly role: Role;
  readonly expires_at: string;
  /** The id of the sign-in's event. */
  readonly given_by: string;
};

/** The operator's session in the console; it ends with the admin token of this digest. */
export type OperatorSession = {
  readonly kind: 'operator';
  readonly session_id: string;
  readonly admin_token_digest: string;
  readonly expires_at: string;
  /** The id of the sign-in's event. */
  readonly given_by: string;
};

/** The sessions ever begun, by the digest of what the cookie holds; which still last is for `findSession`. */
export const sessions = projection<UserSession | OperatorSession>({
  name: 'sessions',
  version: 2,
  kind: 'stream',
  on: {
    UserSignedIn: ({ data, id }) => [
      {
        id: data.session_digest,
        to: () => ({
          kind: 'user',
          session_id: data.session_id,
          workspace_id: data.tenant_id,
          incarnation: data.incarnation,
          user_id: data.user_id,
          username: data.username,
          role: data.role,
          expires_at: data.expires_at,
          given_by: id,
        }),
      },
    ],
    OperatorSignedIn: ({ data, id }) => [
      {
        id: data.session_digest,
        to: () => ({
          kind: 'operator',
          session_id: data.session_id,
          admin_token_digest: data.admin_token_digest,
          expires_at: data.expires_at,
          given_by: id,
        }),
      },
    ],
  },
});

/** The session of this digest, if it, its user and their tenant last at `nowMs`. */
export const findSession = async (
  reads: ReadModels,
  digest: string,
  nowMs: number,
): Promise<UserSession | OperatorSession | undefined> => {
  const session = await reads.documents<UserSession | OperatorSession>('sessions').get(digest);
  if (session === undefined) return undefined;
  const ends = [
    tombstone.session(session.session_id),
    ...(session.kind === 'user'
      ? [tombstone.user(session.user_id), tombstone.tenant(session.incarnation)]
      : []),
  ];
  return (await standing(reads, ends, session.expires_at, nowMs)) === 'active' ? session : undefined;
};
