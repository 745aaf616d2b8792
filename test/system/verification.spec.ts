import { mkdirSync, writeFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { exportLog } from '../../src/cli/export.ts';
import type { CommandInput, Options } from '../../src/cli/command.ts';
import { verify } from '../../src/cli/verify.ts';
import { createTenant, deleteTenant } from '../../src/commands/tenant.ts';
import { readConfig } from '../../src/config.ts';
import type { Cause, StoredEvent } from '../../src/core/event.ts';
import { createSigner } from '../../src/proofs/signed-note.ts';
import { signerOf } from '../../src/proofs/signing-key.ts';
import type { Fault } from '../../src/proofs/faults.ts';
import type { Verified } from '../../src/proofs/verification.ts';
import { eventsOf, forged, withLines } from '../support/forging.ts';
import { openJoined } from '../support/joined.ts';
import { freshFolder, removeFolder } from '../support/program.ts';
import { pick, seeded, testRounds, testSeed } from '../support/random.ts';
import { createSealing, freshPem } from '../support/sealing.ts';

/** Acts of the history; some tenants live several times, so that streams are longer than one event. */
const acts = 9;

/** Logs of several changes that are made. */
const rounds = testRounds(100);

/** Who did it, with what has to be escaped in JSON. */
const cause: Cause = {
  actor: 'admin',
  address: null,
  user_agent: 'curl/8 😀',
  reason: 'because "so"\u001f',
  correlation_id: '',
  causation_id: null,
};

const screen: CommandInput['screen'] = {
  isTerminal: false,
  columns: () => 80,
  tell: () => undefined,
  draw: () => undefined,
};

/** The places in the log that faults name. */
const placesOf = (faults: readonly Fault[]): readonly (number | null)[] => faults.map(({ index }) => index);

/** What the file says of itself, before what the log does. */
const ofFile = (number: number, what: string): string => `- The file is damaged: line ${number} ${what}`;

/** Whether both lines say the same. */
const isSame = (line: string, other: string): boolean => {
  try {
    return isDeepStrictEqual(JSON.parse(line), JSON.parse(other));
  } catch {
    return false;
  }
};

describe('verifying an exported log', function () {
  this.timeout(180_000);
  const seed = testSeed();
  const random = seeded(seed);
  let dir: string;
  let key: string;
  let text: string;
  let events: readonly StoredEvent[];
  let kept: readonly string[];

  const run = (command: typeof verify, options: Options): ReturnType<typeof verify> =>
    command({
      config: readConfig({ SERVICE_DATA_DIR: dir }).config,
      options,
      names: [],
      signal: new AbortController().signal,
      screen,
      print: async () => undefined,
    });

  /** What `verify` says of a file with this text. */
  const verified = async (of: string | Buffer, more: Options = {}): Promise<Verified> => {
    const path = join(dir, 'candidate.ndjson');
    writeFileSync(path, of);
    const { result, failed } = await run(verify, { in: path, key, ...more });
    const answer = result as Verified & { readonly verified: boolean };
    expect(failed).to.equal(!answer.verified);
    expect(answer.verified).to.equal(answer.faults.length === 0);
    return answer;
  };

  const faultsOf = async (of: string | Buffer, more?: Options): Promise<readonly Fault[]> =>
    (await verified(of, more)).faults;

  /** The same, each fault as its place and what is wrong there. */
  const told = async (of: string): Promise<readonly string[]> =>
    (await faultsOf(of)).map(({ index, what }) => `${index ?? '-'} ${what}`);

  /** The events with one, in what is sealed, changed, taken out or put in. */
  const touch = (all: readonly StoredEvent[]): readonly StoredEvent[] => {
    // Neither the first, which names the log, nor the last that is sealed: what comes behind it nobody has signed.
    const n = 1 + Math.floor(random() * (all.length - 3));
    const event = all[n] as StoredEvent;
    const alien = {
      ...event,
      stream: 'alien',
      id: `01a00000-0000-7000-8000-${String(random()).slice(2, 14)}`,
    };
    const changed = { ...event, cause: event.cause.replace('curl', 'wget').replace('"so"', '"SO"') };
    // Without its checkpoint a part of the log is not known event by event.
    const how = pick(random, event.type === 'LogSealed' ? ['put in'] : ['put in', 'change', 'take out']);
    if (how === 'put in') return all.toSpliced(n, 0, { ...alien, type: 'TenantCreated' });
    return how === 'change' ? all.with(n, changed) : all.toSpliced(n, 1);
  };

  before(async () => {
    dir = freshFolder();
    const data = join(dir, 'data');
    mkdirSync(data);
    const joined = await openJoined({ dir: data });
    const pem = freshPem();
    const { sealer } = createSealing(joined.engine.events, joined.run, pem);
    key = signerOf(pem).key.text;
    const notes: string[] = [];
    for (let n = 1; n <= acts; n += 1) {
      const wish = { tenant_id: `t${pick(random, [1, 2, 3]) ?? 1}` };
      const who = { ...cause, correlation_id: `request-${n}` };
      const made = await joined.run(createTenant, wish, who);
      // What ends a tenant is told by the same words, which the tests below change.
      if (!made.accepted) expect((await joined.run(deleteTenant, wish, who)).accepted).to.equal(true);
      if (n % 3 !== 0) continue;
      const sealed = await sealer.seal();
      writeFileSync(join(dir, `kept-${n}`), sealed?.note ?? '');
      notes.push(join(dir, `kept-${n}`));
    }
    kept = notes;
    await joined.close();
    const out = join(dir, 'log.ndjson');
    const config = readConfig({ SERVICE_DATA_DIR: data }).config;
    const input = { config, options: { out }, names: [], signal: new AbortController().signal, screen };
    await exportLog({ ...input, print: async () => undefined });
    text = readFileSync(out, 'utf8');
    events = eventsOf(text);
  });
  after(() => removeFolder(dir));

  it('finds nothing in the log as it is, with what was kept and without', async () => {
    const whole = { events: events.length, checkpoints: 3, sealed_events: events.length - 1, faults: [] };
    expect(await verified(text)).to.deep.include(whole);
    expect(await verified(text, { checkpoint: kept.join(',') })).to.deep.include(whole);
  });

  it('finds every change of a single byte', async () => {
    const bytes = Buffer.from(text);
    for (const [at, byte] of bytes.entries()) {
      const other = Buffer.from(bytes);
      other[at] = byte ^ (1 << Math.floor(random() * 8));
      expect(await faultsOf(other), `seed ${seed}, byte ${at}`).not.to.have.length(0);
    }
  });

  it('finds every change of a single byte of an event where the file’s own digest was made anew, and names the event', async () => {
    const lines = text.split('\n').slice(1, -2);
    for (const [n, line] of lines.entries()) {
      // Positions are the engine's: an import gives others, and nothing but their order is held.
      const position = line.indexOf('"position":"') + '"position":"'.length;
      for (let at = 0; at < line.length; at += 1) {
        if (at >= position && at < position + 20) continue;
        const code = line.charCodeAt(at) ^ (1 << Math.floor(random() * 6));
        if (code === 10 || code === 13) continue;
        const other = line.slice(0, at) + String.fromCharCode(code) + line.slice(at + 1);
        // An escape in another spelling says the same: nothing of the log is another.
        if (isSame(line, other)) continue;
        const faults = await faultsOf(withLines(text, lines.with(n, other)));
        const where = `seed ${seed}, event ${n}, character ${at}`;
        expect(faults, where).not.to.have.length(0);
        const isNamed = faults.some(
          ({ index, what }) =>
            index === n || what.includes(`line ${n + 2} `) || what.includes(events[n]?.id ?? '-'),
        );
        expect(isNamed, `${where}: ${JSON.stringify(faults)}`).to.equal(true);
      }
    }
  });

  it('finds the same in a file so long that another thread reads it', async () => {
    const data = JSON.stringify({ tenant_id: 'long', incarnation: 'long~1', note: 'x'.repeat(1_000_000) });
    const tail = Array.from({ length: 20 }, (_, n): StoredEvent => {
      const id = `01a00000-0000-7000-8000-${String(n).padStart(12, '0')}`;
      return { ...(events[0] as StoredEvent), id, stream: `long-${n}`, data };
    });
    const long = forged(text, [...events, ...tail]);
    const first = { events: events.length + tail.length, checkpoints: 3, sealed_events: events.length - 1 };
    expect(await verified(long)).to.deep.include({ ...first, faults: [] });
    const lines = long.split('\n').slice(1, -2);
    const changed = lines.with(lines.length - 2, (lines.at(-2) ?? '').replace('xxx', 'yyy'));
    expect(placesOf(await faultsOf(withLines(long, changed)))).to.deep.equal([lines.length - 2]);
    const cut = await faultsOf(long.slice(0, -1_500_000));
    expect(cut.map(({ what }) => what)).to.deep.equal([
      'The file is damaged: it is cut short in the middle of a line',
    ]);
    expect((await faultsOf(long.replace('"revision":0', '"revision":-1')))[0]?.what).to.match(
      /line 2 is not an event/,
    );
  });

  describe('names what was done to lines, and what is not as it was', () => {
    /** An event that is sealed and begins no stream. */
    let place: number;
    let lines: readonly string[];
    let line: string;
    before(() => {
      // Behind the one that is changed beside it.
      place = events.findIndex(({ revision }, n) => revision > 0 && n > 1);
      lines = text.split('\n').slice(1, -2);
      line = lines[place] ?? '';
    });

    it('where one is no JSON, and one before it was changed', async () => {
      const changed = (lines[1] ?? '').replace('curl', 'wget');
      const found = await told(withLines(text, lines.with(1, changed).with(place, '{')));
      expect(found[0]).to.equal(ofFile(place + 2, 'is not JSON'));
      expect(found[1]).to.equal('1 was changed: it is not what its hash says');
      expect(found[2]).to.equal(`${place} is missing: what was sealed there is not in the log`);
    });

    it('where one is taken out', async () => {
      const found = await told(withLines(text, lines.toSpliced(place, 1)));
      expect(found.slice(0, 2)).to.deep.equal([
        ofFile(place + 2, `is event ${place + 1}, and event ${place} should stand there`),
        `${place} is missing: what was sealed there is not in the log`,
      ]);
      expect(found.filter((what) => /missing|cut off/.test(what))).to.have.length(1);
    });

    it('where one is there twice', async () => {
      expect(await told(withLines(text, lines.toSpliced(place, 0, line)))).to.deep.equal([
        ofFile(place + 3, `is event ${place}, and event ${place + 1} should stand there`),
        `${place + 1} is there a second time: it was sealed as number ${place}`,
      ]);
    });

    it('where two change places', async () => {
      const found = await told(
        withLines(text, lines.with(place, lines[place + 1] ?? '').with(place + 1, line)),
      );
      expect(found).to.include(`${place + 1} was moved: it was sealed as number ${place}`);
      expect(found.filter((what) => /cut off/.test(what))).to.deep.equal([]);
    });

    it('where one does not say its place', async () => {
      expect(await told(withLines(text, lines.with(place, line.replace(/,"index":\d+/, ''))))).to.deep.equal([
        ofFile(place + 2, 'does not say which event it is'),
      ]);
    });

    it('where the first or the last line is gone, or something stands behind the last', async () => {
      const [header = '', ...rest] = text.split('\n');
      expect(await told(rest.join('\n'))).to.deep.equal([
        '- The file is damaged: its first line is not that of an exported log',
        '- The file is damaged: its digest is not the one that its last line says',
      ]);
      expect(await told([header, ...lines, ''].join('\n'))).to.deep.equal([
        '- The file is damaged: it is cut short: its last line is missing',
      ]);
      expect(await told(`${text}${line}\n`)).to.include(
        '- The file is damaged: something stands behind its last line',
      );
    });
  });

  describe('by one who has everything but the key, and makes every hash anew', () => {
    it('finds every event that is changed, and names it', async () => {
      for (const [n, event] of events.slice(0, -1).entries()) {
        const data = event.data.replace(/[a-z](?=[^a-z]*$)/, (letter) => (letter === 'x' ? 'y' : 'x'));
        const faults = await faultsOf(forged(text, events.with(n, { ...event, data })));
        expect(placesOf(faults), `event ${n}`).to.include(n);
      }
    });

    it('names every event that was touched, and no other, where several were', async () => {
      const sealed = new Set(events.map(({ hash }) => hash));
      for (let round = 1; round <= rounds; round += 1) {
        let touched: readonly StoredEvent[] = events;
        for (let left = pick(random, [1, 2, 3]) ?? 1; left > 0; left -= 1) touched = touch(touched);
        const candidate = forged(text, touched);
        const faults = await faultsOf(candidate);
        const where = `seed ${seed}, round ${round}: ${JSON.stringify(faults)}`;
        const read = eventsOf(candidate);
        const others = read.slice(0, -1).filter(({ hash }) => !sealed.has(hash));
        // Where the last one that is sealed is another, nobody can tell what belongs before it from what is behind it.
        if (sealed.has(read.at(-2)?.hash))
          expect(placesOf(faults), where).to.include.members(others.map(({ index }) => index));
        // The last one nobody has signed: it may seem to stand for what is gone before it.
        for (const { index, event_id } of faults)
          if (index !== null && event_id !== null && index < read.length - 1)
            expect(sealed.has(read[index]?.hash), where).to.equal(false);
        // What was put in may have been taken out again.
        expect(faults.length === 0, where).to.equal(candidate === forged(text, events));
      }
    });

    it('finds every event that is taken out, and names its place', async () => {
      for (const [n] of events.slice(0, -1).entries()) {
        const faults = await faultsOf(forged(text, events.toSpliced(n, 1)), { checkpoint: kept.join(',') });
        // Without its first event the log is another one, and none of the checkpoints is its own.
        expect(n === 0 ? faults.length > 0 : placesOf(faults).includes(n), `event ${n}`).to.equal(true);
      }
    });

    it('finds every event that is put in, and names it', async () => {
      for (let n = 1; n < events.length - 1; n += 1) {
        const alien = { ...(events[n] as StoredEvent), id: '01a00000-0000-7000-8000-000000000000' };
        const faults = await faultsOf(forged(text, events.toSpliced(n, 0, alien)));
        expect(placesOf(faults), `event ${n}`).to.include(n);
      }
    });

    it('finds every event that changes places with the next one', async () => {
      for (let n = 1; n < events.length - 2; n += 1) {
        const [one, two] = [events[n] as StoredEvent, events[n + 1] as StoredEvent];
        const faults = await faultsOf(forged(text, events.toSpliced(n, 2, two, one)));
        expect(
          placesOf(faults).some((place) => place === n || place === n + 1),
          `event ${n}`,
        ).to.equal(true);
      }
    });

    it('finds every tail that is cut off behind what a kept checkpoint covers', async () => {
      for (let length = 1; length < events.length; length += 1) {
        const faults = await faultsOf(forged(text, events.slice(0, length)), { checkpoint: kept.join(',') });
        expect(
          faults.some(({ what }) => /cut off|not among those of the log/.test(what)),
          `${length} left`,
        ).to.equal(true);
      }
    });
  });

  it('takes a kept checkpoint as mail and shells leave it, and with signatures of others', async () => {
    const note = readFileSync(kept[1] ?? '', 'utf8');
    const witness = createSigner('witness', freshPem());
    const [, signature = ''] = witness.sign(note.slice(0, note.lastIndexOf('\n\n') + 1)).split('\n\n');
    const path = join(dir, 'other-form');
    for (const other of [note.replaceAll('\n', '\r\n'), `${note}\n`, note.trimEnd(), `${note}${signature}`]) {
      writeFileSync(path, other);
      expect(await faultsOf(text, { checkpoint: path }), JSON.stringify(other)).to.deep.equal([]);
    }
  });

  it('does not pass over checkpoints whose lines are written in another way', async () => {
    const lines = text.split('\n').slice(1, -2);
    const hidden = withLines(
      text,
      lines.map((line) => line.replace('"stream":"checkpoint', '"stream":"\\u0063heckpoint')),
    );
    const faults = await faultsOf(hidden);
    const places = events.flatMap(({ type }, n) => (type === 'LogSealed' ? [n] : []));
    expect(placesOf(faults)).to.deep.equal(places);
  });

  it('finds that the log is signed with another key', async () => {
    const other = signerOf(freshPem()).key.text;
    const faults = await faultsOf(text, { key: other });
    expect(faults.map(({ what }) => what)).to.include(
      "states a checkpoint that can't be relied on: It is not signed with the key that was given.",
    );
    expect(await faultsOf(text, { key: `${other},${key}` })).to.deep.equal([]);
  });
});
