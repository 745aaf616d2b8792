import { openEmbedded } from '../src/stores/embedded/index.ts';

/** Opens the embedded engine on a folder with the service's own read models. Ends the process where the engine fails. */
export const openEngine = (dir: string): ReturnType<typeof openEmbedded> =>
  openEmbedded({
    dir,
    projectionsModule: new URL('../src/projections/index.js', import.meta.url).href,
    onFatal: (error) => {
      console.error(error);
      process.exit(1);
    },
  });
