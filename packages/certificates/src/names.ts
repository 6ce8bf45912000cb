import { SocketAddress } from "node:net";
import { CertificateError } from "./errors.ts";
import type { AlternativeName } from "./x509.ts";

const dnsLabel = /^[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/;

/** A DNS name, a wildcard in its first label allowed, as a certificate can hold it. */
export function dnsName(name: string): AlternativeName {
  const labels = name.split(".");
  if (labels[0] === "*" && labels.length > 1) labels.shift();
  if (name.length > 253 || !labels.every((label) => dnsLabel.test(label))) {
    throw new CertificateError(
      "INVALID_NAME",
      `dnsNames: ${JSON.stringify(name)} is not a DNS name: give labels of letters, digits and "-", joined by dots`,
    );
  }
  return { type: "dns", value: name };
}

/** An IPv4 or IPv6 address as a certificate holds it: 4 or 16 octets. */
export function ipAddress(address: string): AlternativeName {
  const family = address.includes(":") ? "ipv6" : "ipv4";
  try {
    // Native, where isIP would first compile an expression for milliseconds. What it returns is
    // the shortest form.
    const { address: parsed } = new SocketAddress({ address, family });
    if (address.includes("%")) throw new RangeError("an address with a zone");
    return { type: "ip", value: family === "ipv4" ? ipv4(parsed) : ipv6(parsed) };
  } catch (cause) {
    throw new CertificateError(
      "INVALID_NAME",
      `ipAddresses: ${JSON.stringify(address)} is not an IP address: give one such as 127.0.0.1 or ::1`,
      { cause },
    );
  }
}

/** An absolute URI of printable ASCII, such as a SPIFFE id. */
export function uri(text: string): AlternativeName {
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:[!-~]+$/.test(text)) {
    throw new CertificateError(
      "INVALID_NAME",
      `uris: ${JSON.stringify(text)} is not an absolute URI in printable ASCII`,
    );
  }
  return { type: "uri", value: text };
}

function ipv4(address: string): Uint8Array {
  return Uint8Array.from(address.split("."), Number);
}

function ipv6(address: string): Uint8Array {
  const [head = "", tail] = address.split("::");
  const start = groups(head);
  const end = tail === undefined ? [] : groups(tail);
  return Uint8Array.from([...start, ...Array<number>(16 - start.length - end.length).fill(0), ...end]);
}

/** The octets of one side of `::`; its last group may be an IPv4 address. */
function groups(side: string): number[] {
  if (side === "") return [];
  return side.split(":").flatMap((group) => {
    if (group.includes(".")) return [...ipv4(group)];
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}
