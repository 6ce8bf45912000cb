import { readFile } from "node:fs/promises";
import { isIPv6, type Socket } from "node:net";
import { endianness } from "node:os";

/**
 * What Linux reports of the connections of this process's network, as text. Other systems have
 * none, and what cannot be read now is at the next look.
 */
export async function kernelTables(): Promise<readonly string[]> {
  const tables = ["/proc/net/tcp", "/proc/net/tcp6"].map((file) => readFile(file, "latin1").catch(() => ""));
  return (await Promise.all(tables)).filter((text) => text !== "");
}

/** Names a connection of this process's network by its ends. */
export function connectionName({
  localPort,
  remoteAddress,
  remotePort,
}: Pick<Socket, "localPort" | "remoteAddress" | "remotePort">): string {
  return `${localPort} ${canonical(remoteAddress ?? "")} ${remotePort}`;
}

/** The same name, from what the kernel prints. */
export function printedName(localPort: string, address: string, remotePort: string): string {
  return connectionName({
    localPort: Number.parseInt(localPort, 16),
    remoteAddress: addressOf(address),
    remotePort: Number.parseInt(remotePort, 16),
  });
}

/** The kernel prints addresses as numbers of 32 bits in the order of the machine. */
function addressOf(printed: string): string {
  const bytes = Buffer.from(printed, "hex");
  if (endianness() === "LE") bytes.swap32();
  if (bytes.length === 4) return bytes.join(".");
  return bytes.toString("hex").replaceAll(/(.{4})(?!$)/g, "$1:");
}

/** An address of IPv6 can be written in many ways, and have a zone that the kernel leaves out. */
function canonical(address: string): string {
  return isIPv6(address) ? new URL(`http://[${address.replace(/%.*$/, "")}]`).hostname : address;
}
