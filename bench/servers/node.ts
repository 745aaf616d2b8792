import { createServer, type IncomingMessage } from 'node:http';
import type { Answer } from '../operations.ts';
import { readAnswers } from './answers.ts';
import { announce } from './listening.ts';

// The least that node:http itself costs for the same request and the same answer.
const answers = readAnswers();

const answerTo = ({ method, url = '' }: IncomingMessage): Answer => {
  if (method === 'DELETE') return answers.revoke;
  if (method === 'POST') {
    if (url === '/workflows') return answers.workflow;
    return url.endsWith('/tokens') ? answers.mint : answers.authenticate;
  }
  if (url.endsWith('/agents')) return answers.agents;
  return url.endsWith('/users') ? answers.list : answers.get;
};

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (chunks.length > 0) JSON.parse(Buffer.concat(chunks).toString('utf8'));
    const { status, body } = answerTo(request);
    if (body === null) return response.writeHead(status).end();
    const text = JSON.stringify(body);
    const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) };
    return response.writeHead(status, headers).end(text);
  });
});
server.listen(0, '127.0.0.1', () => announce(server));
