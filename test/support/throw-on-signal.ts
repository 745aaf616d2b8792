/**
 * Loaded into a program ahead of it (`--import`): an exception that nobody catches, when SIGUSR2 comes. It stands for
 * any fault that no test has found yet.
 */
process.on('SIGUSR2', () => {
  throw new Error('An exception that nobody catches.');
});
