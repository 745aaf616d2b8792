import { expect } from 'chai';
import { problem, slugOf, statusOfCode } from '../src/http/problem.ts';
import { adminRoutes } from '../src/http/routes/index.ts';
import { refusals, type RefusalCode } from '../src/refusals.ts';
import { createClient, type Client } from './support/client.ts';
import { freshFolder, removeFolder, startProgram, type Program } from './support/program.ts';
import { partOf, readSources } from './support/sources.ts';

const codes = Object.keys(refusals) as RefusalCode[];

/** Where a code is given: to a refusal, or to an error that is one. */
const given = /(?<!\.)\b(?:refuse|RequestRefused)\(\s*'([^']+)'/g;

/** Anything in quotes that looks like a code. */
const quoted = /'([a-z]+(?:-[a-z]+)*\.[a-z]+(?:-[a-z]+)*)'/g;

/** What a pattern finds in the parts that speak to clients: the deciders and the border. */
const found = (pattern: RegExp): ReadonlySet<string> =>
  new Set(
    readSources()
      .filter(({ path }) => ['commands', 'http'].includes(partOf(path)))
      .flatMap(({ text }) => [...text.matchAll(pattern)].map(([, code = '']) => code)),
  );

describe('refusals', () => {
  it('has every code that a command or a route gives', () => {
    const codesGiven = [...found(given)];
    expect(codesGiven).to.include.members(['tenant.exists', 'authorization.denied']);
    expect(codesGiven.filter((code) => !Object.hasOwn(refusals, code))).to.deep.equal([]);
  });
  it('has no code that nothing gives', () => {
    const used = found(quoted);
    expect(codes.filter((code) => !used.has(code))).to.deep.equal([]);
  });
  it('has every code that a route documents', () => {
    const documented = adminRoutes.flatMap((route) => route.refusals);
    expect(documented.filter((code) => !Object.hasOwn(refusals, code))).to.deep.equal([]);
  });
  it('has a slug for each code that no other code has', () => {
    expect(new Set(codes.map(slugOf)).size).to.equal(codes.length);
    for (const code of codes) expect(slugOf(code)).to.match(/^[a-z]+(-[a-z]+)*$/);
  });
  it('names codes `noun.state`', () => {
    for (const code of codes) expect(code).to.match(/^[a-z]+(-[a-z]+)*\.[a-z]+(-[a-z]+)*$/);
  });
  it('makes of each a problem document with a status of its kind', () => {
    for (const code of codes) {
      const { title, kind } = refusals[code];
      expect(problem(code, 'Why.', 'request-1'), code).to.deep.equal({
        type: `/problems/${slugOf(code)}`,
        title,
        status: statusOfCode(code),
        detail: 'Why.',
        instance: 'request-1',
        code,
      });
      expect(statusOfCode(code), `${code} is ${kind}`).to.be.within(400, 599);
    }
  });
});

describe('the pages of problems', () => {
  let dir: string;
  let program: Program;
  let client: Client;
  before(async () => {
    dir = freshFolder();
    program = await startProgram({ dir });
    client = createClient(program.url);
  });
  after(async () => {
    await program?.kill();
    removeFolder(dir);
  });

  for (const code of codes) {
    it(`tell about ${code} to anybody, without a token`, async () => {
      const { type } = problem(code, '', '');
      const { status, headers, text } = await client('GET', type, { token: null });
      expect(status).to.equal(200);
      expect(headers.get('content-type')).to.equal('text/html; charset=utf-8');
      expect(text)
        .to.include(`<code>${code}</code>`)
        .and.to.include(String(statusOfCode(code)));
    });
  }
  it('stand in one list', async () => {
    const { status, text } = await client('GET', '/problems', { token: null });
    expect(status).to.equal(200);
    const linked = [...text.matchAll(/href="\/problems\/([^"]+)"/g)].map(([, slug]) => slug);
    expect(linked).to.have.members(codes.map(slugOf));
  });
  it('are missing for what is no problem', async () => {
    const { status, body } = await client('GET', '/problems/none', { token: null });
    expect(status).to.equal(404);
    expect(body.code).to.equal('route.unknown');
  });
});
