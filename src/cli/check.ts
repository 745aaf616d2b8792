import { checkFolder } from './check-folder.ts';
import { isEqual, type Checked } from './checked.ts';
import type { Command, CommandInput, Outcome } from './command.ts';

const linesOf = (it: Checked): readonly string[] => {
  if ('fault' in it) return [`${it.read_model} ${it.fault}`];
  const { read_model, documents, past, digest, replayed_digest, first } = it;
  if (first === undefined) return [`${read_model}: ${documents} documents, ${past} of the past, ${digest}`];
  const { part, id, since, kept, replayed } = first;
  return [
    `${read_model} differs: ${digest} is kept, and the log says ${replayed_digest}`,
    `  first at ${id}${part === 'past' ? `, as it was from ${since}` : ''}`,
    `  kept:     ${kept ?? 'nothing'}`,
    `  replayed: ${replayed ?? 'nothing'}`,
  ];
};

const check = async (input: CommandInput): Promise<readonly Checked[]> => {
  if (input.config.read_models === 'embedded') return checkFolder(input);
  // The driver of MongoDB takes 20 MB for itself.
  const { checkServer } = await import('./check-server.ts');
  return checkServer(input);
};

/** Holds every read model against a replay of the log that it was made from. */
export const checkReadModels: Command['run'] = async (input): Promise<Outcome> => {
  const checked = await check(input);
  const wrong = checked.filter((it) => !isEqual(it)).map((it) => it.read_model);
  const last =
    wrong.length === 0
      ? `${checked.length} read models are what the log says`
      : `${wrong.length} of ${checked.length} read models are not what the log says: ${wrong.join(', ')}`;
  return {
    text: [...checked.flatMap(linesOf), last].join('\n'),
    result: { equal: wrong.length === 0, read_models: checked },
    failed: wrong.length > 0,
  };
};
