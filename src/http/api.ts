import type { RefusalCode } from '../refusals.ts';
import type { Route } from './route.ts';
import { adminRoutes, workspaceRoutes } from './routes/index.ts';

/** One of the service's APIs: where it is, how callers prove who they are, and its operations. */
export type Api = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Every path below these belongs to it, whether there is anything or not. */
  readonly prefixes: readonly string[];
  readonly scheme: {
    readonly name: string;
    readonly definition:
      | { readonly type: 'http'; readonly scheme: 'bearer'; readonly description: string }
      | {
          readonly type: 'apiKey';
          readonly in: 'header';
          readonly name: string;
          readonly description: string;
        };
  };
  /** The refusals of whoever has not proven who they are. */
  readonly unauthenticated: readonly RefusalCode[];
  readonly routes: readonly Route[];
  /** Whether requests that are refused to their caller (401, 403) leave a trace in the log. */
  readonly keepsRefused?: boolean;
};

/** Operators manage tenants and what is in them. */
export const adminApi: Api = {
  name: 'admin',
  title: 'Keyledger Admin API',
  description:
    'Operate tenants (databases), their users, service accounts, short-lived credentials and API keys. Every error is an RFC 9457 problem document. Clients must ignore response members they do not know.',
  prefixes: ['/admin/v1'],
  scheme: {
    name: 'bearer',
    definition: {
      type: 'http',
      scheme: 'bearer',
      description: 'The admin token, the verifier token, or a service account’s bearer.',
    },
  },
  unauthenticated: ['control-plane.not-configured', 'authentication.missing', 'authentication.invalid'],
  routes: adminRoutes,
  keepsRefused: true,
};

/** Applications work in a workspace with an API key. */
export const workspaceApi: Api = {
  name: 'workspace',
  title: 'Keyledger Workspace API',
  description:
    'Agents, threads and workflows of a workspace, and its API keys. Send a key in the header `X-API-Key`; a signed-in user makes keys in the web interface. Every error is an RFC 9457 problem document. Clients must ignore response members they do not know.',
  prefixes: ['/api', '/workflows'],
  scheme: {
    name: 'apiKey',
    definition: {
      type: 'apiKey',
      in: 'header',
      name: 'X-API-Key',
      description: 'An API key of the workspace: `svc_…`.',
    },
  },
  unauthenticated: [
    'api-key.missing',
    'api-key.malformed',
    'api-key.unknown',
    'api-key.expired',
    'api-key.revoked',
  ],
  routes: workspaceRoutes,
};
