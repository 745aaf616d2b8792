/**
 * Why a call failed. `away`: the server can't be reached or can't work now. `silent`: it did not answer in time.
 * `moved`: another node leads. After these three the outcome is unknown, and the call may be tried again. `denied`:
 * it refuses who asks.
 */
export type FailureKind = 'away' | 'silent' | 'moved' | 'denied';

/** A call to the server failed, for a reason that lies outside the program. */
export class ServerFailure extends Error {
  override readonly name = 'ServerFailure';
  readonly kind: FailureKind;
  constructor(kind: FailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** One append is larger than the server takes: nothing of it is stored, and trying again is of no use. */
export class AppendTooLarge extends Error {
  override readonly name = 'AppendTooLarge';
}

/** Resolves or rejects as the promise does; rejects as `silent` where that takes longer than `ms`. */
export const answered = async <T>(call: string, ms: number, promise: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ServerFailure('silent', `no answer to ${call} within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
};
