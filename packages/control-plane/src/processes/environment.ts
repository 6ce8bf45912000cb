import type {
  ConfigMap,
  Container,
  EnvFromSource,
  EnvVarSource,
  Pod,
  ResourceFieldSelector,
  Secret,
  Service,
} from "@windlass/kinds/builtin";
import { parseQuantity } from "@windlass/kinds/quantity";
import { textOf } from "../json.ts";
import { namespaceOf, valueAt } from "../json-fields.ts";
import type { Stored } from "../storage/typed.ts";

/** Finds a ConfigMap or Secret of a pod's namespace. */
export interface Finder {
  (bucket: "configmaps", name: string): Stored<ConfigMap> | undefined;
  (bucket: "secrets", name: string): Stored<Secret> | undefined;
}

/** What a container's environment is made of. */
export interface EnvironmentSources {
  readonly pod: Stored<Pod>;
  readonly container: Container;
  /** The pod's addresses are not in its status yet when its first container starts. */
  readonly podAddress: string;
  readonly hostAddress: string;
  /** What the node has of each resource: the limit of those who have none. */
  readonly allocatable: Readonly<Record<string, string>>;
  readonly find: Finder;
  /** The Services of the pod's namespace. */
  readonly services: readonly Stored<Service>[];
  /** Where programs in pods find the API server. */
  readonly apiServer: { readonly host: string; readonly port: string };
  /** What is there before anything the pod says: of the machine, of the image. */
  readonly base: ReadonlyMap<string, string>;
}

/** The variables of a container, as the kubelet makes them. */
export function environmentOf(sources: EnvironmentSources): Map<string, string> {
  const { container, pod, base } = sources;
  const services = serviceVariables(sources);
  const made = new Map<string, string>();
  for (const source of container.envFrom ?? []) {
    const { prefix = "" } = source;
    for (const [name, value] of wholeSource(sources, source)) made.set(`${prefix}${name}`, value);
  }
  const known = (name: string) => made.get(name) ?? services.get(name) ?? base.get(name);
  for (const { name, value: text = "", valueFrom } of container.env ?? []) {
    const value = valueFrom ? foreignValue(sources, valueFrom) : expand(text, (other) => known(other));
    if (value !== undefined) made.set(name, value);
  }
  return new Map([["HOSTNAME", pod.spec.hostname || pod.metadata.name], ...base, ...services, ...made]);
}

/**
 * Puts variables into a text: `$(NAME)`, with `$$` for a dollar sign. What is not known stays as it
 * is.
 */
export function expand(text: string, lookup: (name: string) => string | undefined): string {
  return text.replace(/\$(\$|\(([^)]*)\))/g, (whole, what: string, name: string | undefined) =>
    what === "$" ? "$" : (lookup(name ?? "") ?? whole),
  );
}

function* wholeSource({ find }: EnvironmentSources, source: EnvFromSource): Generator<[string, string]> {
  const map = find("configmaps", source.configMapRef?.name ?? "");
  yield* Object.entries(map?.data ?? {});
  const secret = find("secrets", source.secretRef?.name ?? "");
  for (const [name, value] of Object.entries(secret?.data ?? {})) yield [name, decoded(value)];
}

function decoded(value: string): string {
  return Buffer.from(value, "base64").toString();
}

/**
 * The value that a variable takes from elsewhere; undefined if there is none, which only what is
 * optional may be.
 */
function foreignValue(sources: EnvironmentSources, from: EnvVarSource): string | undefined {
  const { find } = sources;
  const { configMapKeyRef: ofMap, secretKeyRef: ofSecret, fieldRef, resourceFieldRef } = from;
  if (ofMap) return find("configmaps", ofMap.name ?? "")?.data?.[ofMap.key];
  if (ofSecret) {
    const value = find("secrets", ofSecret.name ?? "")?.data?.[ofSecret.key];
    return value === undefined ? undefined : decoded(value);
  }
  if (fieldRef) return podField(sources, fieldRef.fieldPath);
  if (resourceFieldRef) return resourceField(sources, resourceFieldRef);
  return undefined;
}

