import { expect } from 'chai';
import * as fc from 'fast-check';
import {
  agentCommands,
  metadataBytesMax,
  threadCommands,
  workflowCommands,
  type Content,
} from '../../src/commands/resource.ts';
import { evolve } from '../../src/core/command.ts';
import {
  acme,
  acmeAgain,
  agentChanged,
  agentCreated,
  agentDeleted,
  but,
  threadChanged,
  threadCreated,
  threadDeleted,
  workflowChanged,
  workflowCreated,
  workflowDeleted,
} from '../support/examples.ts';
import { given } from '../support/given.ts';
import { anyJson } from '../support/arbitraries.ts';

const runs = 500;
const defaults = { description: '', metadata: {} };
const other = { tenant_id: 'other', incarnation: 'other~1' };

const nouns = {
  agent: {
    commands: agentCommands,
    created: agentCreated,
    changed: agentChanged,
    deleted: agentDeleted,
    patch: { name: 'Chief reporter' } as Content,
    unknown: 'agent.unknown',
  },
  thread: {
    commands: threadCommands,
    created: threadCreated,
    changed: threadChanged,
    deleted: threadDeleted,
    patch: { title: 'April', agent_id: null } as Content,
    unknown: 'thread.unknown',
  },
  workflow: {
    commands: workflowCommands,
    created: workflowCreated,
    changed: workflowChanged,
    deleted: workflowDeleted,
    patch: { name: 'Close all books' } as Content,
    unknown: 'workflow.unknown',
  },
} as const;

/** Metadata that takes exactly so many bytes as JSON, in characters of several bytes. */
const metadataOf = (bytes: number): Content => {
  const frame = Buffer.byteLength('{"a":""}');
  const odd = (bytes - frame) % 2 === 1 ? 'x' : '';
  return { a: odd + 'ä'.repeat((bytes - frame - odd.length) / 2) };
};

for (const [noun, { commands, created, changed, deleted, patch, unknown }] of Object.entries(nouns)) {
  const { id } = created.data;
  const content = created.data.content as Content;
  const one = `${noun === 'agent' ? 'an' : 'a'} ${noun}`;

  describe(`create ${one}`, () => {
    const wish = { id, ...acme, content };

    it('records it whole', () => given(commands.create).when(wish).then(created));
    it('is refused where the id is taken, also by one that is deleted', () => {
      given(commands.create, created).when(wish).thenRefused('resource.exists');
      given(commands.create, created, deleted).when(wish).thenRefused('resource.exists');
    });
    it('takes metadata up to the last byte, and not one byte more', () => {
      const most = { ...content, metadata: metadataOf(metadataBytesMax) };
      expect(Buffer.byteLength(JSON.stringify(most.metadata))).to.equal(16_384);
      given(commands.create)
        .when({ ...wish, content: most })
        .then(but(created, { content: most } as never));
      given(commands.create)
        .when({ ...wish, content: { ...content, metadata: metadataOf(metadataBytesMax + 1) } })
        .thenRefused('resource.metadata-too-large');
    });
  });

  describe(`change ${one}`, () => {
    const wish = { id, ...acme, patch, defaults };

    it('records the whole content as it is then', () =>
      given(commands.change, created).when(wish).then(changed));
    it('records nothing where nothing changes', () => {
      given(commands.change, created)
        .when({ ...wish, patch: {} })
        .thenNothing();
      given(commands.change, created, changed).when(wish).thenNothing();
      given(commands.change, created)
        .when({ ...wish, patch: { metadata: { nothing: null } } })
        .thenNothing();
    });
    it('gives what is taken away what it has where nothing is chosen', () => {
      const bare = { ...content, ...defaults };
      given(commands.change, created)
        .when({ ...wish, patch: { description: null, metadata: null } })
        .then({ ...changed, data: { id, ...acme, content: bare } } as never);
    });
    it('is granted at one of the revisions that are asked for, and refused at any other', () => {
      for (const if_revision of [undefined, [0], [7, 0]])
        given(commands.change, created)
          .when({ ...wish, if_revision })
          .then(changed);
      for (const if_revision of [[], [1], [1, 2]])
        given(commands.change, created)
          .when({ ...wish, if_revision })
          .thenRefused('resource.changed');
      given(commands.change, created, changed)
        .when({ ...wish, if_revision: [1] })
        .thenNothing();
      given(commands.change, created, changed)
        .when({ ...wish, if_revision: [0] })
        .thenRefused('resource.changed');
    });
    it('is refused where the metadata would become too large, however small the patch', () => {
      const most = but(created, { content: { ...content, metadata: metadataOf(metadataBytesMax) } } as never);
      given(commands.change, most)
        .when({ ...wish, patch: { metadata: { b: 0 } } })
        .thenRefused('resource.metadata-too-large');
    });
    it('is refused where there is none (any more), and elsewhere as if there were none', () => {
      given(commands.change).when(wish).thenRefused(unknown);
      given(commands.change, created, deleted).when(wish).thenRefused(unknown);
      for (const elsewhere of [acmeAgain, other])
        given(commands.change, created)
          .when({ ...wish, ...elsewhere, if_revision: [9] })
          .thenRefused(unknown);
    });
  });

  describe(`delete ${one}`, () => {
    const wish = { id, ...acme };

    it('ends it', () => given(commands.delete, created).when(wish).then(deleted));
    it('is granted at one of the revisions that are asked for, and refused at any other', () => {
      given(commands.delete, created, changed)
        .when({ ...wish, if_revision: [0, 1] })
        .then(deleted);
      given(commands.delete, created, changed)
        .when({ ...wish, if_revision: [0] })
        .thenRefused('resource.changed');
    });
    it('is refused where there is none (any more), and elsewhere as if there were none', () => {
      given(commands.delete).when(wish).thenRefused(unknown);
      given(commands.delete, created, deleted).when(wish).thenRefused(unknown);
      for (const elsewhere of [acmeAgain, other])
        given(commands.delete, created)
          .when({ ...wish, ...elsewhere })
          .thenRefused(unknown);
    });
  });
}

