import type { ComponentChildren, JSX } from 'preact';
import type { Role } from '../../schemas.ts';
import { Layout, type NavItem, type Notice } from '../layout.tsx';
import { keep, MomentBar, type Moment } from './moment.tsx';

/** Where something is in the operator console; each part of the path is escaped. */
export const consolePath = (...parts: readonly string[]): string =>
  ['/console', ...parts.map(encodeURIComponent)].join('/');

/** Where something of a tenant is in the operator console. */
export const tenantPath = (tenant: string, ...parts: readonly string[]): string =>
  consolePath('tenants', tenant, ...parts);

/** An address with a query of what is said in it; what is not said, or is empty, is left out. */
export const withQuery = (path: string, query: Readonly<Record<string, string | undefined>>): string => {
  const said = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  // A space as `+` is no part of an address that a sign-in leads back to.
  const text = new URLSearchParams(said).toString().replaceAll('+', '%20');
  return text === '' ? path : `${path}?${text}`;
};

/** What people call the roles. */
export const roleLabels: Readonly<Record<Role, string>> = {
  reader: 'Reader',
  writer: 'Writer',
  admin: 'Admin',
};

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** A length of time in the largest unit that says it in whole numbers: “1 hour”, “90 minutes”. */
export const durationText = (secs: number): string => {
  const [unit, length] = units.find(([, size]) => secs >= size && secs % size === 0) ?? ['second', 1];
  const count = secs / length;
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
};

/** A page of the console that is about no tenant alone. */
export const ConsolePage = (props: {
  readonly title: string;
  readonly current: NavItem;
  readonly notice?: Notice | undefined;
  /** As of when the page is; absent where it can't be asked for as of another moment. */
  readonly moment?: Moment | undefined;
  readonly children?: ComponentChildren;
}): JSX.Element => (
  <Layout
    title={props.title}
    who={{ kind: 'operator', asOf: props.moment?.asOf }}
    current={props.current}
    notice={props.notice}
  >
    {props.moment && <MomentBar moment={props.moment} />}
    {props.children}
  </Layout>
);

const sections = [
  ['overview', 'Overview'],
  ['users', 'Users'],
  ['service-accounts', 'Service accounts'],
  ['credentials', 'Credentials'],
  ['api-keys', 'API keys'],
  ['access', 'Access'],
  ['activity', 'Activity'],
] as const;

/** The pages of a tenant. */
export type Section = (typeof sections)[number][0];

const sectionPath = (tenant: string, section: Section): string =>
  section === 'overview' ? tenantPath(tenant) : tenantPath(tenant, section);

/** What is still known of a tenant that is no more. */
const kept: readonly Section[] = ['access', 'activity'];

const Sections = (props: {
  readonly tenant: string;
  readonly current: Section;
  readonly gone: boolean;
  readonly moment: Moment | undefined;
}): JSX.Element => (
  <nav class="sections" aria-label={`Tenant ${props.tenant}`}>
    <ul>
      {sections
        .filter(([section]) => !props.gone || kept.includes(section))
        .map(([section, text]) => (
          <li>
            <a
              href={keep(sectionPath(props.tenant, section), props.moment)}
              aria-current={section === props.current ? 'page' : undefined}
            >
              {text}
            </a>
          </li>
        ))}
    </ul>
  </nav>
);

/** A page about one tenant: which one, and the way to the others about it, stand above everything else. */
export const TenantPage = (props: {
  readonly tenant: string;
  /** Of the page alone; the tenant's id is added. */
  readonly title: string;
  readonly section: Section;
  readonly notice?: Notice | undefined;
  /** The tenant is no more, so that its past alone can be seen. */
  readonly gone?: boolean | undefined;
  /** As of when the page is; absent where it can't be asked for as of another moment. */
  readonly moment?: Moment | undefined;
  readonly children?: ComponentChildren;
}): JSX.Element => (
  <ConsolePage
    title={`${props.title} · ${props.tenant}`}
    current="tenants"
    notice={props.notice}
    moment={props.moment}
  >
    <div class="of-tenant">
      <p>
        <a href={keep(consolePath(), props.moment)}>Tenants</a>
        <span aria-hidden="true"> / </span>
        <strong>{props.tenant}</strong>
      </p>
      <Sections
        tenant={props.tenant}
        current={props.section}
        gone={props.gone === true}
        moment={props.moment}
      />
    </div>
    {props.children}
  </ConsolePage>
);
