export { contentsOfFolder, copyDataFile, inspectDataFile, type FileContents } from './backup.ts';
export type { Engine as EmbeddedEngine } from './engine.ts';
export { dataFileName, openEmbedded, replicaFileName } from './folder.ts';
export { countOf, headOf, openOwnedFile, rebuildOffline, type OwnedFile } from './offline.ts';
export type { EmbeddedOptions, Observe } from './options.ts';
export { FolderInUse, takeOwnership } from './owner.ts';
export { openLogOf, openLogReader, type LogReader } from './reading.ts';
export { openReplica, type Replica } from './replica.ts';
export {
  registeredIn,
  rowsOf,
  type DocumentRow,
  type Part,
  type ReadModelRow,
  type Registered,
} from './rows.ts';
export { openShadow, type Shadow } from './shadow.ts';
