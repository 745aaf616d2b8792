import { v7 } from 'uuid';
import type { NewEvent } from '../src/core/event.ts';
import { codec } from '../src/events/index.ts';

const placeholder = 'cred_placeholder';

// Each event takes the template's text with a username of its own.
const template = codec.encode(
  {
    type: 'CredentialMinted',
    data: {
      username: placeholder,
      tenant_id: 'bench',
      incarnation: 'bench~1',
      service_account_id: `sa_${'0'.repeat(32)}`,
      subject: 'nightly-report',
      role: 'reader',
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
      password_digest: 'x'.repeat(43),
    },
  },
  {
    id: v7(),
    time: new Date().toISOString(),
    cause: {
      actor: `service_account:sa_${'0'.repeat(32)}`,
      address: '127.0.0.1',
      user_agent: null,
      reason: null,
      correlation_id: v7(),
      causation_id: null,
    },
  },
);

/** What a mint appends, with an id and a username of its own, and the new stream that it goes to. */
export const createMintedEvent = (): { readonly stream: string; readonly event: NewEvent } => {
  const id = v7();
  const username = `cred_${id.replaceAll('-', '')}`;
  const event = { ...template, id, data: template.data.replace(placeholder, username) };
  return { stream: `credential-${username}`, event };
};
