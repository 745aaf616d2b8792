import { createApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { faults } from './faults-from-environment.ts';

/** The service as `main.ts` starts it, with the fault that the environment names; for tests alone. */
const { config } = readConfig(process.env);
const log = createLog(config.log_level);

const end = (code: number): never => {
  log.flush();
  process.exit(code);
};
const die = (error: unknown): never => {
  log.logger.fatal({ err: error }, 'the end');
  return end(1);
};
process.on('uncaughtException', die);
process.on('unhandledRejection', die);

const app = await createApp(config, log.logger, die, {
  faults,
  faultsModule: new URL('./faults-from-environment.js', import.meta.url).href,
}).catch(die);
process.on('SIGTERM', () => void app.stop().then(() => end(0), die));
log.logger.info({ address: app.address, port: app.port }, 'listening');
log.flush();
