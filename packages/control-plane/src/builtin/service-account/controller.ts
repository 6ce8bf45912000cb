import { type ControllerDependencies, type Running, startLoop } from "../../controllers/loop.ts";
import { builtin, controllerContext, createObject, edit, isDeleting } from "../../controllers/objects.ts";
import { equal, textOf } from "../../json.ts";
import type { LogRecord } from "../../storage/store.ts";

/** Gives every namespace the account that its pods run as. */
export function startServiceAccounts(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const accounts = builtin(registry, "", "v1", "serviceaccounts");
  return startLoop(deps, {
    name: "serviceaccount-controller",
    watches: {
      namespaces: ({ key }) => [key],
      [accounts.bucket]: (record) => (record.type === "DELETED" ? namespaceOfRecord(record) : []),
    },
    reconcile: async (namespace) => {
      if (!isLiving(deps, namespace) || registry.store.get(accounts.bucket, `${namespace}/default`))
        return undefined;
      const context = controllerContext("service-account-controller");
      await createObject(registry, accounts, namespace, { metadata: { name: "default" } }, context);
      return undefined;
    },
  });
}

const bundle = "kube-root-ca.crt";

/** Gives every namespace the certificate by which its pods know the API server. */
export function startRootCertificates(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const maps = builtin(registry, "", "v1", "configmaps");
  const context = controllerContext("root-ca-cert-publisher");
  return startLoop(deps, {
    name: "root-ca-certificate-publisher-controller",
    watches: {
      namespaces: ({ key }) => [key],
      [maps.bucket]: (record) => (record.key.endsWith(`/${bundle}`) ? namespaceOfRecord(record) : []),
    },
    reconcile: async (namespace) => {
      if (!isLiving(deps, namespace)) return undefined;
      const data = { "ca.crt": deps.authority?.() ?? "" };
      const known = registry.store.get(maps.bucket, `${namespace}/${bundle}`)?.object;
      if (!known) {
        const annotations = {
          "kubernetes.io/description": "The certificate by which pods know the API server.",
        };
        await createObject(
          registry,
          maps,
          namespace,
          { metadata: { name: bundle, annotations }, data },
          context,
        );
      } else if (!equal(known.data, data)) {
        await edit(registry, maps, known, context, (next) => {
          next.data = data;
        });
      }
      return undefined;
    },
  });
}

function namespaceOfRecord({ entry }: LogRecord): string[] {
  return [textOf(entry.object.metadata.namespace)];
}

function isLiving({ registry }: ControllerDependencies, namespace: string): boolean {
  const owner = registry.store.get("namespaces", namespace)?.object;
  return owner !== undefined && !isDeleting(owner);
}
