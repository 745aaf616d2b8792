// The package ships no types; this is as much of it as the benchmark uses.
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';
  export class Provider {
    constructor(issuer: string, configuration: object);
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
  }
}
declare module 'oidc-provider/lib/adapters/memory_adapter.js' {
  const MemoryAdapter: new (model: string, store: Map<string, unknown>) => object;
  // oxlint-disable-next-line import/no-default-export -- it is the package's
  export default MemoryAdapter;
}
