import { readFileSync } from 'node:fs';
import { answersSchema, type Answers } from '../operations.ts';

/** The answers of a constant server, from the file that `BENCH_ANSWERS` names. */
export const readAnswers = (): Answers =>
  answersSchema.parse(JSON.parse(readFileSync(process.env['BENCH_ANSWERS'] ?? '', 'utf8')));
