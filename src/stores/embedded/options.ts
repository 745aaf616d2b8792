/** What the engine tells of its work, for metrics. Called on the main thread; must not throw. */
export type Observe = {
  /** One commit: how many appends and events it took, how long the writer was at it, how large the WAL is now. */
  readonly committed?: (it: {
    readonly appends: number;
    readonly events: number;
    readonly ms: number;
    readonly walBytes: number;
  }) => void;
  /** An append found another revision than it expected. */
  readonly conflict?: () => void;
  /** The checkpointer moved what it could of the WAL into the data file. */
  readonly checkpointed?: (it: { readonly ms: number; readonly walBytes: number }) => void;
};

/** How the engine is opened. */
export type EmbeddedOptions = {
  /** The data folder; made, readable by its owner alone, where there is none. */
  readonly dir: string;
  /** URL of a module that exports `projections` and `decode`; loaded in the writer's thread and in this one. */
  readonly projectionsModule: string;
  /** URL of a module that exports `faults`; for tests' own programs. */
  readonly faultsModule?: string;
  /** Told once that the disk or a thread failed: nothing more is written, and the program has to end and start anew. */
  readonly onFatal: (error: Error) => void;
  readonly observe?: Observe;
  /** Parsed documents and known absences each read model keeps in memory; 20,000 unless told. */
  readonly cacheEntriesMax?: number;
  /** Appends that may wait for a commit; 10,000 unless told. */
  readonly waitingAppendsMax?: number;
};
