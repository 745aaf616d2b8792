import { expect } from 'chai';
import { roles as rolesOfFacts } from '../src/events/fields.ts';
import { roles as rolesOfRequests } from '../src/http/schemas.ts';
import { partOf, readSources, type Source } from './support/sources.ts';

const sources = readSources();

/** What a part may import of ours, and of packages. What is not named here may be imported by nobody. */
type Rule = { readonly ours: readonly string[]; readonly packages: RegExp };

const none = /^$/;

/** The drivers of the engines: what speaks to a disk's or a server's format. */
const drivers = /^(node:sqlite|@photostructure\/sqlite|better-sqlite3|mongodb|@eventstore\/.*|@kurrent\/.*)$/;

/** For a folder, every file in it. Types count as imports: a dependency is one, whether it is erased or not. */
const rules: Readonly<Record<string, Rule>> = {
  core: { ours: [], packages: /^node:perf_hooks$/ },
  events: { ours: ['core'], packages: /^zod$/ },
  commands: { ours: ['core', 'events'], packages: none },
  projections: { ours: ['core', 'events'], packages: none },
  http: { ours: ['core', 'commands', 'projections', 'proofs', 'refusals.ts'], packages: /./ },
  stores: { ours: ['core'], packages: /./ },
  secrets: { ours: ['core'], packages: /./ },
  proofs: { ours: ['core', 'events'], packages: /^node:(crypto|fs|path|timers)$/ },
  'refusals.ts': { ours: [], packages: none },
};

const isAllowed = ({ ours }: Rule, from: string, to: string): boolean =>
  partOf(to) === partOf(from) || ours.includes(partOf(to));

/** Which of these imports break the rules, one line each. */
const broken = (all: readonly Source[]): readonly string[] =>
  all.flatMap(({ path, imports, packages }) => {
    const rule = rules[partOf(path)];
    if (rule === undefined) return [];
    return [
      ...imports.filter((to) => !isAllowed(rule, path, to)).map((to) => `${path} imports ${to}`),
      ...packages.filter((name) => !rule.packages.test(name)).map((name) => `${path} imports ${name}`),
    ];
  });

/** The files in which something stands. */
const filesWith = (pattern: RegExp): readonly string[] =>
  sources.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

const importersOf = (test: (source: Source) => boolean): readonly string[] =>
  sources.filter(test).map(({ path }) => path);

/** A file that there is not. */
const source = (path: string, imports: readonly string[], packages: readonly string[] = []): Source => ({
  path,
  text: '',
  imports,
  packages,
});

describe('what may import what', () => {
  it('holds for every source file', () => {
    expect(sources).to.have.length.greaterThan(50);
    expect(broken(sources)).to.deep.equal([]);
  });

  it('would name an import that is not allowed', () => {
    expect(
      broken([
        source('core/run.ts', ['core/command.ts', 'events/index.ts'], ['node:perf_hooks', 'node:fs']),
        source('commands/tenant.ts', ['core/command.ts', 'projections/tenants.ts']),
        source('http/mount.ts', ['events/index.ts', 'stores/embedded/index.ts', 'core/ports.ts']),
        source('stores/embedded/log.ts', ['projections/index.ts', 'stores/embedded/sqlite.ts']),
      ]),
    ).to.deep.equal([
      'core/run.ts imports events/index.ts',
      'core/run.ts imports node:fs',
      'commands/tenant.ts imports projections/tenants.ts',
      'http/mount.ts imports events/index.ts',
      'http/mount.ts imports stores/embedded/index.ts',
      'stores/embedded/log.ts imports projections/index.ts',
    ]);
  });

  it('finds every file that is imported', () => {
    const known = new Set(sources.map(({ path }) => path));
    expect(sources.flatMap(({ imports }) => imports.filter((path) => !known.has(path)))).to.deep.equal([]);
  });

  it('joins domain and technology in app.ts alone', () => {
    const joining = importersOf(
      ({ path, imports }) => partOf(path) !== 'stores' && imports.some((to) => partOf(to) === 'stores'),
    );
    expect(joining.filter((path) => partOf(path) !== 'cli')).to.deep.equal(['app.ts']);
  });

  it('names the SQLite driver in one file alone', () => {
    expect(filesWith(/'(node:sqlite|@photostructure\/sqlite)'/)).to.deep.equal(['stores/embedded/sqlite.ts']);
  });

  it('imports no engine’s driver outside its own folder', () => {
    const outside = importersOf(
      ({ path, packages }) => partOf(path) !== 'stores' && packages.some((name) => drivers.test(name)),
    );
    expect(outside).to.deep.equal([]);
  });

  it('reads the environment in config.ts alone, which program.ts gives it to', () => {
    expect(filesWith(/\bprocess\.env\b|\benv\b[^\n]*from 'node:process'/)).to.deep.equal(['program.ts']);
    const main = sources.find(({ path }) => path === 'program.ts')?.text ?? '';
    expect(main.match(/\bprocess\.env\b/g)).to.deep.equal(['process.env']);
    expect(main).to.match(/readConfig\(process\.env\b/);
  });

  it('ends the process in program.ts alone', () => {
    expect(
      filesWith(/\bprocess\.(exit|abort|kill)\b/).filter((path) => partOf(path) !== 'cli'),
    ).to.deep.equal(['program.ts']);
  });

  it('takes time and chance from nowhere but the parts that are given to it', () => {
    const pure = filesWith(/\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\brandom(UUID|Bytes|FillSync)\b/);
    const allowed = [
      'core/clock.ts',
      'http/request.ts',
      'http/serve.ts',
      'secrets/passwords.ts',
      'secrets/tokens.ts',
      'stores/index.ts',
    ];
    expect(pure.filter((path) => !allowed.includes(path))).to.deep.equal([]);
  });

  it('has one order of roles, in facts and in requests, for what is allowed rests on it', () => {
    expect(rolesOfRequests).to.deep.equal(rolesOfFacts);
  });

  it('has no default export, no class but thrown errors, and no enum', () => {
    expect(filesWith(/^export default\b/m)).to.deep.equal([]);
    expect(filesWith(/^(export )?(const )?enum\b/m)).to.deep.equal([]);
    const classes = sources.flatMap(({ text }) => text.match(/\bclass \w+[^{]*\{/g) ?? []);
    expect(classes.filter((line) => !line.includes('extends Error'))).to.deep.equal([]);
  });
});
