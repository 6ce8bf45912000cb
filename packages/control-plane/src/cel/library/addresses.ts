import { isIPv4, isIPv6 } from "node:net";
import { fn, method, type Overload, SCAN } from "../functions.ts";
import { BOOL, INT, opaque, STRING } from "../types.ts";
import { CelError, Opaque } from "../values.ts";

const IP = opaque("net.IP");
const CIDR = opaque("net.CIDR");

/** An IP address: its family and its bits. */
export class Address extends Opaque {
  readonly typeName = "net.IP";
  readonly family: 4 | 6;
  readonly bits: bigint;

  constructor(family: 4 | 6, bits: bigint) {
    super();
    this.family = family;
    this.bits = bits;
  }

  equals(other: Opaque): boolean {
    return other instanceof Address && other.family === this.family && other.bits === this.bits;
  }

  override toString(): string {
    if (this.family === 4) {
      return [24n, 16n, 8n, 0n].map((shift) => String((this.bits >> shift) & 255n)).join(".");
    }
    const groups = Array.from({ length: 8 }, (_, index) => (this.bits >> BigInt(112 - 16 * index)) & 0xffffn);
    return compressed(groups.map((group) => group.toString(16)));
  }
}

/** The longest run of zero groups, if there is one of at least two, becomes `::`. */
function compressed(groups: readonly string[]): string {
  let best = { at: -1, length: 1 };
  for (let at = 0; at < groups.length; at++) {
    let length = 0;
    while (groups[at + length] === "0") length++;
    if (length > best.length) best = { at, length };
    at += length;
  }
  if (best.at < 0) return groups.join(":");
  return `${groups.slice(0, best.at).join(":")}::${groups.slice(best.at + best.length).join(":")}`;
}

/** A network: an address and the length of its prefix. */
export class Network extends Opaque {
  readonly typeName = "net.CIDR";
  readonly address: Address;
  readonly prefix: number;

  constructor(address: Address, prefix: number) {
    super();
    this.address = address;
    this.prefix = prefix;
  }

  get masked(): Network {
    const width = this.address.family === 4 ? 32 : 128;
    const shift = BigInt(width - this.prefix);
    return new Network(new Address(this.address.family, (this.address.bits >> shift) << shift), this.prefix);
  }

  contains(address: Address): boolean {
    if (address.family !== this.address.family) return false;
    const shift = BigInt((address.family === 4 ? 32 : 128) - this.prefix);
    return address.bits >> shift === this.address.bits >> shift;
  }

  equals(other: Opaque): boolean {
    return other instanceof Network && other.prefix === this.prefix && other.address.equals(this.address);
  }

  override toString(): string {
    return `${this.address.toString()}/${this.prefix}`;
  }
}

/** Reads an address. IPv4-mapped IPv6 and zones are refused, as the API server refuses them. */
export function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) {
    return new Address(
      4,
      text.split(".").reduce((bits, part) => (bits << 8n) | BigInt(part), 0n),
    );
  }
  if (!isIPv6(text) || text.includes("%")) return undefined;
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  let groups = text;
  if (dotted !== null) {
    const low = parseAddress(dotted[2] as string);
    if (low === undefined) return undefined;
    groups = `${dotted[1]}${(low.bits >> 16n).toString(16)}:${(low.bits & 0xffffn).toString(16)}`;
  }
  const [head = "", tail] = groups.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - before.length - after.length }, () => "0");
  const bits = [...before, ...zeros, ...after].reduce(
    (all, group) => (all << 16n) | BigInt(`0x${group}`),
    0n,
  );
  return bits >> 32n === 0xffffn ? undefined : new Address(6, bits);
}

function parseNetwork(text: string): Network | undefined {
  const match = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text);
  const address = match === null ? undefined : parseAddress(match[1] as string);
  if (match === null || address === undefined) return undefined;
  const prefix = Number(match[2]);
  return prefix > (address.family === 4 ? 32 : 128) ? undefined : new Network(address, prefix);
}

