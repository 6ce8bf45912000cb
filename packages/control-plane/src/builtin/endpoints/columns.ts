import type { EndpointSlice, Endpoints } from "@windlass/kinds/builtin";
import type { Json } from "../../json.ts";
import { countAt, itemsAt, lengthAt, shown, textAt, textsAt } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function endpointSliceCells(of: EndpointSlice, now: number): Json[] {
  const ports = itemsAt(of, "ports").map((port) => shown(shown("*", port, "name"), port, "port"));
  const addresses = itemsAt(of, "endpoints").flatMap((endpoint) => textsAt(endpoint, "addresses"));
  return [
    name(of),
    textAt(of, "addressType"),
    withMore(ports) || "<unset>",
    withMore(addresses) || "<unset>",
    age(of, now),
  ];
}

export function endpointsCells(of: Endpoints, now: number): Json[] {
  const pairs = itemsAt(of, "subsets").flatMap((subset) => {
    const addresses = itemsAt(subset, "addresses").map((address) => textAt(address, "ip"));
    const ports = itemsAt(subset, "ports");
    if (ports.length === 0) return addresses;
    return ports.flatMap((port) => addresses.map((ip) => hostPort(ip, countAt(port, "port"))));
  });
  return [name(of), lengthAt(of, "subsets") === 0 ? "<none>" : withMore(pairs), age(of, now)];
}

function hostPort(ip: string, port: number): string {
  return ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
}

function withMore(values: readonly string[]): string {
  const most = 3;
  const shownValues = values.slice(0, most).join(",");
  return values.length > most ? `${shownValues} + ${values.length - most} more...` : shownValues;
}
