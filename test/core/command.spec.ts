import { expect } from 'chai';
import { accept, evolve, refuse, type Fold } from '../../src/core/command.ts';

type Counted = { readonly type: 'Counted'; readonly data: { readonly by: number } };
type Ignored = { readonly type: 'Ignored'; readonly data: object };

const fold: Fold<number, Counted | Ignored> = { initial: 0, on: { Counted: (sum, { by }) => sum + by } };

describe('a decision', () => {
  it('is granted with its facts, or with none where the wish was true already', () => {
    const fact = { type: 'Counted', data: { by: 1 } };
    expect(accept(fact, fact)).to.deep.equal({ accepted: true, facts: [fact, fact] });
    expect(accept()).to.deep.equal({ accepted: true, facts: [] });
  });
  it('is refused with a code and a sentence', () => {
    expect(refuse('noun.state', 'Why.')).to.deep.equal({
      accepted: false,
      code: 'noun.state',
      detail: 'Why.',
    });
  });
});

describe('a fold', () => {
  it('changes the state by each fact that it names, and by no other', () => {
    const after = evolve(fold, 1, { type: 'Counted', data: { by: 2 } });
    expect(after).to.equal(3);
    expect(evolve(fold, after, { type: 'Ignored', data: {} })).to.equal(3);
  });
});
