import { runProgram } from '../../src/program.ts';
import { faults } from './faults-from-environment.ts';

/** The service as `main.ts` starts it, with the fault that the environment names. */
await runProgram({
  faults,
  faultsModule: new URL('./faults-from-environment.js', import.meta.url).href,
});
