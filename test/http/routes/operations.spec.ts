import { expect } from 'chai';
import { projections } from '../../../src/projections/index.ts';
import { arrangeAccount } from '../../support/client.ts';
import { verifierToken } from '../../support/program.ts';
import { expectProblem } from '../../support/problems.ts';
import { serving } from '../../support/serving.ts';
import { until } from '../../support/waiting.ts';

const versions = new Map(projections.map(({ name, version }) => [name, version]));
const names = [...versions.keys()].toSorted();

describe('operations over HTTP', () => {
  const { client } = serving();
  const path = '/admin/v1/projections';

  it('tells capabilities in both readings of the interface, to the operator and to service accounts', async () => {
    const { bearer } = await arrangeAccount(client, 'acme');
    for (const ask of [{}, { token: bearer }]) {
      const { status, body } = await client('GET', '/admin/v1/capabilities', ask);
      expect(status).to.equal(200);
      expect(body).to.deep.equal({ 'mint.write_schemas': true, mint: { write_schemas: true } });
    }
    const denied = await client('GET', '/admin/v1/capabilities', { token: verifierToken });
    expectProblem(denied, 403, 'authorization.denied');
  });

  it('lists every read model with its version and how far it has come', async () => {
    type Model = { readonly name: string; readonly checkpoint: string };
    let models: readonly Model[] = [];
    // Of read models that follow the log, one can be a step ahead of another.
    await until('all have come as far', async () => {
      const { status, body } = await client('GET', path);
      expect(status).to.equal(200);
      models = body as readonly Model[];
      return new Set(models.map(({ checkpoint }) => checkpoint)).size === 1;
    });
    expect(models.map(({ name }) => name).toSorted()).to.deep.equal(names);
    for (const model of models) {
      expect(model).to.have.all.keys('name', 'version', 'checkpoint', 'rebuilding');
      expect(model.checkpoint).to.match(/^\d{20}$/);
      expect(model).to.include({ version: versions.get(model.name), rebuilding: null });
    }
  });
  for (const name of names) {
    it(`rebuilds ${name}, and goes on answering`, async () => {
      const { status, body } = await client('POST', `${path}/${name}/rebuild`);
      expect(status).to.equal(202);
      expect(body).to.include({ name });
      const done = async () => {
        const models = (await client('GET', path)).body as { name: string; rebuilding: unknown }[];
        expect((await client('GET', '/admin/v1/tenants/acme')).status).to.equal(200);
        return models.find((model) => model.name === name)?.rebuilding === null;
      };
      await until(`${name} is rebuilt`, done);
    });
  }
  it('answers 404 for a read model that is not there', async () => {
    expectProblem(await client('POST', `${path}/none/rebuild`), 404, 'projection.unknown');
  });
});

describe('without an admin token', () => {
  const { client } = serving({ SERVICE_CP_ADMIN_TOKEN: '' });

  it('the whole Admin API answers that the control plane is not configured', async () => {
    for (const [method, path] of [
      ['GET', '/admin/v1/tenants'],
      ['POST', '/admin/v1/tenants'],
      ['GET', '/admin/v1/capabilities'],
      ['GET', '/admin/v1/nothing'],
    ] as const) {
      const answer = await client(method, path);
      expectProblem(answer, 404, 'control-plane.not-configured');
      expect(answer.body.type).to.equal('/problems/control-plane-not-configured');
    }
  });
  it('everything else works', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics', '/apidoc', '/problems'])
      expect((await client('GET', path, { token: null })).status, path).to.equal(200);
  });
});
