export type { Engine as EmbeddedEngine } from './engine.ts';
export { dataFileName, openEmbedded, replicaFileName } from './folder.ts';
export type { EmbeddedOptions, Observe } from './options.ts';
export { FolderInUse } from './owner.ts';
export { openLogReader, type LogReader } from './reading.ts';
export { openReplica, type Replica } from './replica.ts';
