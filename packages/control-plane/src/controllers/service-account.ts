import { textOf } from "../json.ts";
import type { LogRecord } from "../storage/store.ts";
import { builtin, type ControllerWorld, controllerContext, type Running, startLoop } from "./loop.ts";

/** Gives every namespace the account its pods run as, and the certificate by which they know the API server. */
export function startServiceAccounts(
  world: ControllerWorld & { readonly authority?: () => string },
): Running {
  const { registry } = world;
  const { store } = registry;
  const accounts = builtin(registry, "", "v1", "serviceaccounts");
  const maps = builtin(registry, "", "v1", "configmaps");
  const namespaceOf = ({ entry }: LogRecord): string[] => [textOf(entry.object.metadata.namespace)];
  const deleted = (record: LogRecord) => (record.type === "DELETED" ? namespaceOf(record) : []);

  return startLoop(world, {
    name: "serviceaccount",
    watches: {
      namespaces: ({ key }) => [key],
      [accounts.bucket]: deleted,
      [maps.bucket]: (record) => (record.key.endsWith("/kube-root-ca.crt") ? namespaceOf(record) : []),
    },
    reconcile: async (namespace) => {
      const owner = store.get("namespaces", namespace)?.object;
      if (!owner || owner.metadata.deletionTimestamp !== undefined) return;
      if (!store.get(accounts.bucket, `${namespace}/default`)) {
        const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } };
        await registry.create(accounts, namespace, account, controllerContext("service-account-controller"));
      }
      if (!store.get(maps.bucket, `${namespace}/kube-root-ca.crt`)) {
        const map = {
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: {
            name: "kube-root-ca.crt",
            annotations: {
              "kubernetes.io/description": "The certificate by which pods know the API server.",
            },
          },
          data: { "ca.crt": world.authority?.() ?? "" },
        };
        await registry.create(maps, namespace, map, controllerContext("root-ca-cert-publisher"));
      }
    },
  });
}