function address(text: string): Address {
  const parsed = parseAddress(text);
  if (parsed !== undefined) return parsed;
  if (isIPv6(text) && !text.includes("%")) {
    throw new CelError(`IPv4-mapped IPv6 address "${text}" is not allowed`);
  }
  if (text.includes("%")) throw new CelError(`IP address "${text}" with zone value is not allowed`);
  throw new CelError(
    `IP Address "${text}" parse error during conversion from string: ParseAddr("${text}"): unable to parse IP`,
  );
}

function network(text: string): Network {
  const parsed = parseNetwork(text);
  if (parsed === undefined) {
    throw new CelError(
      `network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("${text}"): no '/'`,
    );
  }
  return parsed;
}

const within = (value: Address, cidr: string): boolean => network(cidr).contains(value);

function isUnspecified(value: Address): boolean {
  return value.bits === 0n;
}

function isLoopback(value: Address): boolean {
  return value.family === 4 ? within(value, "127.0.0.0/8") : value.bits === 1n;
}

function isLinkLocalMulticast(value: Address): boolean {
  return value.family === 4
    ? within(value, "224.0.0.0/24")
    : value.bits >> 120n === 0xffn && ((value.bits >> 112n) & 0xfn) === 2n;
}

function isLinkLocalUnicast(value: Address): boolean {
  return within(value, value.family === 4 ? "169.254.0.0/16" : "fe80::/10");
}

function isMulticast(value: Address): boolean {
  return within(value, value.family === 4 ? "224.0.0.0/4" : "ff00::/8");
}

function isGlobalUnicast(value: Address): boolean {
  const broadcast = value.family === 4 && value.bits === 0xffffffffn;
  return (
    !broadcast &&
    !isUnspecified(value) &&
    !isLoopback(value) &&
    !isMulticast(value) &&
    !isLinkLocalUnicast(value)
  );
}

function containsNetwork(outer: Network, inner: Network): boolean {
  return inner.prefix >= outer.prefix && outer.contains(inner.address);
}

export const ADDRESSES: readonly Overload[] = [
  fn("isIP", [STRING], BOOL, (text: string) => parseAddress(text) !== undefined, SCAN),
  fn("ip", [STRING], IP, address, SCAN),
  fn("ip.isCanonical", [STRING], BOOL, (text: string) => address(text).toString() === text, SCAN),
  fn("string", [IP], STRING, (value: Address) => value.toString()),
  method("family", [IP], INT, (value: Address) => BigInt(value.family)),
  method("isUnspecified", [IP], BOOL, isUnspecified),
  method("isLoopback", [IP], BOOL, isLoopback),
  method("isLinkLocalMulticast", [IP], BOOL, isLinkLocalMulticast),
  method("isLinkLocalUnicast", [IP], BOOL, isLinkLocalUnicast),
  method("isGlobalUnicast", [IP], BOOL, isGlobalUnicast),
  fn("isCIDR", [STRING], BOOL, (text: string) => parseNetwork(text) !== undefined, SCAN),
  fn("cidr", [STRING], CIDR, network, SCAN),
  fn("string", [CIDR], STRING, (value: Network) => value.toString()),
  method(
    "containsIP",
    [CIDR, STRING],
    BOOL,
    (value: Network, text: string) => value.contains(address(text)),
    SCAN,
  ),
  method("containsIP", [CIDR, IP], BOOL, (value: Network, inner: Address) => value.contains(inner)),
  method(
    "containsCIDR",
    [CIDR, STRING],
    BOOL,
    (value: Network, text: string) => containsNetwork(value, network(text)),
    SCAN,
  ),
  method("containsCIDR", [CIDR, CIDR], BOOL, containsNetwork),
  method("ip", [CIDR], IP, (value: Network) => value.address),
  method("masked", [CIDR], CIDR, (value: Network) => value.masked),
  method("prefixLength", [CIDR], INT, (value: Network) => BigInt(value.prefix)),
];
