import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import type { NamespacedKey } from "@windlass/client";
import { Deployment, Lease, Pod } from "@windlass/runtime/kinds";
import { startCluster, waitFor, waitForCondition } from "@windlass/testing";
import { lab, loadIntoLab } from "../../../scripts/packaging/operator-image.ts";
import type { World } from "./world.ts";

const operator = { namespace: "webapp-system", name: "webapp-operator" };
const config = join(import.meta.dirname, "..", "config", "default");
const kubectl = (...args: string[]) =>
  execFileSync("kubectl", args, { stdio: ["ignore", "ignore", "inherit"] });

/**
 * The cluster of KUBECONFIG, with the operator installed from its manifests and an image that was
 * made just now.
 */
export async function installedWorld(): Promise<World> {
  const cluster = await startCluster({ flavour: "cluster" });
  const { client } = cluster;
  await loadIntoLab("webapp");
  kubectl("apply", "--server-side", "-k", config);
  await waitForCondition(client, Deployment, operator, "Available", "True", { timeout: 120_000 });
  const leads = () =>
    waitFor(client, Lease, operator, ({ spec }) => spec?.holderIdentity, { timeout: 60_000 });
  await leads();
  /** The leader's pod, by the name with which its identity begins. */
  const leader = async (): Promise<NamespacedKey> => {
    const [name = ""] = (await leads()).split("_");
    return { namespace: operator.namespace, name };
  };
  return {
    client,
    createNamespace: () => cluster.createNamespace("webapp"),
    killLeader: async () => {
      const key = await leader();
      const { status } = await client.get(Pod, key);
      const [container] = status?.containerStatuses ?? [];
      const id = container?.containerID?.replace("containerd://", "") ?? "";
      const socket = join(dirname(await cluster.kubeconfig()), "containerd.sock");
      const kill = [
        "ctr",
        "--address",
        socket,
        "--namespace",
        "k8s.io",
        "task",
        "kill",
        "--signal",
        "SIGKILL",
        id,
      ];
      execFileSync(lab, ["exec", ...kill]);
      // It comes back, and answers webhooks again, well before the lease that it did not release
      // runs out.
      await waitFor(client, Pod, key, (pod) => {
        const [now] = pod.status?.containerStatuses ?? [];
        return now?.ready && now.restartCount > (container?.restartCount ?? 0);
      });
    },
    drainLeader: async () => {
      const key = await leader();
      const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: key };
      await client.subresource(Pod, key, "eviction").create(eviction);
    },
    close: async () => {
      // The operator must see its WebApps off, so it goes last.
      kubectl("delete", "webapps", "--all", "--all-namespaces");
      await cluster.close();
      kubectl("delete", "--ignore-not-found", "-k", config);
    },
  };
}
