import { isIP, isIPv6 } from "node:net";
import type { JsonObject } from "../json.ts";
import { pairsAt } from "../json-fields.ts";
import { nameFaults } from "../registry/name-faults.ts";
import type { Faults } from "./faults.ts";

/*
 * The forms of names, keys and addresses. Each function returns what is wrong, in the real server's
 * words; nothing if all is well.
 */

const qualifiedPart = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const configKey = /^[-._a-zA-Z0-9]+$/;
const environmentName = /^[-._a-zA-Z][-._a-zA-Z0-9]*$/;
const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;
const percent = /^[0-9]+%$/;
const httpHeader = /^[-A-Za-z0-9]+$/;
const pathChars = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;
const wildcardSubdomain = /^\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

export const dnsLabel = (name: string): string[] => nameFaults(name, "label");
export const dnsSubdomain = (name: string): string[] => nameFaults(name, "subdomain");
export const dnsLabel1035 = (name: string): string[] => nameFaults(name, "label1035");
export const pathSegment = (name: string): string[] => nameFaults(name, "path");

export function qualifiedName(name: string): string[] {
  const parts = name.split("/");
  if (parts.length > 2) {
    return [
      "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
    ];
  }
  const faults: string[] = [];
  const part = parts[parts.length - 1] as string;
  if (parts.length === 2) {
    const prefix = parts[0] as string;
    if (prefix === "") faults.push("prefix part must be non-empty");
    else faults.push(...dnsSubdomain(prefix).map((why) => `prefix part ${why}`));
  }
  if (part === "") faults.push("name part must be non-empty");
  else if (part.length > 63) faults.push("name part must be no more than 63 bytes");
  if (!qualifiedPart.test(part)) {
    faults.push(
      "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    );
  }
  return faults;
}

export function labelText(value: string): string[] {
  const faults: string[] = [];
  if (value.length > 63) faults.push("must be no more than 63 bytes");
  if (!labelValue.test(value)) {
    faults.push(
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    );
  }
  return faults;
}

/** Keys of ConfigMaps and Secrets. */
export function dataKey(key: string): string[] {
  const faults: string[] = [];
  if (key.length > 253) faults.push("must be no more than 253 characters");
  if (!configKey.test(key)) {
    faults.push(
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    );
  }
  return [...faults, ...dotFaults(key)];
}

/** Names of environment variables. What Linux allows is allowed, except an equals sign. */
export function environmentVariable(name: string): string[] {
  const faults: string[] = [];
  if (!/^[ -<>-~]+$/.test(name)) {
    faults.push(
      "a valid environment variable name must consist only of printable ASCII characters other than '='",
    );
  }
  return faults;
}

/** The stricter form that prefixes of `envFrom` had before. */
export function strictEnvironmentVariable(name: string): string[] {
  const faults: string[] = [];
  if (!environmentName.test(name)) {
    faults.push(
      "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')",
    );
  }
  return [...faults, ...dotFaults(name)];
}

function dotFaults(name: string): string[] {
  if (name === ".") return ["must not be '.'"];
  if (name === "..") return ["must not be '..'"];
  return name.startsWith("..") ? ["must not start with '..'"] : [];
}

export function cIdentifier(name: string): string[] {
  return identifier.test(name)
    ? []
    : [
        "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')",
      ];
}

/** Names of ports. */
export function portName(name: string): string[] {
  const faults: string[] = [];
  if (name.length > 15) faults.push("must be no more than 15 characters");
  if (!/^[-a-z0-9]+$/.test(name))
    faults.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (!/[a-z]/.test(name)) faults.push("must contain at least one letter (a-z)");
  if (name.includes("--")) faults.push("must not contain consecutive hyphens");
  if (name.startsWith("-") || name.endsWith("-")) faults.push("must not begin or end with a hyphen");
  return faults;
}

export function portNumber(port: number): string[] {
  return port >= 1 && port <= 65535 ? [] : ["must be between 1 and 65535, inclusive"];
}

export function percentage(value: string): string[] {
  return percent.test(value)
    ? []
    : [
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
      ];
}

export function headerName(name: string): string[] {
  return httpHeader.test(name)
    ? []
    : [
        "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
      ];
}

export function wildcardHost(host: string): string[] {
  const faults: string[] = [];
  if (host.length > 253) faults.push("must be no more than 253 bytes");
  if (!wildcardSubdomain.test(host)) {
    faults.push(
      "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    );
  }
  return faults;
}

/** `acme.io/foo`: a subdomain, a slash and a path. */
export function domainPrefixedPath(faults: Faults, at: string, value: string): void {
  if (value === "") {
    faults.required(at);
    return;
  }
  const slash = value.indexOf("/");
  const [domain, path] = [value.slice(0, slash), value.slice(slash + 1)];
  if (slash < 0 || domain === "" || path === "") {
    faults.invalid(at, value, 'must be a domain-prefixed path (such as "acme.io/foo")');
    return;
  }
  for (const why of dnsSubdomain(domain)) faults.invalid(at, domain, why);
  if (!pathChars.test(path)) faults.invalid(at, path, `Invalid path: must match regex ${pathRegex}`);
}

const pathRegex = "^[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+$";

export function fullyQualifiedName(name: string): string[] {
  const faults = dnsSubdomain(name);
  if (faults.length > 0) return faults;
  return name.split(".").length < 3
    ? ["should be a domain with at least three segments separated by dots"]
    : [];
}

export function ipAddress(address: string): string[] {
  return isIP(address) !== 0 && !hasLeadingZeros(address)
    ? []
    : ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"];
}

function hasLeadingZeros(address: string): boolean {
  return !address.includes(":") && /(^|\.)0\d/.test(address);
}

export function ipv4(address: string): boolean {
  return isIP(address) === 4;
}

export function ipv6(address: string): boolean {
  return isIPv6(address);
}

/** What a CIDR covers, or undefined if it is none. */
export function parseCidr(
  text: string,
): { readonly address: bigint; readonly bits: number; readonly version: 4 | 6 } | undefined {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(text);
  if (!match) return undefined;
  const [, address = "", length = ""] = match;
  const version = isIP(address);
  const bits = Number(length);
  if (version === 0 || bits > (version === 4 ? 32 : 128) || hasLeadingZeros(address)) return undefined;
  return { address: addressNumber(address), bits, version: version as 4 | 6 };
}

export function cidr(text: string): string[] {
  return parseCidr(text) ? [] : ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"];
}

/** An address as a number. */
export function addressNumber(address: string): bigint {
  if (!address.includes(":")) {
    return address.split(".").reduce((sum, part) => sum * 256n + BigInt(part), 0n);
  }
  const [plain = ""] = address.split("%");
  const withHex = plain.replace(
    /(?<!\d)(\d+)\.(\d+)\.(\d+)\.(\d+)$/,
    (_all, a: string, b: string, c: string, d: string) => {
      const hex = (high: string, low: string) => (Number(high) * 256 + Number(low)).toString(16);
      return `${hex(a, b)}:${hex(c, d)}`;
    },
  );
  const [head = "", tail] = withHex.split("::");
  const groups = (part: string | undefined) => (part ? part.split(":") : []);
  const [before, after] = [groups(head), groups(tail)];
  const middle =
    tail === undefined ? [] : Array.from({ length: 8 - before.length - after.length }, () => "0");
  return [...before, ...middle, ...after].reduce(
    (sum, part) => sum * 65536n + BigInt(`0x${part || "0"}`),
    0n,
  );
}

/** Labels of an object or of a template. */
export function checkLabels(faults: Faults, at: string, object: JsonObject, name = "labels"): void {
  for (const [key, value] of pairsAt(object, name)) {
    faults.each(at, key, qualifiedName(key));
    faults.each(at, value, labelText(value));
  }
}

/** Annotations: their keys, and what they take in all. */
export function checkAnnotations(faults: Faults, at: string, object: JsonObject): void {
  let size = 0;
  for (const [key, value] of pairsAt(object, "annotations")) {
    faults.each(at, key, qualifiedName(key.toLowerCase()));
    size += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (size > 256 * 1024) faults.tooLong(at, 256 * 1024);
}
