import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';
import MemoryAdapter from 'oidc-provider/lib/adapters/memory_adapter.js';
import { announce } from './listening.ts';

// The peer with its own in-memory adapter. Its default store forgets all but the last 1,000 entries, and revoking
// what is forgotten costs nothing; a Map keeps all, so that each request does what it says.
const store = new Map<string, unknown>();
const tokenSeconds = 3600;
const provider = new Provider('http://127.0.0.1', {
  adapter: (model: string) => new MemoryAdapter(model, store),
  clients: [
    {
      client_id: process.env['BENCH_CLIENT_ID'],
      client_secret: process.env['BENCH_CLIENT_SECRET'],
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    },
  ],
  features: {
    clientCredentials: { enabled: true },
    introspection: { enabled: true },
    revocation: { enabled: true },
    devInteractions: { enabled: false },
  },
  ttl: { ClientCredentials: tokenSeconds },
});
const server = createServer(provider.callback());
server.listen(0, '127.0.0.1', () => announce(server));
