import type { Json, JsonObject } from "../../json.ts";
import { countAt, listAt, textAt, textsAt } from "../../json-fields.ts";
import { shown } from "../../table/cells.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function endpointSliceCells(of: JsonObject, now: number): Json[] {
  const ports = listAt(of, "ports").map((port) => shown(shown("*", port, "name"), port, "port"));
  const addresses = listAt(of, "endpoints").flatMap((endpoint) => textsAt(endpoint, "addresses"));
  return [
    name(of),
    textAt(of, "addressType"),
    withMore(ports) || "<unset>",
    withMore(addresses) || "<unset>",
    age(of, now),
  ];
}

export function endpointsCells(of: JsonObject, now: number): Json[] {
  const pairs = listAt(of, "subsets").flatMap((subset) => {
    const addresses = listAt(subset, "addresses").map((address) => textAt(address, "ip"));
    const ports = listAt(subset, "ports");
    if (ports.length === 0) return addresses;
    return ports.flatMap((port) => addresses.map((ip) => hostPort(ip, countAt(port, "port"))));
  });
  return [name(of), listAt(of, "subsets").length === 0 ? "<none>" : withMore(pairs), age(of, now)];
}

function hostPort(ip: string, port: number): string {
  return ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
}

function withMore(values: readonly string[]): string {
  const most = 3;
  const shownValues = values.slice(0, most).join(",");
  return values.length > most ? `${shownValues} + ${values.length - most} more...` : shownValues;
}
