import type { Json, JsonObject } from "../../json.ts";
import { list, number, shown, text, texts } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function endpointSliceCells(of: JsonObject, now: number): Json[] {
  const ports = list(of, "ports").map((port) => shown(shown("*", port, "name"), port, "port"));
  const addresses = list(of, "endpoints").flatMap((endpoint) => texts(endpoint, "addresses"));
  return [
    name(of),
    text(of, "addressType"),
    withMore(ports) || "<unset>",
    withMore(addresses) || "<unset>",
    age(of, now),
  ];
}

export function endpointsCells(of: JsonObject, now: number): Json[] {
  const pairs = list(of, "subsets").flatMap((subset) => {
    const addresses = list(subset, "addresses").map((address) => text(address, "ip"));
    const ports = list(subset, "ports");
    if (ports.length === 0) return addresses;
    return ports.flatMap((port) => addresses.map((ip) => hostPort(ip, number(port, "port"))));
  });
  return [name(of), list(of, "subsets").length === 0 ? "<none>" : withMore(pairs), age(of, now)];
}

function hostPort(ip: string, port: number): string {
  return ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
}

function withMore(values: readonly string[]): string {
  const most = 3;
  const shownValues = values.slice(0, most).join(",");
  return values.length > most ? `${shownValues} + ${values.length - most} more...` : shownValues;
}
