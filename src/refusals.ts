/** What kind of failure a code is; each kind is one HTTP status. */
export type RefusalKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'missing'
  | 'method'
  | 'not-acceptable'
  | 'timeout'
  | 'conflict'
  | 'precondition'
  | 'too-large'
  | 'unsupported'
  | 'too-many'
  | 'headers-too-large'
  | 'internal'
  | 'not-implemented'
  | 'unavailable';

/** A code's kind, its title (the same for every occurrence), and what a client should do about it. */
type Refusal = { readonly kind: RefusalKind; readonly title: string; readonly help: string };

/** Every code a client can meet. A code is never renamed: clients switch on it. */
export const refusals = {
  'control-plane.not-configured': {
    kind: 'missing',
    title: 'The control plane is not configured',
    help: 'The operator has set no admin token, so the Admin API is off. Set SERVICE_CP_ADMIN_TOKEN and start the service again.',
  },
  'authentication.missing': {
    kind: 'unauthenticated',
    title: 'No token was sent',
    help: 'Send the header `Authorization: Bearer <token>` with the admin token or a service account’s bearer.',
  },
  'authentication.invalid': {
    kind: 'unauthenticated',
    title: 'The token is not valid',
    help: 'The token is unknown, mistyped, rotated away or revoked. Use a token that works; there is nothing to retry.',
  },
  'authorization.denied': {
    kind: 'forbidden',
    title: 'This caller may not do this',
    help: 'The token is valid but may not call this endpoint, or not for this tenant. The admin token may call everything but minting; a service account’s bearer may mint, list and revoke in its own tenant and read capabilities.',
  },
  'request.invalid': {
    kind: 'invalid',
    title: 'The request is not valid',
    help: 'The member `errors` names every fault with a JSON pointer into the request. Unknown members are refused, so that a misspelt one is never silently dropped.',
  },
  'request.malformed': {
    kind: 'invalid',
    title: 'The request could not be read',
    help: 'The request is not well-formed HTTP, its headers contradict each other, its body is not well-formed JSON in UTF-8, or it is nested too deeply.',
  },
  'request.too-large': {
    kind: 'too-large',
    title: 'The body is too large',
    help: 'A body may have up to 1 MiB.',
  },
  'request.headers-too-large': {
    kind: 'headers-too-large',
    title: 'The headers are too large',
    help: 'The headers of a request may have up to 16 KiB together.',
  },
  'request.unsupported-type': {
    kind: 'unsupported',
    title: 'The content type is not supported',
    help: 'Send the body as `Content-Type: application/json`, without a content encoding.',
  },
  'request.not-acceptable': {
    kind: 'not-acceptable',
    title: 'No acceptable representation',
    help: 'This endpoint answers `application/json`; let the Accept header allow it.',
  },
  'request.timeout': {
    kind: 'timeout',
    title: 'The request took too long to arrive',
    help: 'Send the whole request without long pauses.',
  },
  'route.unknown': {
    kind: 'missing',
    title: 'There is nothing at this path',
    help: 'See the API reference at /apidoc for what there is.',
  },
  'route.method-not-allowed': {
    kind: 'method',
    title: 'The method is not allowed here',
    help: 'The header `Allow` names the methods that this path answers.',
  },
  'tenant.exists': {
    kind: 'conflict',
    title: 'The tenant exists already',
    help: 'Choose another id, or use the tenant that is there.',
  },
  'tenant.unknown': {
    kind: 'missing',
    title: 'There is no such tenant',
    help: 'It was never created, or it has been deleted.',
  },
  'user.exists': {
    kind: 'conflict',
    title: 'The user exists already',
    help: 'Usernames are unique in their tenant without regard to case.',
  },
  'user.unknown': {
    kind: 'missing',
    title: 'There is no such user',
    help: 'It was never created, or it has been deleted.',
  },
  'service-account.exists': {
    kind: 'conflict',
    title: 'The service account exists already',
    help: 'The generated id was taken, which chance makes all but impossible. Try again.',
  },
  'service-account.unknown': {
    kind: 'missing',
    title: 'There is no such service account',
    help: 'It was never created, or it or its tenant has been deleted.',
  },
  'credential.exists': {
    kind: 'conflict',
    title: 'The credential exists already',
    help: 'The generated username was taken, which chance makes all but impossible. Try again.',
  },
  'credential.unknown': {
    kind: 'missing',
    title: 'There is no such credential',
    help: 'It was never minted in this tenant.',
  },
  'credential.not-yours': {
    kind: 'forbidden',
    title: 'Another service account minted this credential',
    help: 'A service account may revoke what it minted itself; the admin token may revoke any.',
  },
  'credential.role-above-max': {
    kind: 'forbidden',
    title: 'The role is above what the account may mint',
    help: 'Ask for a role up to the account’s `max_role`.',
  },
  'credential.ttl-above-max': {
    kind: 'invalid',
    title: 'The time to live is above what the account may mint',
    help: 'Ask for a `ttl_secs` up to the account’s `max_ttl_secs`.',
  },
  'api-key.missing': {
    kind: 'unauthenticated',
    title: 'No API key was sent',
    help: 'Send the header `X-API-Key: <key>`. A signed-in user makes keys in the web interface, under API Keys.',
  },
  'api-key.malformed': {
    kind: 'unauthenticated',
    title: 'This is no API key',
    help: 'A key starts with `svc_` and ends with a checksum, and the checksum is wrong: the key is mistyped or cut off. Copy it again.',
  },
  'api-key.unknown': {
    kind: 'unauthenticated',
    title: 'The API key is not known',
    help: 'This service never gave the key out: look whether it is for another instance.',
  },
  'api-key.expired': {
    kind: 'unauthenticated',
    title: 'The API key has expired',
    help: 'Make another key in the web interface, under API Keys.',
  },
  'api-key.revoked': {
    kind: 'unauthenticated',
    title: 'The API key is revoked',
    help: 'The key was revoked or rolled, or its workspace was deleted. Use the key that took its place, or make another one.',
  },
  'api-key.exists': {
    kind: 'conflict',
    title: 'The API key exists already',
    help: 'The generated id was taken, which chance makes all but impossible. Try again.',
  },
  'api-key.not-found': {
    kind: 'missing',
    title: 'There is no such API key',
    help: 'No key of this id was ever made in this workspace, or it is not yours to see.',
  },
  'api-key.not-yours': {
    kind: 'forbidden',
    title: 'Somebody else made this API key',
    help: 'A user may roll and revoke the keys that they made; an admin of the workspace may all.',
  },
  'api-key.role-above-own': {
    kind: 'forbidden',
    title: 'The role is above your own',
    help: 'Ask for a role up to your own.',
  },
  'api-key.expiry-in-past': {
    kind: 'invalid',
    title: 'The expiry lies in the past',
    help: 'A date without a time ends at that day’s end, UTC. Ask for one in the future, or leave it out.',
  },
  'api-key.ended': {
    kind: 'conflict',
    title: 'The API key works no more',
    help: 'A key that is revoked or has expired can’t be rolled: make another one.',
  },
  'session.exists': {
    kind: 'conflict',
    title: 'The session exists already',
    help: 'The generated id was taken, which chance makes all but impossible. Sign in again.',
  },
  'session.cross-site': {
    kind: 'forbidden',
    title: 'The form was sent from another site',
    help: 'Open the page on this service itself and send the form from there. Behind a proxy, the header Host must reach the service as the browser sent it.',
  },
  'sign-in.failed': {
    kind: 'unauthenticated',
    title: 'Signing in failed',
    help: 'Workspace, username or password is not right; which of them is never said.',
  },
  'sign-in.too-many': {
    kind: 'too-many',
    title: 'Too many failed sign-ins',
    help: 'Wait as long as `Retry-After` says and try again.',
  },
  'agent.unknown': {
    kind: 'missing',
    title: 'There is no such agent',
    help: 'It was never created in this workspace, or it has been deleted.',
  },
  'thread.unknown': {
    kind: 'missing',
    title: 'There is no such thread',
    help: 'It was never created in this workspace, or it has been deleted.',
  },
  'thread.agent-unknown': {
    kind: 'invalid',
    title: 'The thread names an agent that there is not',
    help: 'Give the `agent_id` of an agent of the same workspace, or leave it out.',
  },
  'workflow.unknown': {
    kind: 'missing',
    title: 'There is no such workflow',
    help: 'It was never created in this workspace, or it has been deleted.',
  },
  'resource.exists': {
    kind: 'conflict',
    title: 'The resource exists already',
    help: 'The generated id was taken, which chance makes all but impossible. Try again.',
  },
  'resource.changed': {
    kind: 'precondition',
    title: 'The resource has been changed since',
    help: 'The `If-Match` header names an older revision. Get the resource again, look at what changed, and send the change with its new `ETag`.',
  },
  'resource.metadata-too-large': {
    kind: 'invalid',
    title: 'The metadata is too large',
    help: 'The metadata of a resource may have up to 16 KiB as JSON.',
  },
  'event.unknown': {
    kind: 'missing',
    title: 'There is no such event',
    help: 'No event stands at this position, or none of this id was found around the time that the id tells. An event’s position always finds it.',
  },
  'event.unsealed': {
    kind: 'conflict',
    title: 'The event is not sealed yet',
    help: 'No checkpoint covers it. The service seals the log every so often; POST /admin/v1/checkpoints does it now.',
  },
  'checkpoint.unknown': {
    kind: 'missing',
    title: 'There is no such checkpoint',
    help: 'GET /admin/v1/checkpoints lists them, each with the size of its tree.',
  },
  'checkpoint.no-key': {
    kind: 'not-implemented',
    title: 'This node does not sign',
    help: 'The operator has set no signing key, which read models on MongoDB need: see SERVICE_SIGNING_KEY.',
  },
  'log.changed': {
    kind: 'conflict',
    title: 'The log is not what was written',
    help: 'An event is not what its hash or a checkpoint says, so that nothing is proved or signed over it. `keyledger verify` says which, and what else. Restore a backup that verifies.',
  },
  'projection.unknown': {
    kind: 'missing',
    title: 'There is no such read model',
    help: 'GET /admin/v1/projections lists them.',
  },
  'service.busy': {
    kind: 'unavailable',
    title: 'The service is busy',
    help: 'Nothing was changed. Wait as long as `Retry-After` says and try again.',
  },
  'service.unavailable': {
    kind: 'unavailable',
    title: 'A store is not available',
    help: 'Whether the change happened may be unknown: after `Retry-After`, read before you write again.',
  },
  'service.internal': {
    kind: 'internal',
    title: 'Something went wrong in the service',
    help: 'Give the operator the request id in `instance`: the log says what happened.',
  },
} as const satisfies { readonly [code: string]: Refusal };

/** A code a client can meet. */
export type RefusalCode = keyof typeof refusals;