/** A part of a pod that its own containers may see. */
export function podField(
  { pod, podAddress, hostAddress }: Pick<EnvironmentSources, "pod" | "podAddress" | "hostAddress">,
  path: string,
): string {
  const { labels = {}, annotations = {} } = pod.metadata;
  const [, map, key = ""] = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path) ?? [];
  if (map !== undefined) return (map === "labels" ? labels : annotations)[key] ?? "";
  switch (path) {
    case "metadata.labels":
      return lines(labels);
    case "metadata.annotations":
      return lines(annotations);
    case "status.podIP":
    case "status.podIPs":
      return podAddress;
    case "status.hostIP":
    case "status.hostIPs":
      return hostAddress;
    default:
      return textOf(valueAt(pod, ...path.split(".")));
  }
}

function lines(map: Readonly<Record<string, string>>): string {
  return Object.entries(map)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join("\n");
}

/**
 * How much of a resource a container asked for or may have, in units of the divisor, rounded up.
 */
export function resourceField(
  {
    pod,
    container,
    allocatable,
  }: Pick<EnvironmentSources, "pod" | "allocatable"> & { readonly container?: Container },
  { containerName: named, resource: path, divisor = "" }: ResourceFieldSelector,
): string {
  const of = named
    ? [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].find(({ name }) => name === named)
    : container;
  const [kind = "", resource = ""] = path.split(/\.(.*)/s);
  const own = (kind === "limits" ? of?.resources?.limits : of?.resources?.requests)?.[resource];
  const quantity = own ?? (kind === "limits" ? allocatable[resource] : undefined);
  const nanos = quantity === undefined ? 0n : parseQuantity(quantity).nanos;
  const by = divisor === "" || divisor === "0" ? 1_000_000_000n : parseQuantity(divisor).nanos;
  return String((nanos + by - 1n) / by);
}

/** A port of a Service, as variables speak of it. */
interface PortVariables {
  readonly name?: string;
  readonly port: number | string;
  readonly protocol?: string;
}

/**
 * Where the Services of the namespace are, in the variables that containers have had since before
 * there was DNS.
 */
function serviceVariables({ pod, services, apiServer }: EnvironmentSources): Map<string, string> {
  const made = new Map<string, string>();
  const variable = (name: string) => name.toUpperCase().replaceAll("-", "_");
  const add = (name: string, host: string, ports: readonly PortVariables[]) => {
    const prefix = variable(name);
    const [first] = ports;
    made.set(`${prefix}_SERVICE_HOST`, host);
    made.set(`${prefix}_SERVICE_PORT`, String(first?.port ?? ""));
    for (const { name: named, port } of ports) {
      if (named) made.set(`${prefix}_SERVICE_PORT_${variable(named)}`, String(port));
    }
    for (const [index, { port, protocol }] of ports.entries()) {
      const scheme = (protocol || "TCP").toLowerCase();
      const url = `${scheme}://${host}:${port}`;
      const each = `${prefix}_PORT_${port}_${scheme.toUpperCase()}`;
      if (index === 0) made.set(`${prefix}_PORT`, url);
      made.set(each, url);
      made.set(`${each}_PROTO`, scheme);
      made.set(`${each}_PORT`, String(port));
      made.set(`${each}_ADDR`, host);
    }
  };
  for (const service of services) {
    const { clusterIP: host = "", ports = [] } = service.spec ?? {};
    if (host === "" || host === "None" || pod.spec.enableServiceLinks === false) continue;
    if (namespaceOf(service) === "default" && service.metadata.name === "kubernetes") continue;
    add(service.metadata.name, host, ports);
  }
  add("kubernetes", apiServer.host, [{ name: "https", port: apiServer.port, protocol: "TCP" }]);
  return made;
}
