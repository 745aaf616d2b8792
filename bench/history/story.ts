import {
  addKey,
  addResources,
  addUser,
  changeResources,
  createAccount,
  createWorkspace,
  deleteAccount,
  deleteWorkspace,
  mint,
  removeKey,
  removeResources,
  removeUser,
  revoke,
  rollKey,
  rotateAccount,
  useKey,
  type Act,
  type Stage,
  type Workspace,
} from './acts.ts';
import type { LogWriter } from './log-writer.ts';

/** Workspaces that stay; beside them others come and go. */
const workspacesAmount = 16;
const accountsAtFirst = 4;
const mintsAtFirst = 20;

/** One of so many acts is the whole life of a workspace that passes, under one of few names, with so many acts in it. */
const passingEvery = 5_000;
const passingNames = 5;
const passingActs = 100;

/** What happens from day to day, each beside how often it does among a thousand. */
const daily: readonly (readonly [weight: number, act: Act])[] = [
  [892, mint],
  [60, revoke],
  [12, addUser],
  [4, removeUser],
  [2, addResources],
  [12, changeResources],
  [1, removeResources],
  [2, addKey],
  [3, rollKey],
  [6, useKey],
  [1, removeKey],
  [1, createAccount],
  [3, rotateAccount],
  [1, deleteAccount],
];
const weights = daily.reduce((sum, [weight]) => sum + weight, 0);

/** What a request can name: there from the beginning of the log to its end. */
export type Lasting = {
  readonly tenant: string;
  readonly user: string;
  readonly credentials: readonly string[];
};

/** Numbers from 0 up to 1, the same in every run (mulberry32), so that runs tell the same story. */
const createChance = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

const settle = (stage: Stage, name: string, life: number): Workspace => {
  const workspace = createWorkspace(stage, name, life);
  const first = [addUser, addResources, addKey, ...Array<Act>(mintsAtFirst).fill(mint)];
  for (const act of [...Array<Act>(accountsAtFirst).fill(createAccount), ...first]) act(stage, workspace);
  return workspace;
};

const live: Act = (stage, workspace) => {
  let at = stage.chance() * weights;
  for (const [weight, act] of daily) {
    at -= weight;
    if (at < 0) return act(stage, workspace);
  }
};

/** A workspace that comes and ends; those before it had the same name. */
const pass = (stage: Stage, passed: number): void => {
  const life = 1 + Math.floor(passed / passingNames);
  const passing = settle(stage, `passing-${passed % passingNames}`, life);
  for (let n = 0; n < passingActs; n += 1) live(stage, passing);
  deleteWorkspace(stage, passing);
};

/** Fills a log with at least so many events of workspaces as they are used, nine of ten mints; answers what stays. */
export const tellStory = (log: LogWriter, amount: number): readonly Lasting[] => {
  const stage = { ...log, chance: createChance(1) };
  const workspaces = Array.from({ length: workspacesAmount }, (_, n) => settle(stage, `workspace-${n}`, 1));
  const lasting = workspaces.map(({ tenant_id, users: [user = ''], minted }) => ({
    tenant: tenant_id,
    user,
    credentials: minted.map(({ username }) => username),
  }));
  for (let acts = 1; log.events() < amount; acts += 1) {
    const workspace = workspaces[Math.floor(stage.chance() * workspacesAmount)];
    if (workspace !== undefined) live(stage, workspace);
    if (acts % passingEvery === 0) pass(stage, acts / passingEvery - 1);
  }
  log.flush();
  return lasting;
};
