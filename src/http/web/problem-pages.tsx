import { Router } from '@koa/router';
import { refusals, type RefusalCode } from '../../refusals.ts';
import { sendPage } from '../pages/page.ts';
import { ProblemPage, ProblemsPage } from '../pages/problems.tsx';
import { RequestRefused, slugOf } from '../problem.ts';

/** The pages that the `type` of every problem document points at. */
export const createProblemPages = (): Router => {
  const codes = new Map((Object.keys(refusals) as RefusalCode[]).map((code) => [slugOf(code), code]));
  const router = new Router({ strict: true, sensitive: true });
  router.get('/problems', (ctx) => sendPage(ctx, 200, <ProblemsPage />));
  router.get('/problems/:slug', (ctx) => {
    const code = codes.get(String(ctx['params']['slug']));
    if (code === undefined) throw new RequestRefused('route.unknown', 'There is no problem of this name.');
    sendPage(ctx, 200, <ProblemPage code={code} />);
  });
  return router;
};
