import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { parse as parseYaml } from 'yaml';
import { adminApi, workspaceApi } from '../../src/http/api.ts';
import { statusOfCode } from '../../src/http/problem.ts';
import { createClient } from '../support/client.ts';
import type { ApiDescription } from '../support/openapi.ts';
import { freshFolder, removeFolder, startProgram, type Program } from '../support/program.ts';

for (const { name, title, routes, scheme } of [adminApi, workspaceApi]) {
  describe(`the OpenAPI document of the ${title}`, () => {
    let program: Program;
    let document: ApiDescription;
    let yaml: string;

    before(async () => {
      program = await startProgram({ dir: freshFolder() });
      const client = createClient(program.url);
      document = (await client('GET', `/apidoc/${name}.json`, { token: null })).body as ApiDescription;
      yaml = (await client('GET', `/apidoc/${name}.yaml`, { token: null })).text;
    });
    after(async () => {
      await program.stop();
      removeFolder(program.dir);
    });

    it('is valid OpenAPI 3.1', async () => {
      const validator = new Validator();
      const { valid, errors } = await validator.validate(structuredClone(document));
      expect([valid, validator.version], JSON.stringify(errors)).to.deep.equal([true, '3.1']);
    });

    it('says the same as JSON and as YAML', () => {
      expect(parseYaml(yaml)).to.deep.equal(document);
    });

    it('has every route, and nothing that is none', () => {
      const documented = Object.entries(document.paths).flatMap(([path, operations]) =>
        Object.entries(operations).map(([method, { operationId }]) => `${method} ${path} ${operationId}`),
      );
      expect(documented).to.have.members(
        routes.map(({ method, path, id }) => `${method.toLowerCase()} ${path} ${id}`),
      );
    });

    it('has every answer and every refusal that a route states', () => {
      for (const route of routes) {
        const responses = document.paths[route.path]?.[route.method.toLowerCase()]?.responses ?? {};
        expect(Object.keys(responses), route.id).to.include.members(Object.keys(route.responses));
        for (const code of route.refusals)
          expect(responses[String(statusOfCode(code))]?.description, code).to.contain(`\`${code}\``);
      }
    });

    it('takes no member in a body that it does not name', () => {
      for (const operations of Object.values(document.paths)) {
        for (const { operationId, requestBody } of Object.values(operations)) {
          const schema = requestBody?.content['application/json']?.schema as {
            additionalProperties?: unknown;
          };
          if (requestBody !== undefined) expect(schema.additionalProperties, operationId).to.equal(false);
        }
      }
    });

    it('tells what is shown once, and how callers prove who they are', () => {
      expect(JSON.stringify(document)).to.match(/shown here only/i);
      expect(JSON.stringify(document)).to.contain(`"${scheme.name}":{"type":"${scheme.definition.type}"`);
    });
    if (name === 'admin')
      it('tells what the log keeps', () => {
        expect(JSON.stringify(document)).to.match(/kept in the log/);
      });
  });
}
