import type {
  KubernetesVersion,
  RecordedGroup,
  RecordedKinds,
  RecordedResource,
  RecordedVersion,
} from "@windlass/kinds/recorded";
import type { Cluster } from "./cluster.ts";

interface ApiResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly kind: string;
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly storageVersionHash?: string;
}

interface ApiService {
  readonly metadata: { readonly labels?: { readonly [label: string]: string } };
  readonly spec: {
    readonly group?: string;
    readonly version: string;
    readonly groupPriorityMinimum: number;
    readonly versionPriority: number;
  };
}

interface ApiGroup {
  readonly name: string;
  readonly versions: readonly { readonly version: string }[];
}

/** The server's version, and what it serves. */
export async function recordKinds(cluster: Cluster): Promise<RecordedKinds> {
  const version = (await cluster.get("/version")) as KubernetesVersion;
  return {
    version: {
      gitVersion: version.gitVersion,
      major: version.major,
      minor: version.minor,
      minCompatibilityMajor: version.minCompatibilityMajor,
      minCompatibilityMinor: version.minCompatibilityMinor,
    },
    groups: await recordGroups(cluster),
  };
}

/**
 * The groups the server itself serves, in its order of preference. What custom resource definitions
 * or other servers add is left out: only API services the server registers as it starts count.
 */
async function recordGroups(cluster: Cluster): Promise<RecordedGroup[]> {
  const { items } = (await cluster.get("/apis/apiregistration.k8s.io/v1/apiservices")) as {
    items: readonly ApiService[];
  };
  const builtin = items
    .filter((item) => item.metadata.labels?.["kube-aggregator.kubernetes.io/automanaged"] === "onstart")
    .map((item) => item.spec);
  const { groups } = (await cluster.get("/apis")) as { groups: readonly ApiGroup[] };

  const recorded: RecordedGroup[] = [];
  for (const group of [{ name: "", versions: [{ version: "v1" }] }, ...groups]) {
    const versions: RecordedVersion[] = [];
    for (const { version } of group.versions) {
      const service = builtin.find((spec) => (spec.group ?? "") === group.name && spec.version === version);
      // The aggregator serves its own group without registering it.
      const priority = group.name === "apiregistration.k8s.io" ? 15 : service?.versionPriority;
      if (priority === undefined) continue;
      versions.push({ version, priority, resources: await recordVersion(cluster, group.name, version) });
    }
    if (versions.length === 0) continue;
    const priority =
      builtin.find((spec) => (spec.group ?? "") === group.name)?.groupPriorityMinimum ?? 20_000;
    recorded.push({ name: group.name, priority, versions });
  }
  return recorded;
}

async function recordVersion(cluster: Cluster, group: string, version: string): Promise<RecordedResource[]> {
  const path = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const { resources } = (await cluster.get(path)) as { resources: readonly ApiResource[] };
  return resources
    .filter((resource) => !resource.name.includes("/"))
    .map((resource) => {
      const subresources = resources
        .filter((each) => each.name.startsWith(`${resource.name}/`))
        .map((each) => ({
          name: each.name.slice(resource.name.length + 1),
          group: each.group ?? (each.version ? "" : group),
          version: each.version ?? version,
          kind: each.kind,
          verbs: each.verbs,
        }));
      return {
        plural: resource.name,
        singular: resource.singularName,
        kind: resource.kind,
        namespaced: resource.namespaced,
        verbs: resource.verbs,
        ...(resource.shortNames ? { shortNames: resource.shortNames } : {}),
        ...(resource.categories ? { categories: resource.categories } : {}),
        ...(resource.storageVersionHash ? { hash: resource.storageVersionHash } : {}),
        ...(subresources.length > 0 ? { subresources } : {}),
      };
    });
}
