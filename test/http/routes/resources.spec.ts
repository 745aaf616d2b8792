import { expect } from 'chai';
import { codec } from '../../../src/events/index.ts';
import type { Answer, Client } from '../../support/client.ts';
import { logOf } from '../../support/engines.ts';
import { expectInvalid, expectProblem } from '../../support/problems.ts';
import { bodyOf, servingWorkspaces } from '../../support/workspace.ts';

type Made = { readonly id: string; readonly [member: string]: unknown };

const kinds = {
  agents: { noun: 'agent', named: 'name', bases: ['/api/acme/agents'], unknown: 'agent.unknown' },
  threads: { noun: 'thread', named: 'title', bases: ['/api/acme/threads'], unknown: 'thread.unknown' },
  workflows: {
    noun: 'workflow',
    named: 'name',
    bases: ['/api/acme/workflows', '/workflows', '/api/workflows'],
    unknown: 'workflow.unknown',
  },
} as const;

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const expectNoAgent = (answer: Answer): void => {
  const errors = expectProblem(answer, 400, 'thread.agent-unknown');
  expect(errors.map(({ pointer }) => pointer)).to.deep.equal(['/agent_id']);
};

describe('resources of a workspace', () => {
  const { as, workspace, program, client } = servingWorkspaces(['acme', 'other', 'paged', 'short']);
  const writer: Client = (...ask) => as('acme', 'writer')(...ask);
  const reader: Client = (...ask) => as('acme', 'reader')(...ask);
  const stranger: Client = (...ask) => as('other')(...ask);
  const change = (path: string, patch: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
    writer('PATCH', path, { body: patch, headers });

  const pagesFrom = async (first: string): Promise<readonly (readonly string[])[]> => {
    const pages: string[][] = [];
    for (let next: string | undefined = first; next !== undefined;) {
      const answer: Answer = await as('paged', 'reader')('GET', next);
      pages.push(bodyOf<Made[]>(answer).map(({ id }) => id));
      next = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
      expect(pages.length).to.be.below(10);
    }
    return pages;
  };

  for (const [kind, { noun, named, bases, unknown }] of Object.entries(kinds)) {
    for (const base of bases) {
      const make = async (more: object = {}): Promise<Made> =>
        bodyOf(await writer('POST', base, { body: { [named]: 'one', ...more } }), 201);

      describe(`at ${base}`, () => {
        it('are made by what is chosen, and answered whole', async () => {
          const before = Date.now();
          const chosen = { description: 'Two\nlines\tof it', metadata: { a: [1, { b: null }], 'ä/~': '😀' } };
          const answer = await writer('POST', base, { body: { [named]: 'First', ...chosen } });
          const made = bodyOf<Made>(answer, 201);
          const { id, created_at } = made;
          expect(made).to.deep.equal({
            id,
            workspace_id: 'acme',
            [named]: 'First',
            ...chosen,
            created_at,
            updated_at: created_at,
            created_by: `api_key:${workspace('acme').writer.id}`,
          });
          expect(id).to.match(new RegExp(`^${noun}_[0-9a-f]{32}$`));
          expect(created_at).to.match(instant);
          expect(Date.parse(created_at as string)).to.be.within(before, Date.now() + 1);
          expect(answer.headers.get('location')).to.equal(`${base}/${id}`);
          expect(answer.headers.get('etag')).to.equal('"0"');
          const read = await reader('GET', `${base}/${id}`);
          expect([read.status, read.body, read.headers.get('etag')]).to.deep.equal([200, made, '"0"']);
        });
        it('have no description and empty metadata unless these are chosen', async () => {
          expect(await make())
            .to.include({ description: '' })
            .and.to.have.deep.property('metadata', {});
        });
        it('keep names with markup as they are, and take the bounds of every member', async () => {
          const markup = '<script>alert("1")</script> & \' ` ${x} {{y}}';
          for (const more of [
            { [named]: markup, description: markup },
            { [named]: 'x' },
            { [named]: 'ä'.repeat(128) },
            { [named]: '\u{1F916}'.repeat(64) },
            { description: 'x'.repeat(4_096) },
            { metadata: { constructor: 1, toString: { a: null }, '': '', __proto: 1 } },
          ]) {
            const made = await make(more);
            expect((await reader('GET', `${base}/${made.id}`)).body)
              .to.deep.equal(made)
              .and.to.deep.include(more);
          }
        });
        it('are listed oldest first as a bare array, or newest first, whole', async () => {
          const [one, two] = [await make(), await make()];
          const listed = bodyOf<Made[]>(await reader('GET', base));
          expect(listed).to.be.an('array');
          expect(listed.slice(-2)).to.deep.equal([one, two]);
          expect((await reader('GET', `${base}?order=desc`)).body).to.deep.equal(listed.toReversed());
        });
        it('are changed by a merge patch of either content type, and answered as they are then', async () => {
          const made = await make({ description: 'kept', metadata: { a: 1, b: { c: 2, d: 3 } } });
          for (const [n, type] of ['application/merge-patch+json', 'application/json'].entries()) {
            const patch = { [named]: `patched ${n}`, metadata: { a: null, b: { d: n }, e: [n] } };
            const answer = await change(`${base}/${made.id}`, patch, { 'Content-Type': type });
            const changed = bodyOf<Made>(answer);
            expect(changed).to.deep.equal({
              ...made,
              [named]: `patched ${n}`,
              metadata: { b: { c: 2, d: n }, e: [n] },
              updated_at: changed['updated_at'],
            });
            expect(answer.headers.get('etag')).to.equal(`"${n + 1}"`);
            expect((await reader('GET', `${base}/${made.id}`)).body).to.deep.equal(changed);
          }
          const bare = await change(`${base}/${made.id}`, { description: null, metadata: null });
          expect(bare.body).to.include({ description: '', [named]: 'patched 1' });
          expect(bare.body.metadata).to.deep.equal({});
        });
        it('are not touched by a patch that changes nothing: no event, and the same tag', async () => {
          const made = await make({ metadata: { a: 1 } });
          for (const patch of [{}, { [named]: 'one' }, { metadata: { a: 1, b: null } }, { metadata: {} }]) {
            const answer = await change(`${base}/${made.id}`, patch);
            expect([answer.status, answer.body, answer.headers.get('etag')]).to.deep.equal([
              200,
              made,
              '"0"',
            ]);
          }
          const events = (await logOf(program().dir)).filter(({ stream }) => stream === `${noun}-${made.id}`);
          expect(events.map(({ revision }) => revision)).to.deep.equal([0]);
        });
        it('are changed and deleted only where If-Match names what they are', async () => {
          const path = `${base}/${(await make()).id}`;
          const patched = async (tag: string, name: string) =>
            change(path, { [named]: name }, { 'If-Match': tag });
          for (const tag of ['"1"', 'W/"0"', '0', "'0'", '"0', '"0" "1"', 'x', '', '"1", W/"0"', '**'])
            for (const method of ['PATCH', 'DELETE']) {
              const answer = await writer(method, path, {
                ...(method === 'PATCH' ? { body: { [named]: 'never' } } : {}),
                headers: { 'If-Match': tag },
              });
              expect([tag, answer.status]).to.deep.equal([tag, 412]);
              expectProblem(answer, 412, 'resource.changed');
            }
          expect((await reader('GET', path)).headers.get('etag')).to.equal('"0"');
          expect((await patched('"0"', 'a')).headers.get('etag')).to.equal('"1"');
          expectProblem(await patched('"0"', 'b'), 412, 'resource.changed');
          expect((await patched('"0", "1"', 'c')).status).to.equal(200);
          expect((await patched('*', 'd')).status).to.equal(200);
          expect((await patched(' "3" ', 'e')).headers.get('etag')).to.equal('"4"');
          expectProblem(
            await writer('DELETE', path, { headers: { 'If-Match': '"3"' } }),
            412,
            'resource.changed',
          );
          expect((await writer('DELETE', path, { headers: { 'If-Match': '"4"' } })).status).to.equal(204);
          expectProblem(await patched('"4"', 'f'), 404, unknown);
        });
        it('are not what a tag names that only counts to the same', async () => {
          // An entity tag is opaque: none but the one that was given out is it (RFC 9110 §8.8.3).
          const path = `${base}/${(await make()).id}`;
          for (const tag of ['"00"', '"000000000000000"', '"-0"', '"0.0"', '"0e0"']) {
            const answer = await change(path, { [named]: 'never' }, { 'If-Match': tag });
            expect([tag, answer.status]).to.deep.equal([tag, 412]);
          }
        });
        it('are changed by exactly one of two patches on the same state', async () => {
          const path = `${base}/${(await make()).id}`;
          for (let round = 0; round < 10; round += 1) {
            const answers = await Promise.all(
              ['a', 'b', 'c'].map((who) =>
                change(path, { [named]: `${who}${round}` }, { 'If-Match': `"${round}"` }),
              ),
            );
            expect(answers.map(({ status }) => status)).to.have.members([200, 412, 412]);
            const winner = answers.find(({ status }) => status === 200);
            expect((await reader('GET', path)).body).to.deep.equal(winner?.body);
          }
        });
        it('are not sent again where the client has them', async () => {
          const path = `${base}/${(await make()).id}`;
          const having = (tag: string) => reader('GET', path, { headers: { 'If-None-Match': tag } });
          for (const tag of ['"0"', 'W/"0"', '"7", "0"', '*', ' "0" ']) {
            const { status, text, headers } = await having(tag);
            expect([tag, status, text, headers.get('etag')]).to.deep.equal([tag, 304, '', '"0"']);
            expect(headers.get('content-type')).to.equal(null);
          }
          for (const tag of ['"1"', '0', '', 'garbage'])
            expect([tag, (await having(tag)).status]).to.deep.equal([tag, 200]);
          await change(path, { [named]: 'two' });
          expect((await having('"0"')).status).to.equal(200);
          const head = await reader('HEAD', path);
          expect([head.status, head.text, head.headers.get('etag')]).to.deep.equal([200, '', '"1"']);
        });
        it('are gone once they are deleted, and answer 404 then', async () => {
          const { id } = await make();
          const { status, text } = await writer('DELETE', `${base}/${id}`);
          expect([status, text]).to.deep.equal([204, '']);
          expectProblem(await reader('GET', `${base}/${id}`), 404, unknown);
          expectProblem(await change(`${base}/${id}`, { [named]: 'x' }), 404, unknown);
          expectProblem(await writer('DELETE', `${base}/${id}`), 404, unknown);
          expect(bodyOf<Made[]>(await reader('GET', base)).map((one) => one.id)).to.not.include(id);
        });
        it('are of their workspace alone: elsewhere there are none such', async () => {
          const { id } = await make();
          const elsewhere = base.replace('acme', 'other');
          expectProblem(await stranger('GET', `${elsewhere}/${id}`), 404, unknown);
          expectProblem(
            await stranger('PATCH', `${elsewhere}/${id}`, { body: { [named]: 'mine' } }),
            404,
            unknown,
          );
          expectProblem(await stranger('DELETE', `${elsewhere}/${id}`), 404, unknown);
          expect((await stranger('GET', elsewhere)).body).to.deep.equal([]);
          expect((await reader('GET', `${base}/${id}`)).body[named]).to.equal('one');
        });

        const wrong: readonly (readonly [object, readonly string[]])[] = [
          [{ [named]: '' }, [`/${named}`]],
          [{ [named]: 'x'.repeat(129) }, [`/${named}`]],
          [{ [named]: 'a\nb' }, [`/${named}`]],
          [{ [named]: 'a\u0000b' }, [`/${named}`]],
          [{ [named]: 'a\u0085b' }, [`/${named}`]],
          [{ [named]: 'a\uD800' }, [`/${named}`]],
          [{ [named]: null }, [`/${named}`]],
          [{ [named]: 7 }, [`/${named}`]],
          [{ description: 'x'.repeat(4_097) }, ['/description']],
          [{ description: 'a\u0007' }, ['/description']],
          [{ description: 'a\uDC00b' }, ['/description']],
          [{ description: 1 }, ['/description']],
          [{ metadata: [] }, ['/metadata']],
          [{ metadata: 'x' }, ['/metadata']],
          [
            { description: 1, metadata: 1, more: 1, 'a/b': 2 },
            ['/a~1b', '/description', '/metadata', '/more'],
          ],
          [{ id: 'mine', workspace_id: 'other', created_by: 'me' }, ['/created_by', '/id', '/workspace_id']],
        ];
        for (const [members, pointers] of wrong) {
          it(`are not made or changed by ${JSON.stringify(members).slice(0, 60)}`, async () => {
            const body = { [named]: 'one', ...members };
            expect(expectInvalid(await writer('POST', base, { body }))).to.deep.equal(pointers);
            const path = `${base}/${(await make()).id}`;
            expect(expectInvalid(await change(path, members))).to.deep.equal(pointers);
            expect((await reader('GET', path)).headers.get('etag')).to.equal('"0"');
          });
        }
        it('are not made without a name, nor by null where a patch may have it', async () => {
          expect(expectInvalid(await writer('POST', base, { body: {} }))).to.deep.equal([`/${named}`]);
          const nulls = { [named]: 'one', description: null, metadata: null };
          expect(expectInvalid(await writer('POST', base, { body: nulls }))).to.deep.equal([
            '/description',
            '/metadata',
          ]);
        });
        it('are changed by an object alone', async () => {
          const path = `${base}/${(await make()).id}`;
          for (const body of ['null', '[]', '"x"', '1'])
            expect(expectInvalid(await writer('PATCH', path, { body })), body).to.deep.equal(['']);
          expect(expectInvalid(await writer('PATCH', path))).to.deep.equal(['']);
          const text = await writer('PATCH', path, { body: 'x', headers: { 'Content-Type': 'text/plain' } });
          expectProblem(text, 415, 'request.unsupported-type');
        });
        it('never take `__proto__`, however deep', async () => {
          const path = `${base}/${(await make()).id}`;
          for (const metadata of ['{"__proto__":{"a":1}}', '{"a":[{"\\u005f_proto__":null}]}']) {
            const body = `{"${named}":"x","metadata":${metadata}}`;
            expectProblem(await writer('POST', base, { body }), 400, 'request.malformed');
            expectProblem(await writer('PATCH', path, { body }), 400, 'request.malformed');
          }
          expect((await reader('GET', path)).headers.get('etag')).to.equal('"0"');
        });
        it('keep metadata of 16 KiB as JSON, and not one byte more, however it comes about', async () => {
          const frame = '{"a":""}'.length;
          const made = await make({ metadata: { a: 'x'.repeat(16_384 - frame) } });
          const path = `${base}/${made.id}`;
          for (const metadata of [{ b: 1 }, { a: 'x'.repeat(16_385 - frame) }])
            expect(
              expectProblem(await change(path, { metadata }), 400, 'resource.metadata-too-large').map(
                ({ pointer }) => pointer,
              ),
            ).to.deep.equal(['/metadata']);
          const over = { [named]: 'one', metadata: { a: 'ä'.repeat((16_384 - frame) / 2) + 'x' } };
          expectProblem(await writer('POST', base, { body: over }), 400, 'resource.metadata-too-large');
          expect((await change(path, { metadata: { a: null, b: 1 } })).body.metadata).to.deep.equal({ b: 1 });
        });
        for (const value of [
          '1e400',
          '-1e400',
          '1e-400',
          '-0',
          '12345678901234567890',
          '"\\ud800"',
          '"\\u0000"',
        ]) {
          it(`keep metadata as it is answered, or refuse it, and never fail on it: ${value}`, async () => {
            const body = `{"${named}":"odd","metadata":{"v":${value}}}`;
            const answer = await writer('POST', base, { body });
            expect(answer.status, answer.text).to.be.oneOf([201, 400]);
            const path = `${base}/${(await make()).id}`;
            const patched = await writer('PATCH', path, { body: `{"metadata":{"v":${value}}}` });
            expect(patched.status, patched.text).to.equal(answer.status === 201 ? 200 : 400);
            if (answer.status !== 201) return;
            expect((await reader('GET', `${base}/${answer.body.id}`)).body).to.deep.equal(answer.body);
            const again = await change(`${base}/${answer.body.id}`, { metadata: answer.body.metadata });
            expect([again.status, again.headers.get('etag')]).to.deep.equal([200, '"0"']);
          });
        }
      });
    }

    describe(`${kind} in pages`, () => {
      const path = `/api/paged/${kind}`;
      const made: string[] = [];
      before(async () => {
        for (let n = 0; n < 5; n += 1)
          made.push(bodyOf<Made>(await as('paged')('POST', path, { body: { [named]: `${n}` } }), 201).id);
      });

      it('are answered by a limit, each with the link to the next, in either order', async () => {
        const [a, b, c, d, e] = made as [string, string, string, string, string];
        expect(await pagesFrom(`${path}?limit=2`)).to.deep.equal([[a, b], [c, d], [e]]);
        expect(await pagesFrom(`${path}?order=desc&limit=3`)).to.deep.equal([
          [e, d, c],
          [b, a],
        ]);
        expect(await pagesFrom(`${path}?limit=5`)).to.deep.equal([made]);
        expect(await pagesFrom(path)).to.deep.equal([made]);
      });
      it('refuse what is no page', async () => {
        for (const [query, pointer] of [
          ['limit=0', '/limit'],
          ['limit=1001', '/limit'],
          ['order=up', '/order'],
          ['cursor=x', '/cursor'],
          ['page=1', '/page'],
        ] as const)
          expect(expectInvalid(await as('paged')('GET', `${path}?${query}`))).to.deep.equal([pointer]);
      });
    });
  }

  describe('threads of agents', () => {
    const agents = '/api/acme/agents';
    const threads = '/api/acme/threads';
    const agent = async (): Promise<string> =>
      bodyOf<Made>(await writer('POST', agents, { body: { name: 'a' } }), 201).id;

    it('name an agent of their workspace, may name another, and none again', async () => {
      const [one, two] = [await agent(), await agent()];
      const made = await writer('POST', threads, { body: { title: 't', agent_id: one } });
      const path = `${threads}/${bodyOf<Made>(made, 201).id}`;
      expect(made.body.agent_id).to.equal(one);
      expect((await change(path, { agent_id: two })).body.agent_id).to.equal(two);
      expect((await change(path, { agent_id: null })).body).to.not.have.property('agent_id');
      expect((await reader('GET', path)).body).to.not.have.property('agent_id');
    });
    it('name no agent that there is not (any more), or that is another workspace’s', async () => {
      const gone = await agent();
      await writer('DELETE', `${agents}/${gone}`);
      const foreign = bodyOf<Made>(
        await stranger('POST', '/api/other/agents', { body: { name: 'a' } }),
        201,
      ).id;
      const path = `${threads}/${bodyOf<Made>(await writer('POST', threads, { body: { title: 't' } }), 201).id}`;
      for (const agent_id of ['agent_none', 'constructor', '../agents', gone, foreign]) {
        expectNoAgent(await writer('POST', threads, { body: { title: 't', agent_id } }));
        expectNoAgent(await change(path, { agent_id }));
      }
      for (const agent_id of ['', 'x'.repeat(129), 1])
        expect(expectInvalid(await change(path, { agent_id }))).to.deep.equal(['/agent_id']);
      expect((await reader('GET', path)).headers.get('etag')).to.equal('"0"');
    });
    it('outlive their agent, and can still be changed', async () => {
      const one = await agent();
      const made = await writer('POST', threads, { body: { title: 't', agent_id: one } });
      const path = `${threads}/${made.body.id}`;
      await writer('DELETE', `${agents}/${one}`);
      expect((await change(path, { title: 'u' })).body).to.include({ title: 'u', agent_id: one });
    });
  });

  it('are gone with their workspace, and a new one of its id starts empty', async () => {
    const paths = Object.keys(kinds).map((kind) => `/api/short/${kind}`);
    for (const path of paths) {
      const body = path.endsWith('threads') ? { title: 't' } : { name: 'n' };
      expect((await as('short')('POST', path, { body })).status).to.equal(201);
    }
    await client('DELETE', '/admin/v1/tenants/short');
    await client('POST', '/admin/v1/tenants', { body: { id: 'short' } });
    for (const path of paths) expectProblem(await as('short')('GET', path), 401, 'api-key.revoked');
  });

  it('leave a trace of every change: who, and what it is then', async () => {
    const sent = {
      headers: { 'X-Reason': 'a test', 'X-Request-Id': 'trace-of-agent' },
      body: { name: 'traced' },
    };
    const { id } = bodyOf<Made>(await writer('POST', '/api/acme/agents', sent), 201);
    const events = (await logOf(program().dir)).map((stored) => codec.decode(stored));
    const [event, ...others] = events.filter(
      ({ cause, type }) => cause.correlation_id === 'trace-of-agent' && type !== 'ApiKeyUsed',
    );
    expect(others).to.deep.equal([]);
    expect(event).to.deep.include({
      type: 'AgentCreated',
      stream: `agent-${id}`,
      data: {
        id,
        tenant_id: 'acme',
        incarnation: 'acme~1',
        content: { name: 'traced', description: '', metadata: {} },
      },
    });
    expect(event?.cause).to.include({ actor: `api_key:${workspace('acme').writer.id}`, reason: 'a test' });
  });

  // A suite of its own: it comes after the others.
  describe('afterwards', () => {
    it('have left the service as it was', () => {
      expect(program().output()).to.not.match(/"level":"(error|fatal)"/);
    });
  });
});
