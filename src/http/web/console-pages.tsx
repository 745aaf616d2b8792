import type { Router } from '@koa/router';
import type { Web } from './web.ts';
import { addAccessPages } from './console-access.tsx';
import { addEventPage } from './console-event.tsx';
import { addEventPages } from './console-events.tsx';
import { addServiceAccountPages } from './console-service-accounts.tsx';
import { addTenantPages } from './console-tenants.tsx';
import { addTenantPartPages } from './console-tenant-parts.tsx';
import { createAtMoment } from './moments.tsx';

/** The pages of the operator: they call the operations of the Admin API as `admin`, and nothing else. */
export const createConsolePages = (web: Web): Router => {
  const pages = web.operatorPages();
  const atMoment = createAtMoment();
  addTenantPages(pages, atMoment);
  addTenantPartPages(pages, atMoment);
  addEventPages(pages, atMoment);
  addEventPage(pages);
  addAccessPages(pages, atMoment);
  addServiceAccountPages(pages, atMoment);
  return pages.router;
};
