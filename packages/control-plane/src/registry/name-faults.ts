import { isIP, isIPv4 } from "node:net";

/**
 * What a name may be: a DNS subdomain, a DNS label, an RFC 1035 label, an IP address, or anything
 * that fits in a path.
 */
export type NameForm = "subdomain" | "label" | "label1035" | "address" | "path" | "any";

const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

const dnsLabel1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

export const dnsSubdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

export const subdomainWords =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const labelWords =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

const label1035Words =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/** What is wrong with a name, in the real server's words; empty if nothing. */
export function nameFaults(name: string, form: NameForm = "subdomain"): string[] {
  switch (form) {
    case "any":
      return [];
    case "path":
      if (name === "." || name === "..") return [`may not be '${name}'`];
      return [
        ...(name.includes("/") ? ["may not contain '/'"] : []),
        ...(name.includes("%") ? ["may not contain '%'"] : []),
      ];
    case "address":
      return addressFaults(name);
    case "label":
      return [
        ...(name.length > 63 ? ["must be no more than 63 bytes"] : []),
        ...(dnsLabel.test(name) ? [] : [dnsSubdomain.test(name) ? "must not contain dots" : labelWords]),
      ];
    case "label1035":
      return [
        ...(name.length > 63 ? ["must be no more than 63 bytes"] : []),
        ...(dnsLabel1035.test(name) ? [] : [label1035Words]),
      ];
    case "subdomain":
      return [
        ...(name.length > 253 ? ["must be no more than 253 characters"] : []),
        ...(dnsSubdomain.test(name) ? [] : [subdomainWords]),
      ];
  }
}

function addressFaults(name: string): string[] {
  if (!name.includes(":") && /^(\d{1,3}\.){3}\d{1,3}$/.test(name) && /(^|\.)0\d/.test(name)) {
    return ["must not have leading 0s"];
  }
  if (isIP(name) === 0 || name.includes("%")) {
    return ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"];
  }
  if (isIPv4(name)) return [];
  // URLs have the one canonical form of RFC 5952.
  const canonical = new URL(`http://[${name}]`).hostname.slice(1, -1);
  if (canonical.startsWith("::ffff:")) return ["must not be an IPv4-mapped IPv6 address"];
  return canonical === name ? [] : [`must be in canonical form ("${canonical}")`];
}
