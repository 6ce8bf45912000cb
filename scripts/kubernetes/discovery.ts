import type { RecordedGroup } from "@windlass/kinds/recorded";
import type { Cluster } from "./cluster.ts";

/**
 * The real server's aggregated documents, without groups that are not its own: what the control
 * plane's are compared with in a test.
 */
export async function recordDiscovery(
  cluster: Cluster,
  groups: readonly RecordedGroup[],
): Promise<{ readonly [root: string]: unknown }> {
  const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const recorded: { [root: string]: unknown } = {};
  for (const root of ["/api", "/apis"]) {
    const document = (await cluster.get(root, accept)) as { items: { metadata: { name?: string } }[] };
    const items = document.items.filter(({ metadata }) => {
      return groups.some((group) => group.name === (metadata.name ?? ""));
    });
    recorded[root] = { ...document, items };
  }
  return recorded;
}
