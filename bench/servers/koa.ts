import { Router } from '@koa/router';
import Koa, { type Context } from 'koa';
import { koaBody } from 'koa-body';
import type { Answer } from '../operations.ts';
import { readAnswers } from './answers.ts';
import { announce } from './listening.ts';

// The floor: the service's own stack as a plain app would set it up, answering a constant to the same request.
const answers = readAnswers();
const send =
  ({ status, body }: Answer) =>
  (ctx: Context): void => {
    ctx.status = status;
    ctx.body = body;
  };
const router = new Router()
  .post('/admin/v1/tenants/:id/tokens', send(answers.mint))
  .post('/admin/v1/tenants/:id/authenticate', send(answers.authenticate))
  .get('/admin/v1/tenants/:id', send(answers.get))
  .get('/admin/v1/tenants/:id/users', send(answers.list))
  .delete('/admin/v1/tenants/:id/tokens/:username', send(answers.revoke))
  .get('/api/:workspace/agents', send(answers.agents))
  .post('/workflows', send(answers.workflow));
const app = new Koa()
  .use(koaBody({ json: true, urlencoded: false, text: false, multipart: false }))
  .use(router.routes())
  .use(router.allowedMethods());
const server = app.listen(0, '127.0.0.1', () => announce(server));
