import { listAt, mapAt, namespaceOf } from "../controllers/objects.ts";
import { isObject, type Json, type JsonObject, textOf } from "../json.ts";
import { parseQuantity } from "../kinds/index.ts";
import { field, type StoredObject } from "../storage/store.ts";

/** What a container's environment is made of. */
export interface EnvironmentSources {
  readonly pod: StoredObject;
  readonly container: JsonObject;
  /** The pod's addresses are not in its status yet when its first container starts. */
  readonly podAddress: string;
  readonly hostAddress: string;
  /** What the node has of each resource: the limit of those who have none. */
  readonly allocatable: JsonObject;
  /** A ConfigMap or Secret of the pod's namespace. */
  readonly find: (bucket: "configmaps" | "secrets", name: string) => StoredObject | undefined;
  /** The Services of the pod's namespace. */
  readonly services: readonly StoredObject[];
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
  for (const source of listAt(container, "envFrom")) {
    const prefix = textOf(source.prefix);
    for (const [name, value] of wholeSource(sources, source)) made.set(`${prefix}${name}`, value);
  }
  const known = (name: string) => made.get(name) ?? services.get(name) ?? base.get(name);
  for (const variable of listAt(container, "env")) {
    const name = textOf(variable.name);
    const { valueFrom } = variable;
    const value = isObject(valueFrom)
      ? foreignValue(sources, valueFrom)
      : expand(textOf(variable.value), (other) => known(other));
    if (value !== undefined) made.set(name, value);
  }
  return new Map([
    ["HOSTNAME", textOf(field(pod, "spec", "hostname")) || pod.metadata.name],
    ...base,
    ...services,
    ...made,
  ]);
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

function* wholeSource({ find }: EnvironmentSources, source: JsonObject): Generator<[string, string]> {
  const map = find("configmaps", textOf(field(source, "configMapRef", "name")));
  for (const [name, value] of Object.entries(mapAt(map, "data"))) yield [name, textOf(value)];
  const secret = find("secrets", textOf(field(source, "secretRef", "name")));
  for (const [name, value] of Object.entries(mapAt(secret, "data"))) yield [name, decoded(value)];
}

function decoded(value: Json): string {
  return Buffer.from(textOf(value), "base64").toString();
}

/**
 * The value that a variable takes from elsewhere; undefined if there is none, which only what is
 * optional may be.
 */
function foreignValue(sources: EnvironmentSources, from: JsonObject): string | undefined {
  const { find } = sources;
  const { configMapKeyRef: ofMap, secretKeyRef: ofSecret, fieldRef, resourceFieldRef } = from;
  if (isObject(ofMap)) {
    const value = field(find("configmaps", textOf(ofMap.name)), "data", textOf(ofMap.key));
    return value === undefined ? undefined : textOf(value);
  }
  if (isObject(ofSecret)) {
    const value = field(find("secrets", textOf(ofSecret.name)), "data", textOf(ofSecret.key));
    return value === undefined ? undefined : decoded(value);
  }
  if (isObject(fieldRef)) return podField(sources, textOf(fieldRef.fieldPath));
  if (isObject(resourceFieldRef)) return resourceField(sources, resourceFieldRef);
  return undefined;
}

/** A part of a pod that its own containers may see. */
export function podField(
  { pod, podAddress, hostAddress }: Pick<EnvironmentSources, "pod" | "podAddress" | "hostAddress">,
  path: string,
): string {
  const single = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path);
  if (single) return textOf(field(pod, "metadata", single[1] ?? "", single[2] ?? ""));
  switch (path) {
    case "metadata.labels":
    case "metadata.annotations":
      return Object.entries(mapAt(pod, ...path.split(".")))
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, value]) => `${key}=${JSON.stringify(textOf(value))}`)
        .join("\n");
    case "status.podIP":
    case "status.podIPs":
      return podAddress;
    case "status.hostIP":
    case "status.hostIPs":
      return hostAddress;
    default:
      return textOf(field(pod, ...path.split(".")));
  }
}

/**
 * How much of a resource a container asked for or may have, in units of the divisor, rounded up.
 */
export function resourceField(
  { pod, container, allocatable }: Pick<EnvironmentSources, "pod" | "container" | "allocatable">,
  reference: JsonObject,
): string {
  const named = textOf(reference.containerName);
  const of =
    named === ""
      ? container
      : [...listAt(pod, "spec", "containers"), ...listAt(pod, "spec", "initContainers")].find(
          ({ name }) => name === named,
        );
  const [kind = "", resource = ""] = textOf(reference.resource).split(/\.(.*)/s);
  const own = field(of, "resources", kind, resource);
  const quantity = own ?? (kind === "limits" ? field(allocatable, resource) : undefined);
  const nanos = quantity === undefined ? 0n : parseQuantity(textOf(quantity)).nanos;
  const divisor = textOf(reference.divisor);
  const by = divisor === "" || divisor === "0" ? 1_000_000_000n : parseQuantity(divisor).nanos;
  return String((nanos + by - 1n) / by);
}

/**
 * Where the Services of the namespace are, in the variables that containers have had since before
 * there was DNS.
 */
function serviceVariables({ pod, services, apiServer }: EnvironmentSources): Map<string, string> {
  const made = new Map<string, string>();
  const add = (name: string, host: string, ports: readonly JsonObject[]) => {
    const prefix = name.toUpperCase().replaceAll("-", "_");
    const [first] = ports;
    made.set(`${prefix}_SERVICE_HOST`, host);
    made.set(`${prefix}_SERVICE_PORT`, textOf(first?.port));
    for (const { name: named, port } of ports) {
      if (named)
        made.set(`${prefix}_SERVICE_PORT_${textOf(named).toUpperCase().replaceAll("-", "_")}`, textOf(port));
    }
    for (const [index, { port, protocol }] of ports.entries()) {
      const scheme = (textOf(protocol) || "TCP").toLowerCase();
      const url = `${scheme}://${host}:${textOf(port)}`;
      const each = `${prefix}_PORT_${textOf(port)}_${scheme.toUpperCase()}`;
      if (index === 0) made.set(`${prefix}_PORT`, url);
      made.set(each, url);
      made.set(`${each}_PROTO`, scheme);
      made.set(`${each}_PORT`, textOf(port));
      made.set(`${each}_ADDR`, host);
    }
  };
  for (const service of services) {
    const host = textOf(field(service, "spec", "clusterIP"));
    if (host === "" || host === "None" || field(pod, "spec", "enableServiceLinks") === false) continue;
    if (namespaceOf(service) === "default" && service.metadata.name === "kubernetes") continue;
    add(service.metadata.name, host, listAt(service, "spec", "ports"));
  }
  add("kubernetes", apiServer.host, [{ name: "https", port: apiServer.port, protocol: "TCP" }]);
  return made;
}
