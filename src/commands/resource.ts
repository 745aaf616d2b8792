import { accept, command, refuse, type Fold } from '../core/command.ts';
import type { Fact } from '../core/event.ts';

/** The largest metadata of a resource, as JSON text, in bytes of UTF-8. */
export const metadataBytesMax = 16_384;

/** What of a resource its makers choose; each noun's event says which members there are. */
export type Content = Readonly<Record<string, unknown>>;

type OfTenant = { readonly tenant_id: string; readonly incarnation: string };

/** A resource's life; `revision` is that of its stream. */
type Resource =
  | { readonly status: 'none' | 'deleted' }
  | {
      readonly status: 'alive';
      readonly incarnation: string;
      readonly content: Content;
      readonly revision: number;
    };

/** The revisions one of which a resource must have for the wish to be granted; absent where any will do. */
type Precondition = { readonly if_revision?: readonly number[] | undefined };

/** Asks for a resource; the id is fresh. */
export type CreateResource = OfTenant & { readonly id: string; readonly content: Content };

/** Asks that a resource change by a JSON merge patch (RFC 7396); members that go become what `defaults` says. */
export type ChangeResource = OfTenant &
  Precondition & { readonly id: string; readonly patch: Content; readonly defaults: Content };

/** Asks that a resource end. */
export type DeleteResource = OfTenant & Precondition & { readonly id: string };

type Noun = 'Agent' | 'Thread' | 'Workflow';

type Of<T extends string, D> = T extends string ? { readonly type: T; readonly data: D } : never;

type ResourceFact =
  | Of<`${Noun}Created` | `${Noun}Changed`, OfTenant & { readonly id: string; readonly content: Content }>
  | Of<`${Noun}Deleted`, OfTenant & { readonly id: string }>;

const isObject = (value: unknown): value is Content =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** RFC 7396 §2. */
const merged = (target: unknown, patch: unknown): unknown => {
  if (!isObject(patch)) return patch;
  const result: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  }
  return result;
};

const isTooLarge = ({ metadata }: Content): boolean =>
  Buffer.byteLength(JSON.stringify(metadata)) > metadataBytesMax;

const tooLarge = () =>
  refuse('resource.metadata-too-large', `Must have up to ${metadataBytesMax} bytes as JSON.`, '/metadata');

const changed = (revision: number) =>
  refuse('resource.changed', `It has been changed since: it is at revision ${revision}.`);

const isAt = ({ if_revision }: Precondition, revision: number): boolean =>
  if_revision === undefined || if_revision.includes(revision);

/** The commands of one kind of resource, that `noun` names in its events. */
const resourceCommands = (noun: Noun) => {
  const name = noun.toLowerCase() as Lowercase<Noun>;
  const stream = ({ id }: { id: string }): string => `${name}-${id}`;
  const alive = (state: Resource, { incarnation, content }: OfTenant & { content: Content }): Resource => ({
    status: 'alive',
    incarnation,
    content,
    revision: state.status === 'alive' ? state.revision + 1 : 0,
  });
  const fold = {
    initial: { status: 'none' } as Resource,
    on: {
      [`${noun}Created`]: alive,
      [`${noun}Changed`]: alive,
      [`${noun}Deleted`]: () => ({ status: 'deleted' }),
    },
  } as Fold<Resource, Fact> as Fold<Resource, ResourceFact>;
  const unknown = ({ id, tenant_id }: { id: string; tenant_id: string }) =>
    refuse(`${name}.unknown`, `There is no ${name} ${id} in ${tenant_id}.`);
  return {
    /** Makes one. */
    create: command({
      name: `Create${noun}`,
      stream,
      startsStream: true,
      fold,
      decide: (wish: CreateResource, state) => {
        if (state.status !== 'none') return refuse('resource.exists', 'The generated id is taken.');
        const { id, tenant_id, incarnation, content } = wish;
        if (isTooLarge(content)) return tooLarge();
        return accept({ type: `${noun}Created`, data: { id, tenant_id, incarnation, content } });
      },
    }),
    /** Changes one; a patch that changes nothing is no event. */
    change: command({
      name: `Change${noun}`,
      stream,
      fold,
      decide: (wish: ChangeResource, state) => {
        const { id, tenant_id, incarnation, patch, defaults } = wish;
        if (state.status !== 'alive' || state.incarnation !== incarnation) return unknown(wish);
        if (!isAt(wish, state.revision)) return changed(state.revision);
        const content = { ...defaults, ...(merged(state.content, patch) as Content) };
        if (isTooLarge(content)) return tooLarge();
        // Members keep their places, so that equal contents are equal texts.
        if (JSON.stringify(content) === JSON.stringify({ ...defaults, ...state.content })) return accept();
        return accept({
          type: `${noun}Changed`,
          data: { id, tenant_id, incarnation, content },
        });
      },
    }),
    /** Ends one. */
    delete: command({
      name: `Delete${noun}`,
      stream,
      fold,
      decide: (wish: DeleteResource, state) => {
        const { id, tenant_id, incarnation } = wish;
        if (state.status !== 'alive' || state.incarnation !== incarnation) return unknown(wish);
        if (!isAt(wish, state.revision)) return changed(state.revision);
        return accept({ type: `${noun}Deleted`, data: { id, tenant_id, incarnation } });
      },
    }),
  };
};

/** The commands of one kind of resource. */
export type ResourceCommands = ReturnType<typeof resourceCommands>;

export const agentCommands = resourceCommands('Agent');
export const threadCommands = resourceCommands('Thread');
export const workflowCommands = resourceCommands('Workflow');
