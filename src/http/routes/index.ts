import type { Route } from '../route.ts';
import { authenticateRoutes } from './authenticate.ts';
import { operationRoutes } from './operations.ts';
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
  ...authenticateRoutes,
  ...operationRoutes,
];
