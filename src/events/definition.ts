import type { z } from 'zod';

/** One type of event: its stored name, today's version, and the shape of its data. */
export type EventDefinition<T extends string = string, S extends z.ZodType<object> = z.ZodType<object>> = {
  readonly type: T;
  /** Raised when a field changes its meaning or shape; a new optional field needs no new version. */
  readonly version: number;
  readonly data: S;
  /** The fields that no reader outside the service may ever see: digests and hashes. */
  readonly secrets: readonly string[];
};

/** States an event type. */
export const event = <const T extends string, S extends z.ZodType<object>>(
  type: T,
  version: number,
  data: S,
  secrets: readonly (keyof z.infer<S> & string)[] = [],
): EventDefinition<T, S> => ({ type, version, data, secrets });

/** The fact that an event definition describes. */
export type FactOf<E> =
  E extends EventDefinition<infer T, infer S>
    ? { readonly type: T; readonly data: Readonly<z.infer<S>> }
    : never;
