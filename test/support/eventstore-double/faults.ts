/** A call that can be made to go wrong. */
export type FaultyCall = 'append' | 'read' | 'subscribe' | 'gossip';

/**
 * How a call goes wrong. `late`: it is answered after `ms`. `silent`: never. `stuck`: nor is anything that comes in
 * the same call, while other calls are answered. `lost-answer`: it is done, and then killed. `unavailable` and
 * `not-ready`: refused, as a server that is away or starts does. `not-leader`: refused with the name of another node.
 * `wrong-version`: refused as a lost race. `ended`: it ends with nothing and no error.
 */
export type How =
  | 'late'
  | 'silent'
  | 'stuck'
  | 'lost-answer'
  | 'unavailable'
  | 'not-ready'
  | 'not-leader'
  | 'wrong-version'
  | 'ended';

/** What is to go wrong: the next `times` calls of that kind, or all of them where that is absent. */
export type Fault = {
  readonly call: FaultyCall;
  readonly how: How;
  readonly times?: number;
  readonly ms?: number;
  /** The node that leads, for `not-leader`. */
  readonly leader?: { readonly host: string; readonly port: number };
};

/** The faults that are asked for, and which call meets which. */
export const createFaults = () => {
  let waiting: { fault: Fault; left: number }[] = [];
  const met = { count: 0 };
  return {
    add: (fault: Fault): void => {
      waiting.push({ fault, left: fault.times ?? Infinity });
    },
    clear: (): void => {
      waiting = [];
    },
    /** The fault that this call meets, if any. */
    meet: (call: FaultyCall): Fault | undefined => {
      const found = waiting.find(({ fault }) => fault.call === call);
      if (found === undefined) return undefined;
      found.left -= 1;
      met.count += 1;
      if (found.left <= 0) waiting = waiting.filter((it) => it !== found);
      return found.fault;
    },
    met: (): number => met.count,
  };
};

/** See `createFaults`. */
export type Faults = ReturnType<typeof createFaults>;
