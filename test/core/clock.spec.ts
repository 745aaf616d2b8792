import { expect } from 'chai';
import * as fc from 'fast-check';
import { createClock } from '../../src/core/clock.ts';
import { createHandClock } from '../support/hand-clock.ts';

const hourMs = 3_600_000;

const runs = 500;

describe('the clock', () => {
  it('tells the time of the wall', () => {
    const time = createHandClock(10 * hourMs);
    const clock = createClock(0, time.wallMs, time.monotonicMs);
    expect(clock()).to.equal(10 * hourMs);
    time.pass(1_234);
    expect(clock()).to.equal(10 * hourMs + 1_234);
  });

  it('follows a wall clock that is set forward', () => {
    const time = createHandClock(10 * hourMs);
    const clock = createClock(0, time.wallMs, time.monotonicMs);
    time.step(hourMs);
    expect(clock()).to.equal(11 * hourMs);
  });

  it('runs on at the pace of the monotonic clock where the wall clock is set back', () => {
    const time = createHandClock(10 * hourMs);
    const clock = createClock(0, time.wallMs, time.monotonicMs);
    time.step(-hourMs);
    expect(clock()).to.equal(10 * hourMs);
    time.pass(2_500);
    expect(clock()).to.equal(10 * hourMs + 2_500);
  });

  it('does not give back an hour that was set forward and then back', () => {
    const time = createHandClock(10 * hourMs);
    const clock = createClock(0, time.wallMs, time.monotonicMs);
    time.step(hourMs);
    clock();
    time.step(-hourMs);
    time.pass(1_000);
    expect(clock()).to.equal(11 * hourMs + 1_000);
  });

  it('follows the wall again once the wall has caught up', () => {
    const time = createHandClock(10 * hourMs);
    const clock = createClock(0, time.wallMs, time.monotonicMs);
    time.step(-hourMs);
    time.pass(1_000);
    time.step(hourMs + 500);
    expect(clock()).to.equal(10 * hourMs + 1_500);
  });

  it('starts at the latest time known from before where the wall is behind it', () => {
    const time = createHandClock(9 * hourMs);
    const clock = createClock(10 * hourMs, time.wallMs, time.monotonicMs);
    expect(clock()).to.equal(10 * hourMs);
    time.pass(100);
    expect(clock()).to.equal(10 * hourMs + 100);
    time.step(hourMs);
    expect(clock()).to.equal(10 * hourMs + 100);
  });

  it('starts at the wall where that is ahead of the latest time known', () => {
    const time = createHandClock(11 * hourMs);
    expect(createClock(10 * hourMs, time.wallMs, time.monotonicMs)()).to.equal(11 * hourMs);
  });

  it('by default goes with the computer’s own clocks', () => {
    const before = Date.now();
    const told = createClock()();
    expect(told).to.be.within(before, Date.now() + 1);
  });

  it('however the wall is set, never goes back, stops, or runs ahead of both clocks', () => {
    const acts = fc.array(
      fc.oneof(
        fc.record({ pass: fc.integer({ min: 0, max: 100_000 }) }),
        fc.record({ step: fc.integer({ min: -2 * hourMs, max: 2 * hourMs }) }),
      ),
      { maxLength: 50 },
    );
    fc.assert(
      fc.property(acts, (all) => {
        const time = createHandClock(100 * hourMs);
        const clock = createClock(0, time.wallMs, time.monotonicMs);
        let told = clock();
        for (const act of all) {
          const passed = 'pass' in act ? act.pass : 0;
          if ('pass' in act) time.pass(passed);
          else time.step(act.step);
          const now = clock();
          expect(now).to.be.at.least(told + passed);
          expect(now).to.be.at.most(Math.max(time.wallMs(), told + passed));
          told = now;
        }
      }),
      { numRuns: runs },
    );
  });
});
