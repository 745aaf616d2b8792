import type { Route } from '../route.ts';
import { accessRoutes } from './access.ts';
import { activityRoutes } from './activity.ts';
import { adminApiKeyRoutes, apiKeyRoutes } from './api-keys.ts';
import { authenticateRoutes } from './authenticate.ts';
import { checkpointRoutes } from './checkpoints.ts';
import { diffRoutes } from './diff.ts';
import { eventRoutes } from './events.ts';
import { operationRoutes } from './operations.ts';
import { resourceRoutes, unscopedRoutes } from './resources.ts';
import { serviceAccountRoutes } from './service-accounts.ts';
import { tenantRoutes } from './tenants.ts';
import { tokenRoutes } from './tokens.ts';
import { userRoutes } from './users.ts';

/** Every operation of the Admin API. */
export const adminRoutes: readonly Route[] = [
  ...tenantRoutes,
  ...userRoutes,
  ...serviceAccountRoutes,
  ...tokenRoutes,
  ...adminApiKeyRoutes,
  ...activityRoutes,
  ...eventRoutes,
  ...checkpointRoutes,
  ...accessRoutes,
  ...diffRoutes,
  ...authenticateRoutes,
  ...operationRoutes,
];

/** Every operation of the workspace API. */
export const workspaceRoutes: readonly Route[] = [...resourceRoutes, ...apiKeyRoutes, ...unscopedRoutes];
