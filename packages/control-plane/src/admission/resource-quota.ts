import { formatQuantity } from "@windlass/kinds/quantity";
import { type JsonObject, textOf } from "../json.ts";
import { field, hasAt, itemsAt, metadataOf, objectAt, specOf, statusOf, textAt } from "../json-fields.ts";
import type { Admission, AdmissionRequest } from "../registry/admission.ts";
import type { Registry, RequestContext } from "../registry/registry.ts";
import type { Store, StoredObject } from "../storage/store.ts";
import { addAmounts, amount, compareAmounts } from "../validation/amounts.ts";
import { refuse } from "./plugin.ts";
import { inScope, inUse, type Usage, usageOf } from "./quota-usage.ts";

/**
 * Keeps namespaces within their quotas, and puts down in a quota's status what a request takes of
 * it before the request is carried out: of two at once only as many succeed as there is room for.
 * Whatever comes of them, the quota controller counts again.
 */
export function resourceQuotas(registry: Registry): Admission {
  const { store } = registry;
  return {
    name: "ResourceQuota",
    validate: (request) => {
      if (store.count("resourcequotas") === 0 || request.namespace === undefined || !request.object) return;
      if (request.operation !== "CREATE" && request.operation !== "UPDATE") return;
      if (request.subresource !== undefined) return;
      const quotas = store.list("resourcequotas", { prefix: `${request.namespace}/` }).entries;
      const charged = quotas
        .map(({ object }) => ({ quota: object, charge: chargeOf(request, object) }))
        .filter(({ charge }) => Object.keys(charge).length > 0);
      // All quotas are checked before any is charged.
      for (const { quota, charge } of charged) usedAfter(request, quota, charge, store);
      if (request.dryRun || charged.length === 0) return;
      return put(request, charged, registry);
    },
  };
}

const context: RequestContext = {
  user: { name: "system:apiserver", groups: ["system:masters"] },
  fieldManager: "kube-apiserver",
  dryRun: false,
  warn: () => undefined,
};

async function put(
  request: AdmissionRequest,
  charged: readonly { readonly quota: StoredObject; readonly charge: Usage }[],
  registry: Registry,
): Promise<void> {
  const resource = registry.resource("", "v1", "resourcequotas");
  if (!resource) return;
  for (const { quota, charge } of charged) {
    // Without the quota controller, usage is counted from the stored objects.
    if (Object.keys(objectAt(statusOf(quota), "hard")).length === 0) continue;
    const target = {
      resource,
      namespace: request.namespace,
      name: quota.metadata.name,
      subresource: "status",
    };
    await registry.update(
      target,
      context,
      (live) => {
        const used = usedAfter(request, live, charge, registry.store);
        return {
          ...live,
          status: { ...statusOf(live), used: { ...objectAt(statusOf(live), "used"), ...used } },
        };
      },
      { kind: "PatchOptions" },
    );
  }
}

/**
 * What a request adds to each resource that a quota bounds.
 *
 * @throws StatusError if it does not say what it has to
 */
function chargeOf(request: AdmissionRequest, quota: JsonObject): Usage {
  const { bucket } = request.resource;
  const object = request.object as JsonObject;
  if (!inScope(quota, bucket, object)) return {};
  const hard = objectAt(specOf(quota), "hard");
  const asked = usageOf(bucket, object);
  const before: Usage = request.oldObject ? usageOf(bucket, request.oldObject) : {};
  if (bucket === "pods" && request.operation === "CREATE")
    demandAmounts(request, hard, textAt(metadataOf(quota), "name"), object);
  return Object.fromEntries(
    Object.entries(asked)
      .filter(
        ([resource, value]) => hasAt(hard, resource) && compareAmounts(value, before[resource] ?? "0") > 0,
      )
      .map(([resource, value]) => [resource, difference(value, before[resource] ?? "0")]),
  );
}

/** What will be used of a quota. @throws StatusError if that is too much */
function usedAfter(request: AdmissionRequest, quota: JsonObject, charge: Usage, store: Store): Usage {
  const hard = objectAt(specOf(quota), "hard");
  const stored = inUse(store, request.resource.bucket, quota, request.namespace as string);
  const noted = objectAt(statusOf(quota), "used");
  const used = (resource: string): string => {
    const [counted, said] = [stored[resource] ?? "0", textOf(field(noted, resource) ?? "0")];
    return compareAmounts(said, counted) > 0 ? said : counted;
  };
  const after = Object.fromEntries(
    Object.entries(charge).map(([resource, delta]) => [resource, addAmounts(used(resource), delta)]),
  );
  const exceeded = Object.keys(charge)
    .filter((resource) => compareAmounts(after[resource], field(hard, resource)) > 0)
    .sort();
  if (exceeded.length === 0) return after;
  const list = (of: (resource: string) => string) =>
    exceeded.map((resource) => `${resource}=${of(resource)}`).join(",");
  throw refuse(
    request,
    `exceeded quota: ${textAt(metadataOf(quota), "name")}, requested: ${list((resource) => charge[resource] ?? "0")}, used: ${list(used)}, limited: ${list((resource) => textOf(field(hard, resource)))}`,
  );
}

function difference(a: string, b: string): string {
  const [left, right] = [amount(a), amount(b)];
  return formatQuantity({ nanos: left.nanos - right.nanos, format: left.format });
}

/** A quota on requests or limits makes them mandatory for containers. */
function demandAmounts(request: AdmissionRequest, hard: JsonObject, name: string, pod: JsonObject): void {
  const bounds = Object.keys(hard).filter((resource) =>
    /^(requests\.|limits\.)?(cpu|memory)$/.test(resource),
  );
  const lacking = new Map<string, string[]>();
  const spec = specOf(pod);
  for (const container of [...itemsAt(spec, "initContainers"), ...itemsAt(spec, "containers")]) {
    const resources = objectAt(container, "resources");
    const missing = bounds
      .filter((resource) => {
        const [part, amountOf] = resource.includes(".") ? resource.split(".") : ["requests", resource];
        return !hasAt(objectAt(resources, part as string), amountOf as string);
      })
      .sort();
    for (const resource of missing) {
      lacking.set(resource, [...(lacking.get(resource) ?? []), textAt(container, "name")]);
    }
  }
  if (lacking.size === 0) return;
  const said = [...lacking].sort(([a], [b]) => (a < b ? -1 : 1));
  const list = said.map(([resource, names]) => `${resource} for: ${names.sort().join(",")}`).join("; ");
  throw refuse(request, `failed quota: ${name}: must specify ${list}`);
}
