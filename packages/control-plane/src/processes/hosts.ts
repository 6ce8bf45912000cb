import { listAt, namespaceOf } from "../controllers/objects.ts";
import { textOf } from "../json.ts";
import { field, type StoredObject } from "../storage/store.ts";

export interface HostsSources {
  readonly pod: StoredObject;
  readonly podAddress: string;
  readonly services: readonly StoredObject[];
  /** All EndpointSlices: where the pods behind headless Services are. */
  readonly slices: readonly StoredObject[];
}

/**
 * A pod's `/etc/hosts`: what the kubelet writes, and below it the names that a cluster's DNS would
 * answer for. Names of other kinds of records (SRV) are not in it.
 */
export function hostsText({ pod, podAddress, services, slices }: HostsSources): string {
  const lines = [
    "# Kubernetes-managed hosts file.",
    "127.0.0.1\tlocalhost",
    "::1\tlocalhost ip6-localhost ip6-loopback",
    `${podAddress}\t${textOf(field(pod, "spec", "hostname")) || pod.metadata.name}`,
  ];
  for (const { ip, hostnames } of listAt(pod, "spec", "hostAliases")) {
    if (Array.isArray(hostnames)) lines.push(`${textOf(ip)}\t${hostnames.map(textOf).join("\t")}`);
  }
  for (const service of services) {
    const names = namesOf(service, namespaceOf(pod));
    const address = textOf(field(service, "spec", "clusterIP"));
    if (address === "") continue;
    if (address !== "None") {
      lines.push(`${address}\t${names.join("\t")}`);
      continue;
    }
    const label = "kubernetes.io/service-name";
    const unready = field(service, "spec", "publishNotReadyAddresses") === true;
    for (const slice of slices) {
      if (namespaceOf(slice) !== namespaceOf(service)) continue;
      if (field(slice, "metadata", "labels", label) !== service.metadata.name) continue;
      for (const endpoint of listAt(slice, "endpoints")) {
        if (field(endpoint, "conditions", "ready") === false && !unready) continue;
        const host = textOf(endpoint.hostname);
        const own = host === "" ? [] : names.map((name) => `${host}.${name}`);
        const { addresses } = endpoint;
        if (Array.isArray(addresses)) lines.push(`${textOf(addresses[0])}\t${[...own, ...names].join("\t")}`);
      }
    }
  }
  return `${lines.join("\n")}\n`;
}

function namesOf(service: StoredObject, seenFrom: string): string[] {
  const { name } = service.metadata;
  const namespace = namespaceOf(service);
  return [
    `${name}.${namespace}.svc.cluster.local`,
    `${name}.${namespace}.svc`,
    `${name}.${namespace}`,
    ...(namespace === seenFrom ? [name] : []),
  ];
}
