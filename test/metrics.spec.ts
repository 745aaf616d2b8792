import { expect } from 'chai';
import { createMetrics } from '../src/metrics.ts';

describe('the metrics', () => {
  const status = { name: 'tenants', version: 1, checkpoint: '7', rebuilding: null };

  it('tell how far behind each read model is, and which one stands', async () => {
    const metrics = createMetrics('1.2.3');
    const stopped = { position: '8', event: 'event-1', reason: 'it is broken' };
    metrics.watch({
      head: async () => '00000000000000000009',
      readModels: async () => [status, { ...status, name: 'users', checkpoint: '9', stopped }],
      health: () => ({ ready: true }),
    });
    const { text } = await metrics.text();
    expect(text).to.match(/^projection_lag\{projection="tenants"\} 2$/m);
    expect(text).to.match(/^projection_lag\{projection="users"\} 0$/m);
    expect(text).to.match(/^projection_stopped\{projection="tenants"\} 0$/m);
    expect(text).to.match(/^projection_stopped\{projection="users"\} 1$/m);
    expect(text).to.match(/^stores_ready 1$/m);
  });

  for (const [how, answer] of [
    ['fails', () => Promise.reject(new Error('away'))],
    ['does not answer', () => new Promise<never>(() => {})],
  ] as const) {
    it(`are told without what an engine knows that ${how}`, async () => {
      const metrics = createMetrics('1.2.3');
      metrics.watch({
        head: answer,
        readModels: async () => [status],
        health: () => ({ ready: false, reason: 'away' }),
      });
      const { text } = await metrics.text();
      expect(text).to.match(/^build_info\{version="1.2.3"\} 1$/m);
      expect(text).to.match(/^stores_ready 0$/m);
      expect(text).not.to.match(/^projection_lag\{/m);
    }).timeout(5_000);
  }
});
