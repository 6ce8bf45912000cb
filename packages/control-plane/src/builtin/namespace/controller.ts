import {
  type ControllerDependencies,
  ownKey,
  type Running,
  startLoop,
  unhurried,
} from "../../controllers/loop.ts";
import { builtin, controllerContext, deleteIfPresent, writeStatus } from "../../controllers/objects.ts";
import { clone, type JsonObject, textOf } from "../../json.ts";
import { valueAt } from "../../json-fields.ts";
import { timestamp } from "../../registry/metadata.ts";
import type { LogRecord, StoredObject } from "../../storage/store.ts";

const podsBucket = "pods";

/** Deletes the content of a terminating namespace, then removes its finalizer. */
export function startNamespaces(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const { store } = registry;
  const context = controllerContext("namespace-controller");
  const namespaces = builtin(registry, "", "v1", "namespaces");
  /** Namespaces on their way out: each object that goes may be the last. */
  const emptying = new Set<string>();

  return startLoop(deps, {
    name: "namespace",
    watchAll: (record) => (record.bucket === namespaces.bucket ? ownKey(record) : leftBehind(record)),
    reconcile: async (name) => {
      const namespace = store.get(namespaces.bucket, name)?.object;
      if (!namespace || namespace.metadata.deletionTimestamp === undefined) {
        emptying.delete(name);
        return undefined;
      }
      emptying.add(name);
      // Pods go first: until they have ended they may need whatever else is there.
      await empty(podsBucket, name);
      const pods = contents(name).filter(({ bucket }) => bucket === podsBucket);
      if (pods.length === 0) for (const bucket of store.buckets()) await empty(bucket, name);
      const held = pods.length > 0 ? pods : contents(name);
      if (held.length > 0) await report(namespace, held);
      else await letGo(namespace);
      return undefined;
    },
  });

  function leftBehind({ type, entry }: LogRecord): string[] {
    const within = textOf(entry.object.metadata.namespace);
    return type === "DELETED" && emptying.has(within) ? [within] : [];
  }

  function contents(name: string): { bucket: string; object: StoredObject }[] {
    return store
      .buckets()
      .flatMap((bucket) =>
        store.list(bucket, { prefix: `${name}/` }).entries.map(({ object }) => ({ bucket, object })),
      );
  }

  async function empty(bucket: string, name: string): Promise<void> {
    const resource = registry.resourceOfBucket(bucket);
    if (!resource?.info.namespaced) return;
    for await (const { object } of unhurried(store.list(bucket, { prefix: `${name}/` }).entries)) {
      if (object.metadata.deletionTimestamp === undefined)
        await deleteIfPresent(registry, resource, object, context);
    }
  }

  async function report(
    namespace: StoredObject,
    held: readonly { bucket: string; object: StoredObject }[],
  ): Promise<void> {
    const finalizers = new Map<string, number>();
    const kinds = new Map<string, number>();
    for (const { bucket, object } of held) {
      const resource = bucket.includes(".") ? bucket : `${bucket}.`;
      kinds.set(resource, (kinds.get(resource) ?? 0) + 1);
      for (const finalizer of (object.metadata.finalizers ?? []) as string[]) {
        finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
      }
    }
    const now = timestamp(registry.clock);
    const before = (valueAt(namespace, "status", "conditions") ?? []) as JsonObject[];
    const condition = (type: string, status: boolean, reason: string, message: string): JsonObject => {
      const known = before.find((other) => other.type === type);
      const text = status ? "True" : "False";
      const changed = known?.status !== text;
      return {
        type,
        status: text,
        lastTransitionTime: changed ? now : (known?.lastTransitionTime as string),
        reason,
        message,
      };
    };
    const list = (counts: Map<string, number>, words: string) =>
      [...counts]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, number]) => `${name} ${words} ${number} resource instances`)
        .join(", ");
    const conditions = [
      condition(
        "NamespaceDeletionDiscoveryFailure",
        false,
        "ResourcesDiscovered",
        "All resources successfully discovered",
      ),
      condition(
        "NamespaceDeletionGroupVersionParsingFailure",
        false,
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
      ),
      condition(
        "NamespaceDeletionContentFailure",
        false,
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
      ),
      condition(
        "NamespaceContentRemaining",
        true,
        "SomeResourcesRemain",
        `Some resources are remaining: ${list(kinds, "has")}`,
      ),
      finalizers.size > 0
        ? condition(
            "NamespaceFinalizersRemaining",
            true,
            "SomeFinalizersRemain",
            `Some content in the namespace has finalizers remaining: ${list(finalizers, "in")}`,
          )
        : condition(
            "NamespaceFinalizersRemaining",
            false,
            "ContentHasNoFinalizers",
            "All content-preserving finalizers finished",
          ),
    ];
    await writeStatus(registry, namespaces, namespace, { phase: "Terminating", conditions }, context);
  }

  async function letGo(namespace: StoredObject): Promise<void> {
    await registry.update(
      { resource: namespaces, namespace: undefined, name: namespace.metadata.name, subresource: "finalize" },
      context,
      (live) => ({ ...clone(live), spec: {} }),
      { kind: "PatchOptions" },
    );
  }
}