type Metadata = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Metadata =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const stateOf = (metadata: Metadata) =>
  evolve(agentCommands.change.fold, agentCommands.change.fold.initial, {
    type: 'AgentCreated',
    data: { ...agentCreated.data, content: { name: 'a', description: '', metadata } },
  } as never);

const decide = (metadata: Metadata, patch: unknown) =>
  agentCommands.change.decide(
    { id: 'agent_1', ...acme, patch: { metadata: patch }, defaults },
    stateOf(metadata),
  );

/** The metadata after a patch of it. */
const patched = (metadata: Metadata, patch: unknown): Metadata => {
  const decision = decide(metadata, patch);
  if (!decision.accepted) throw new Error(decision.code);
  const [fact] = decision.facts;
  if (fact === undefined) return metadata;
  if (!('content' in fact.data)) throw new Error(`A patch recorded ${fact.type}.`);
  return fact.data.content['metadata'] as Metadata;
};

describe('a JSON merge patch', () => {
  /** RFC 7396, appendix A: original, patch, result. `null` as a patch takes the whole away. */
  const examples: readonly (readonly [unknown, unknown, unknown])[] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, undefined],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [original, patch, result] of examples) {
    it(`makes ${JSON.stringify(result)} of ${JSON.stringify(original)} by ${JSON.stringify(patch)}`, () => {
      // Whatever the example is, it stands in a member: metadata itself is always an object.
      const expected = result === undefined ? {} : { x: result };
      expect(patched({ x: original }, { x: patch })).to.deep.equal(expected);
    });
  }

  /** What §2 says of the result, member by member. */
  const expectMerged = (target: unknown, patch: unknown, result: unknown): void => {
    if (!isObject(patch)) {
      expect(result).to.deep.equal(patch);
      return;
    }
    const was = isObject(target) ? target : {};
    const is = result as Metadata;
    for (const name of new Set([...Object.keys(was), ...Object.keys(patch), ...Object.keys(is)])) {
      if (!Object.hasOwn(patch, name)) expect(is[name]).to.deep.equal(was[name]);
      else if (patch[name] === null) expect(Object.hasOwn(is, name), name).to.equal(false);
      else expectMerged(Object.hasOwn(was, name) ? was[name] : undefined, patch[name], is[name]);
    }
  };

  /** Few names, so that they meet; among them those that every object has from elsewhere. */
  const names = fc.constantFrom('a', 'b', 'c', '1', 'constructor', 'toString', 'hasOwnProperty', '');
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(null, true, 0, 1, 'x', '\uD800'),
      fc.array(anyJson, { maxLength: 2 }).map((array) => JSON.parse(JSON.stringify(array)) as unknown[]),
      fc.dictionary(names, tie('tree'), { maxKeys: 4 }),
    ),
  }));
  const object = fc.dictionary(names, tree, { maxKeys: 4 }).map((it) => ({ ...it }));

  it('changes exactly the members that it names, and takes away those that it names null', () => {
    fc.assert(
      fc.property(object, object, (target, patch) => expectMerged(target, patch, patched(target, patch))),
      { numRuns: runs },
    );
  });
  it('applied twice is applied once: the second time records nothing', () => {
    fc.assert(
      fc.property(object, object, (target, patch) => {
        expect(decide(patched(target, patch), patch)).to.deep.equal({ accepted: true, facts: [] });
      }),
      { numRuns: runs },
    );
  });
  it('that is empty records nothing, whatever is there', () => {
    fc.assert(
      fc.property(object, (target) => {
        expect(decide(target, {})).to.deep.equal({ accepted: true, facts: [] });
      }),
      { numRuns: runs },
    );
  });
});
