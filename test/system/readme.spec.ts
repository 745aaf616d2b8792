import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { freePort } from '../support/free-port.ts';
import { freshFolder, removeFolder } from '../support/program.ts';
import { until } from '../support/waiting.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The README's shell blocks, in order: the start, the tests, then the tour. */
const shellBlocks = (): readonly string[] =>
  [...readFileSync(`${root}README.md`, 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) =>
    block.trim(),
  );

describe('the README', function () {
  this.timeout(60_000);
  const dirs: string[] = [];
  const fresh = (): string => {
    const dir = freshFolder();
    dirs.push(dir);
    return dir;
  };
  after(() => dirs.forEach(removeFolder));

  it('has exactly two commands to set up, each of one line', () => {
    const [start, test] = shellBlocks();
    expect(start).to.match(/^npm ci && SERVICE_CP_ADMIN_TOKEN=\S+ npm start$/);
    expect(test).to.equal('npm ci && npm test');
  });

  it('has a tour whose every command works as printed', async () => {
    const [start = '', , ...tour] = shellBlocks();
    const port = await freePort();
    // What is installed is installed; the port is another, so that a service that runs here is left alone.
    const command = start.replace(/^npm ci && /, '');
    const service = spawn('bash', ['-c', `exec env ${command}`], {
      cwd: root,
      detached: true,
      stdio: 'ignore',
      env: { ...process.env, SERVICE_PORT: String(port), SERVICE_DATA_DIR: fresh() },
    });
    const exited = once(service, 'exit');
    try {
      await until(
        'the service is ready',
        async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.ok === true,
      );
      const script = ['set -euo pipefail', ...tour].join('\n').replaceAll(':8080', `:${port}`);
      const { status, stdout, stderr } = spawnSync('bash', ['-c', script], {
        cwd: fresh(),
        encoding: 'utf8',
      });
      expect(stderr).to.equal('');
      expect(status).to.equal(0);
      expect(stdout)
        .to.match(/"id":"acme"/)
        .and.match(/"bearer":"sab_\w+"/)
        .and.match(/"password":"tk_\w+"/);
      expect(stdout).to.match(
        /"active":true,"kind":"credential"[\s\S]*^204$[\s\S]*"active":false[\s\S]*"status":"revoked"[\s\S]*^204$/m,
      );
    } finally {
      process.kill(-(service.pid ?? 0), 'SIGTERM');
      await exited;
    }
  });
});
