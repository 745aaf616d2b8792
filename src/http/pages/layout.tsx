import type { ComponentChildren, JSX } from 'preact';
import type { Role } from '../schemas.ts';
import { assetUrls } from './assets.ts';

/** A user who is signed in to a workspace. `workspace` is its id. */
export type SignedInUser = {
  readonly kind: 'user';
  readonly workspace: string;
  readonly username: string;
  readonly role: Role;
};

/** For whom a page is made; the operator has no workspace and no name, and may look at the past (`asOf`). */
export type Who = SignedInUser | { readonly kind: 'operator'; readonly asOf?: string | undefined };

/** What the page before this one has done, said once. */
export type Notice = { readonly kind: 'success' | 'error'; readonly text: string };

/** Where something of a workspace is in the web interface; each part of the path is escaped. */
export const workspacePath = (workspace: string, ...parts: readonly string[]): string =>
  ['/w', ...[workspace, ...parts].map(encodeURIComponent)].join('/');

/** The items of navigation: the name is what `current` of the layout is compared with. */
export type NavItem =
  | 'home'
  | 'agents'
  | 'threads'
  | 'workflows'
  | 'api-keys'
  | 'tenants'
  | 'service-accounts'
  | 'events'
  | 'apidoc';

type Link = { readonly item: NavItem; readonly href: string; readonly text: string };

const consoleLinks = (asOf: string | undefined): readonly Link[] => {
  const then = asOf === undefined ? '' : `?as_of=${encodeURIComponent(asOf)}`;
  return [
    { item: 'tenants', href: `/console${then}`, text: 'Tenants' },
    { item: 'service-accounts', href: `/console/service-accounts${then}`, text: 'Service accounts' },
    { item: 'events', href: '/console/events', text: 'Audit' },
    { item: 'apidoc', href: '/apidoc', text: 'API reference' },
  ];
};

const linksOf = (who: Who): readonly Link[] =>
  who.kind === 'user'
    ? [
        { item: 'home', href: workspacePath(who.workspace), text: 'Home' },
        { item: 'agents', href: workspacePath(who.workspace, 'agents'), text: 'Agents' },
        { item: 'threads', href: workspacePath(who.workspace, 'threads'), text: 'Threads' },
        { item: 'workflows', href: workspacePath(who.workspace, 'workflows'), text: 'Workflows' },
        { item: 'api-keys', href: workspacePath(who.workspace, 'api-keys'), text: 'API Keys' },
      ]
    : consoleLinks(who.asOf);

const homeOf = (who: Who): string => (who.kind === 'user' ? workspacePath(who.workspace) : '/console');

/** As a `data:` URL, so that a browser asks for no `/favicon.ico` that there is not. */
const icon = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect width="24" height="24" rx="6" fill="#4150c9"/>' +
    '<path d="M8 6v12M8 13l8-7M11 11l5 7" stroke="#fff" stroke-width="2.4" fill="none" stroke-linecap="round"/></svg>',
)}`;

const Mark = (): JSX.Element => (
  <svg class="mark" viewBox="0 0 24 24" width="28" height="28" aria-hidden="true" focusable="false">
    <rect width="24" height="24" rx="6" />
    <path d="M8 6v12M8 13l8-7M11 11l5 7" />
  </svg>
);

/** Opens and closes without a script, which only adds Escape and a click outside. */
const UserMenu = ({ who }: { readonly who: Who }): JSX.Element => (
  <details class="menu" data-menu>
    <summary>
      <span class="avatar" aria-hidden="true">
        {who.kind === 'user' ? (who.username[0] ?? '').toUpperCase() : 'O'}
      </span>
      <span class="sr">Account menu of </span>
      <span class="menu-name">{who.kind === 'user' ? who.username : 'Operator'}</span>
    </summary>
    <div class="menu-items">
      <p>
        Signed in as <strong>{who.kind === 'user' ? who.username : 'the operator'}</strong>
        {who.kind === 'user' && (
          <span>
            {who.role} in {who.workspace}
          </span>
        )}
      </p>
      <ul>
        {who.kind === 'user' && (
          <li>
            <a href={workspacePath(who.workspace, 'api-keys')}>API Keys</a>
          </li>
        )}
        <li>
          <a href="/apidoc">API reference</a>
        </li>
        <li>
          <form method="post" action={who.kind === 'user' ? '/sign-out' : '/console/sign-out'}>
            <button type="submit">Sign out</button>
          </form>
        </li>
      </ul>
    </div>
  </details>
);

/** What every page is given; a page of nobody in particular has no `who`. */
export type LayoutProps = {
  /** Of the page alone; the product's name is added. */
  readonly title: string;
  readonly who?: Who | undefined;
  readonly current?: NavItem | undefined;
  readonly notice?: Notice | undefined;
  /** A page that is one small form, in the middle. */
  readonly narrow?: boolean;
  readonly children?: ComponentChildren;
};

const Header = ({ who, current }: Pick<LayoutProps, 'who' | 'current'>): JSX.Element => (
  <header class="top">
    <div class="bar wide">
      <a class="brand" href={who === undefined ? '/' : homeOf(who)}>
        <Mark />
        Keyledger
      </a>
      {who !== undefined && (
        <span class="workspace">
          {who.kind === 'user' && <span class="sr">Workspace </span>}
          {who.kind === 'user' ? who.workspace : 'Operator console'}
        </span>
      )}
      {who !== undefined && <UserMenu who={who} />}
    </div>
    {who !== undefined && (
      <nav class="tabs wide" aria-label={who.kind === 'user' ? 'Workspace' : 'Console'}>
        <ul>
          {linksOf(who).map(({ item, href, text }) => (
            <li>
              <a href={href} aria-current={item === current ? 'page' : undefined}>
                {text}
              </a>
            </li>
          ))}
        </ul>
      </nav>
    )}
  </header>
);

/** The whole document around a page, from `<html>` on. The page brings its own one `<h1>`. */
export const Layout = (props: LayoutProps): JSX.Element => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>{`${props.title} · Keyledger`}</title>
      <link rel="icon" href={icon} />
      {assetUrls.styles.map((url) => (
        <link rel="stylesheet" href={url} />
      ))}
      <script type="module" src={assetUrls.script} />
    </head>
    <body>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <Header who={props.who} current={props.current} />
      <main id="content" tabIndex={-1} class={props.narrow === true ? 'narrow' : 'wide'}>
        {props.notice && (
          <div
            class={`notice ${props.notice.kind}`}
            role={props.notice.kind === 'error' ? 'alert' : 'status'}
          >
            {props.notice.kind === 'error' && <strong>Error: </strong>}
            {props.notice.text}
          </div>
        )}
        {props.children}
      </main>
      <footer class="foot wide">
        <span>Keyledger</span>
        <a href="/apidoc">API reference</a>
        <a href="/problems">Error codes</a>
      </footer>
      <output id="announce" class="sr" />
    </body>
  </html>
);
