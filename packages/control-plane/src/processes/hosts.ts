import type { EndpointSlice, Pod, Service } from "@windlass/kinds/builtin";
import { namespaceOf } from "../json-fields.ts";
import type { Stored } from "../storage/typed.ts";

export interface HostsSources {
  readonly pod: Stored<Pod>;
  readonly podAddress: string;
  readonly services: readonly Stored<Service>[];
  /** All EndpointSlices: where the pods behind headless Services are. */
  readonly slices: readonly Stored<EndpointSlice>[];
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
    `${podAddress}\t${pod.spec.hostname || pod.metadata.name}`,
  ];
  for (const { ip, hostnames } of pod.spec.hostAliases ?? []) {
    if (hostnames) lines.push(`${ip}\t${hostnames.join("\t")}`);
  }
  for (const service of services) {
    const names = namesOf(service, namespaceOf(pod));
    const { clusterIP: address = "", publishNotReadyAddresses: unready = false } = service.spec ?? {};
    if (address === "") continue;
    if (address !== "None") {
      lines.push(`${address}\t${names.join("\t")}`);
      continue;
    }
    const label = "kubernetes.io/service-name";
    for (const slice of slices) {
      if (namespaceOf(slice) !== namespaceOf(service)) continue;
      if (slice.metadata.labels?.[label] !== service.metadata.name) continue;
      for (const { conditions, hostname: host = "", addresses } of slice.endpoints ?? []) {
        if (conditions?.ready === false && !unready) continue;
        const own = host === "" ? [] : names.map((name) => `${host}.${name}`);
        const [first] = addresses;
        if (first !== undefined) lines.push(`${first}\t${[...own, ...names].join("\t")}`);
      }
    }
  }
  return `${lines.join("\n")}\n`;
}

function namesOf(service: Stored<Service>, seenFrom: string): string[] {
  const { name } = service.metadata;
  const namespace = namespaceOf(service);
  return [
    `${name}.${namespace}.svc.cluster.local`,
    `${name}.${namespace}.svc`,
    `${name}.${namespace}`,
    ...(namespace === seenFrom ? [name] : []),
  ];
}
