import type { Clock, Random } from "@windlass/clock";
import { clone, type Json, type JsonObject } from "../json.ts";
import { hasAt, itemsAt, metadataOf, objectAt, textAt } from "../json-fields.ts";
import type { Admission } from "../registry/admission.ts";
import { nameSuffix } from "../registry/metadata.ts";
import type { Store } from "../storage/store.ts";
import { ensure } from "../validation/fill.ts";
import { creationOf, refuse } from "./plugin.ts";

export interface ServiceAccountDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  /**
   * How long a pod waits for the account of a namespace that was made a moment ago.
   *
   * @default 0: the creator of a namespace creates its account
   */
  readonly accountPatienceMs?: number;
}

const mountPath = "/var/run/secrets/kubernetes.io/serviceaccount";
const mirrored = "kubernetes.io/config.mirror";

/** Pods run as an account that exists, and are given its token. */
export function serviceAccounts(deps: ServiceAccountDependencies): Admission {
  return {
    name: "ServiceAccount",
    mutate: (request) => {
      const pod = creationOf(request, "", "pods");
      if (!pod || hasAt(objectAt(metadataOf(pod), "annotations"), mirrored)) return;
      const spec = ensure(pod, "spec");
      const name = textAt(spec, "serviceAccountName") || "default";
      spec.serviceAccountName = name;
      spec.serviceAccount = name;
      const key = `${request.namespace ?? ""}/${name}`;
      const settle = (account: JsonObject | undefined): void => {
        if (!account) {
          throw refuse(
            request,
            `error looking up service account ${key}: serviceaccount ${JSON.stringify(name)} not found`,
          );
        }
        admit(spec, account, deps.random);
      };
      const account = deps.store.get("serviceaccounts", key)?.object;
      if (account || name !== "default" || !deps.accountPatienceMs) return settle(account);
      return appearing(deps, key, deps.accountPatienceMs).then(settle);
    },
  };
}

/** The service account, once it is created; undefined if it is not created in time. */
function appearing(
  { store, clock }: ServiceAccountDependencies,
  key: string,
  patience: number,
): Promise<JsonObject | undefined> {
  return new Promise((resolve) => {
    const done = (account: JsonObject | undefined): void => {
      unsubscribe();
      cancel();
      resolve(account);
    };
    const cancel = clock.schedule(patience, () => done(undefined));
    const unsubscribe = store.subscribe("serviceaccounts", (record) => {
      if (record.key === key && record.type === "ADDED") done(record.entry.object);
    });
  });
}

function admit(spec: JsonObject, account: JsonObject, random: Random): void {
  const wanted: Json = spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true;
  if (wanted === true) mountToken(spec, random);
  if (itemsAt(spec, "imagePullSecrets").length === 0 && itemsAt(account, "imagePullSecrets").length > 0) {
    spec.imagePullSecrets = clone(account.imagePullSecrets as Json);
  }
}

function mountToken(spec: JsonObject, random: Random): void {
  const existing = itemsAt(spec, "volumes").find((volume) =>
    textAt(volume, "name").startsWith("kube-api-access-"),
  );
  const name = existing ? textAt(existing, "name") : `kube-api-access-${nameSuffix(random)}`;
  let mounted = false;
  for (const list of ["initContainers", "containers"]) {
    for (const container of itemsAt(spec, list)) {
      const mounts = itemsAt(container, "volumeMounts");
      if (mounts.some((mount) => textAt(mount, "mountPath") === mountPath)) continue;
      container.volumeMounts = [...mounts, { name, readOnly: true, mountPath }];
      mounted = true;
    }
  }
  if (mounted && !existing) spec.volumes = [...itemsAt(spec, "volumes"), tokenVolume(name)];
}

function tokenVolume(name: string): JsonObject {
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
        { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
        {
          downwardAPI: {
            items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }],
          },
        },
      ],
      defaultMode: 420,
    },
  };
}
