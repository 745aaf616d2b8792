import type { Caller } from '../route.ts';
import type { Role } from '../schemas.ts';

/** The life of a workspace that a caller is in, and up to which role they may act there. */
export type Membership = {
  readonly tenant_id: string;
  readonly incarnation: string;
  readonly role: Role;
  /** Of a user who is signed in. */
  readonly user_id?: string;
};

/** The workspace of a caller of its API; throws on callers that routes of the workspace API do not take. */
export const workspaceOf = (caller: Caller): Membership => {
  switch (caller.kind) {
    case 'api_key': {
      const { workspace_id, incarnation, role } = caller.key;
      return { tenant_id: workspace_id, incarnation, role };
    }
    case 'user': {
      const { workspace_id, incarnation, role, user_id } = caller.session;
      return { tenant_id: workspace_id, incarnation, role, user_id };
    }
    case 'admin':
    case 'verifier':
    case 'service_account':
      throw new Error(`A caller of kind ${caller.kind} is in no workspace.`);
  }
};
