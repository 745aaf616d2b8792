import type { Position } from '../../core/event.ts';
import { StoreUnavailable } from '../../core/ports.ts';
import type { Lay } from './writer.ts';

/** Tombstones of this node that may wait to be durable; beyond these look-ups are refused instead. */
const pendingMax = 10_000;

/** Tombstones that this node has decided and not yet seen durable: look-ups here see them all the same. */
export type Pending = {
  /** Adds; what it answers takes them away again, once they are durable. */
  readonly add: (lays: ReadonlyMap<string, readonly Lay[]>) => () => void;
  /** What is laid under this id, pending ones included. Throws where more are pending than it can hold. */
  readonly over: (id: string, laid: unknown) => unknown;
  /** Takes away what the projector has come past. */
  readonly passed: (checkpoint: Position) => void;
};

/** The pending tombstones of one read model. */
export const createPending = (): Pending => {
  const byId = new Map<string, Set<Lay>>();
  let size = 0;
  /** The last position of those that there was no room for. */
  let lostUntil: Position | undefined;

  const remove = (id: string, lay: Lay): void => {
    const there = byId.get(id);
    if (there?.delete(lay) !== true) return;
    size -= 1;
    if (there.size === 0) byId.delete(id);
  };

  return {
    add: (lays) => {
      const added: [string, Lay][] = [];
      for (const [id, all] of lays) {
        for (const lay of all) {
          if (size >= pendingMax) {
            if (lostUntil === undefined || lay.position > lostUntil) lostUntil = lay.position;
            continue;
          }
          const there = byId.get(id) ?? new Set();
          byId.set(id, there.add(lay));
          size += 1;
          added.push([id, lay]);
        }
      }
      return () => {
        for (const [id, lay] of added) remove(id, lay);
      };
    },
    over: (id, laid) => {
      if (lostUntil !== undefined) throw new StoreUnavailable('Too many tombstones wait to be written.');
      let document = laid;
      for (const { to } of byId.get(id) ?? []) document = to(document) ?? document;
      return document;
    },
    passed: (checkpoint) => {
      if (lostUntil !== undefined && lostUntil <= checkpoint) lostUntil = undefined;
      for (const [id, there] of byId)
        for (const lay of there) if (lay.position <= checkpoint) remove(id, lay);
    },
  };
};
