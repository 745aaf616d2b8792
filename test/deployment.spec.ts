import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { readConfig } from '../src/config.ts';
import { createMetrics } from '../src/metrics.ts';

/** A file of the project's root, seen from the compiled test. */
const at = (path: string): URL => new URL(`../../${path}`, import.meta.url);
const text = (path: string): string => readFileSync(at(path), 'utf8');

type Service = {
  readonly image?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: object;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>> | readonly string[];
};
type Compose = { readonly services: Readonly<Record<string, Service>>; readonly volumes: object };

const compose = parse(text('docker-compose.yml')) as Compose;
const services = Object.entries(compose.services);

/** What compose puts in the place of `${NAME:-default}` and `${NAME:?message}`. */
const filledIn = (value: string): string =>
  value.replaceAll(/\$\{(\w+):([-?])([^}]*)\}/g, (_, __, how, rest: string) =>
    how === '-' ? rest : 'x'.repeat(32),
  );

describe('the files of a deployment', () => {
  it('pin every image to a version', () => {
    const images = services.flatMap(([, { image }]) => (image === undefined ? [] : [image]));
    const from = [...text('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, image]) => image ?? '');
    expect([...images, ...from]).to.have.length.at.least(5);
    for (const image of [...images, ...from]) expect(image).to.match(/:v?\d+\.\d+/);
  });
  it('look after the health of every service, the image of its own too', () => {
    for (const [name, { healthcheck }] of services)
      if (name !== 'keyledger') expect(healthcheck, name).to.be.an('object');
    expect(text('Dockerfile')).to.match(/^HEALTHCHECK [^]*\/readyz/m);
    expect(text('Dockerfile')).to.match(/^USER node$/m);
  });
  it('keep what is stored in volumes that are declared', () => {
    const named = services.flatMap(([, { volumes = [] }]) =>
      volumes.map((one) => one.split(':')[0] ?? '').filter((one) => !one.startsWith('.')),
    );
    expect(named).to.have.length.at.least(3);
    expect(Object.keys(compose.volumes)).to.have.members(named);
    const files = services.flatMap(([, { volumes = [] }]) => volumes.filter((one) => one.startsWith('./')));
    for (const file of files) expect(existsSync(at(file.split(':')[0] ?? '')), file).to.equal(true);
  });
  it('publish nothing beyond this machine', () => {
    const ports = services.flatMap(([, { ports: published = [] }]) => published);
    expect(ports).not.to.deep.equal([]);
    for (const port of ports) expect(port).to.match(/^127\.0\.0\.1:/);
  });
  it('set what the service takes, with the servers that there are', () => {
    const environment = compose.services['keyledger']?.environment ?? {};
    const env = Object.fromEntries(
      Object.entries(environment).map(([name, value]) => [name, filledIn(value)]),
    );
    const { config, warnings } = readConfig(env);
    // Who starts it sets a key, for which there can be no default.
    expect(warnings).to.deep.equal(['No signing key is set: the log is not sealed.']);
    for (const url of [config.event_store, config.read_models])
      expect(Object.keys(compose.services)).to.include(/^\w+:\/\/([^:/]+)/.exec(url)?.[1]);
    // A name that the service does not know would be set in vain.
    for (const name of Object.keys(env)) expect(text('docs/operations.md')).to.include(`\`${name}\``);
  });
  it('alert on metrics that there are', async () => {
    const { text: metrics } = await createMetrics('test').text();
    const known = new Set([...metrics.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name ?? ''));
    const rules = (parse(text('ops/alerts.yml')) as { groups: { rules: { expr: string }[] }[] }).groups;
    const names = rules
      .flatMap((group) => group.rules)
      .flatMap(
        ({ expr }) =>
          expr.replaceAll(/\{[^}]*\}|\([a-z]+\)|\[[^\]]*\]/g, '').match(/[a-z]+(_[a-z]+)+/g) ?? [],
      )
      .filter((name) => !name.endsWith('_over_time'));
    expect(names).to.have.length.at.least(5);
    for (const name of names) expect([...known]).to.include(name.replace(/_(count|sum|bucket)$/, ''));
  });
  it('send nothing into the image but what it is built from', () => {
    const ignored = text('.dockerignore').trim().split('\n');
    expect(ignored[0]).to.equal('*');
    const taken = ignored.slice(1).map((line) => line.replace(/^!/, ''));
    const root = readdirSync(at('.'));
    for (const one of taken) expect(root).to.include(one);
    const copied = [...text('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, what]) =>
      (what ?? '').split(' '),
    );
    expect(copied.map((one) => one.replace('./', '')).toSorted()).to.deep.equal(taken.toSorted());
  });
});
