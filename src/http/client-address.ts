import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import proxyAddr from 'proxy-addr';

/** The most proxies that a request may have come by; what stands left of them in `X-Forwarded-For` is not looked at. */
const proxiesMax = 32;

/** Where the client of a request is: an IP address, or null where its connection has ended already. */
export type ClientAddress = (request: IncomingMessage) => string | null;

/** No zone (`fe80::1%eth0`, RFC 4007 §11), which is text of any kind, and none of the old forms (`127.1`). */
const isAddress = (text: string): boolean => isIP(text) !== 0 && !text.includes('%');

/**
 * The client's address: the right-most in `X-Forwarded-For` that is not a trusted proxy's, where the connection
 * comes from one, else the connection's own. Also the connection's own where what stands there is no IP address.
 * `trusted` holds addresses, CIDR blocks and the names that `proxy-addr` knows; throws on anything else.
 */
export const createClientAddress = (trusted: readonly string[]): ClientAddress => {
  if (trusted.length === 0) return ({ socket }) => socket.remoteAddress ?? null;
  const isTrusted = proxyAddr.compile([...trusted]);
  const trust = (address: string, hop: number): boolean =>
    hop < proxiesMax && isAddress(address) && isTrusted(address, hop);
  return (request) => {
    const own = request.socket.remoteAddress;
    if (own === undefined) return null;
    // Most connections of a trusted proxy bring the header; a stranger's header is not even cut into its parts.
    if (request.headers['x-forwarded-for'] === undefined || !trust(own, 0)) return own;
    const address = proxyAddr(request, trust);
    return isAddress(address) ? address : own;
  };
};

/** The eight groups of an IPv6 address, each in hexadecimal without leading zeros. */
const groupsOf = (address: string): readonly string[] => {
  // A URL's host has one form for each address, which is short (RFC 5952) and without dots.
  const { hostname } = new URL(`http://[${address.split('%', 1)[0]}]/`);
  const [front = [], back = []] = hostname
    .slice(1, -1)
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: 8 - front.length - back.length }, () => '0');
  return [...front, ...zeros, ...back];
};

/**
 * What one client can be taken for, as text: an IPv4 address, or the /64 of an IPv6 address, for whoever has one
 * address of it has all (RFC 6177). Anything else stays as it is.
 */
export const networkOf = (address: string): string => {
  if (isIP(address) !== 6) return address;
  const groups = groupsOf(address);
  if (groups.slice(0, 6).join(':') !== '0:0:0:0:0:ffff') return `${groups.slice(0, 4).join(':')}::/64`;
  // An IPv4 address, as a socket that takes both kinds tells it (RFC 4291 §2.5.5.2).
  const bytes = groups.slice(6).flatMap((group) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 255]);
  return bytes.join('.');
};

/**
 * Whether the client reached the service over TLS, as far as it or its proxy says so. Believed from anybody, for it
 * decides over nothing but whether that client's own cookies are `Secure`.
 */
export const isSecure = ({ socket, headers }: IncomingMessage): boolean => {
  if ((socket as Partial<TLSSocket>).encrypted === true) return true;
  const sent = headers['x-forwarded-proto'];
  const [first = ''] = typeof sent === 'string' ? sent.split(',', 1) : [];
  return first.trim().toLowerCase() === 'https';
};
