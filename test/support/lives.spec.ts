import { expect } from 'chai';
import { faultsOf, unanswered, type Life } from './lives.ts';

const span = (start: number, end: number) => ({ start, end });
const taken = (start: number, end: number) => ({ start, end, taken: true });
const refused = (start: number, end: number) => ({ start, end, taken: false });

const life = (differing: Partial<Life>): Life => ({
  what: 'cred_1',
  made: span(10, 20),
  ends: [],
  lookUps: [],
  ...differing,
});

const kindsOf = (of: Life): readonly string[] =>
  faultsOf(of).map((fault) => /was .*?(?= at [\d.]+$|$)/.exec(fault)?.[0] ?? fault);

describe('the check of a life', () => {
  const fine: Readonly<Record<string, Partial<Life>>> = {
    'nothing was looked up': {},
    'it works from the answer on': { lookUps: [taken(21, 22), taken(1_000, 1_001)] },
    'it works while the making is under way': { lookUps: [taken(12, 13), refused(14, 15)] },
    'it works until the ending begins and not from its answer on': {
      ends: [span(30, 40)],
      lookUps: [taken(21, 29), refused(41, 42)],
    },
    'either, while the ending is under way': {
      ends: [span(30, 40)],
      lookUps: [taken(31, 39), refused(32, 39)],
    },
    'a look-up that began before the answer may still take it': {
      ends: [span(30, 40)],
      lookUps: [taken(39, 50)],
    },
    'a look-up that ends after the ending began may refuse it': {
      ends: [span(30, 40)],
      lookUps: [refused(21, 31)],
    },
    'an ending without an answer has happened or not': {
      ends: [span(30, unanswered)],
      lookUps: [taken(100, 101), refused(102, 103)],
    },
    'an ending without an answer never happened': {
      ends: [span(30, unanswered)],
      lookUps: [taken(100, 101)],
    },
  };
  for (const [name, differing] of Object.entries(fine)) {
    it(`finds no fault where ${name}`, () => expect(kindsOf(life(differing))).to.deep.equal([]));
  }

  const wrong: Readonly<Record<string, readonly [Partial<Life>, readonly string[]]>> = {
    'taken after the answer to its ending': [
      { ends: [span(30, 40)], lookUps: [taken(40.1, 41)] },
      ['was taken after its end'],
    ],
    'taken after the first of two endings': [
      { ends: [span(50, 60), span(30, 40)], lookUps: [taken(45, 46)] },
      ['was taken after its end'],
    ],
    'taken before it was made': [{ lookUps: [taken(1, 9)] }, ['was taken before it was made']],
    'refused while it is alive': [{ lookUps: [refused(21, 22)] }, ['was refused while it was alive']],
    'refused before its ending began': [
      { ends: [span(30, 40)], lookUps: [refused(21, 29)] },
      ['was refused while it was alive'],
    ],
    'taken again after a refusal while the ending is under way': [
      { ends: [span(30, 40)], lookUps: [refused(31, 32), taken(33, 34)] },
      ['was taken after a refusal'],
    ],
    'taken again after a refusal though the ending has no answer': [
      { ends: [span(30, unanswered)], lookUps: [refused(100, 101), taken(102, 103)] },
      ['was taken after a refusal'],
    ],
  };
  for (const [name, [differing, kinds]] of Object.entries(wrong)) {
    it(`finds what was ${name}`, () => expect(kindsOf(life(differing))).to.deep.equal(kinds));
  }
});
