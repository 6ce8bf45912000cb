import { type JsonObject, textOf } from "../../json.ts";

const prime = 0x0000000001000000000000000000013bn;
const basis = 0x6c62272e07bb014262b821756295c58dn;
const mask = (1n << 128n) - 1n;

/** FNV-1a with 128 bits. */
function fnv(text: string): bigint {
  let hash = basis;
  for (const byte of Buffer.from(text)) hash = ((hash ^ BigInt(byte)) * prime) & mask;
  return hash;
}

/**
 * Ports as a Service's slices hold them: in the order of a hash of what Go prints of them, which is
 * how the real controllers sort.
 */
export function inSliceOrder(ports: readonly JsonObject[]): JsonObject[] {
  return inHashOrder(
    ports,
    ({ name, protocol, port, appProtocol }) =>
      `(v1.EndpointPort){Name:(*string)${textOf(name)} Protocol:(*v1.Protocol)${textOf(protocol)} Port:(*int32)${textOf(port)} AppProtocol:(*string)${optional(appProtocol)}}`,
  );
}

/** As `inSliceOrder`, for Endpoints, whose ports Go prints in another way. */
export function inEndpointsOrder(ports: readonly JsonObject[]): JsonObject[] {
  return inHashOrder(
    ports,
    ({ name, protocol, port, appProtocol }) =>
      `(v1.EndpointPort){Name:(string)${textOf(name)} Port:(int32)${textOf(port)} Protocol:(v1.Protocol)${textOf(protocol)} AppProtocol:(*string)${optional(appProtocol)}}`,
  );
}

function optional(value: JsonObject[string] | undefined): string {
  return value === undefined ? "<nil>" : textOf(value);
}

function inHashOrder(ports: readonly JsonObject[], printed: (port: JsonObject) => string): JsonObject[] {
  if (ports.length < 2) return [...ports];
  return ports
    .map((port) => ({ port, hash: fnv(printed(port)) }))
    .sort((a, b) => (a.hash < b.hash ? -1 : 1))
    .map(({ port }) => port);
}
