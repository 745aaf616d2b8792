import { noteRefusedRequests } from '../../src/commands/refused-requests.ts';
import { requestsRefused } from '../support/examples.ts';
import { given } from '../support/given.ts';

describe('noting refused requests', () => {
  const wish = { id: 'one', ...requestsRefused.data };

  it('states what was refused, as it was counted', () =>
    given(noteRefusedRequests).when(wish).then(requestsRefused));
  it('states it once', () => given(noteRefusedRequests, requestsRefused).when(wish).thenNothing());
});
