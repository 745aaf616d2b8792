/** What the adapter tells of its work, for metrics and the log. Must not throw. */
export type Observe = {
  /** One append that the server took, and how long that took with all its tries. */
  readonly committed?: (it: {
    readonly appends: number;
    readonly events: number;
    readonly ms: number;
  }) => void;
  /** An append found another revision than it expected. */
  readonly conflict?: () => void;
  /** A call failed and is tried again, the same ids at the same place. */
  readonly retried?: (it: { readonly call: string; readonly reason: string }) => void;
  /** A call was given up: its caller gets `StoreUnavailable`. */
  readonly unavailable?: (it: { readonly call: string; readonly reason: string }) => void;
  /** A subscription ended, with an error or without, and is made anew. */
  readonly resubscribed?: (it: { readonly reason: string }) => void;
};

/** How the adapter is opened. */
export type EventStoreDbOptions = {
  /** `esdb://` or `kurrentdb://`, with hosts, credentials and options; may name several hosts. */
  readonly connectionString: string;
  readonly observe?: Observe;
  /** How long one try of one call may take, in milliseconds; 3,000 unless told here or as `defaultDeadline`. */
  readonly callMs?: number;
  /** How long a subscription may be quiet before it is held against the log's end; 10,000 unless told. */
  readonly quietMs?: number;
};
