import { type Child, child, condition, controller, isReady, type ObjectOf } from "@windlass/runtime";
import { BuildbarnBrowser } from "../browser/browser.ts";
import { BuildbarnFrontend } from "../frontend/frontend.ts";
import { setLabel } from "../names.ts";
import { BuildbarnScheduler } from "../scheduler/scheduler.ts";
import type { ComponentKind } from "../set/index.ts";
import { BuildbarnStorage } from "../storage/storage.ts";
import { BuildbarnWorker } from "../worker/worker.ts";
import { BuildbarnCluster, type Cluster } from "./cluster.ts";

const owned = [
  BuildbarnStorage,
  BuildbarnScheduler,
  BuildbarnFrontend,
  BuildbarnBrowser,
  BuildbarnWorker,
] as const;

/** Keeps the components of each set. */
export const clusterController = controller(BuildbarnCluster, {
  owns: owned,
  concurrency: 4,

  reconcile(cluster, { owned: find, ownedAll }) {
    const live = owned.flatMap((kind): readonly ObjectOf<ComponentKind>[] => ownedAll(kind));
    // A release places blobs as no other does: the shards go first, and their clients follow.
    const isOrdered = live.some(({ spec }) => spec.version !== cluster.spec.version);
    const children = componentsOf(cluster, isOrdered);
    const components = children.map(({ kind, object }) => {
      const name = object.metadata.name ?? "";
      const found = find(kind, name);
      return { kind: kind.kind, name, ready: found !== undefined && isReady(kind, found), found };
    });
    const waiting = components.filter(({ ready }) => !ready);
    const [first] = waiting;
    const why = first?.found?.status?.conditions?.find(({ type }) => type === "Ready");
    const degraded = components.find(({ found }) =>
      found?.status?.conditions?.some(({ type, status }) => type === "Degraded" && status === "True"),
    );
    const message = first
      ? `${components.length - waiting.length} of ${components.length} components are ready; ${first.kind} ${first.name}: ${why?.message ?? "not looked at yet"}`
      : `${components.length} components are ready`;
    const endpoint = find(BuildbarnFrontend, `${cluster.metadata.name}-frontend`)?.status?.endpoint;
    return {
      children,
      status: {
        ...(endpoint !== undefined && { endpoint }),
        components: components.map(({ kind, name, ready }) => ({ kind, name, ready })),
        conditions: [
          condition("Ready", !first, first ? (why?.reason ?? "Creating") : "ComponentsReady", message),
          condition(
            "Progressing",
            first !== undefined && !degraded,
            first ? "ComponentsNotReady" : "AsWanted",
          ),
          condition(
            "Degraded",
            degraded !== undefined,
            degraded ? "ComponentDegraded" : "AsExpected",
            degraded ? `${degraded.kind} ${degraded.name}` : "",
          ),
        ],
      },
    };
  },
});

/** The components of a set, each after those that must be rolled out before it. */
export function componentsOf(
  { metadata, spec }: Cluster,
  isOrdered: boolean,
): readonly Child<ComponentKind>[] {
  const member = { cluster: metadata.name, version: spec.version };
  const metadataOf = (name: string) => ({
    name: `${metadata.name}-${name}`,
    labels: { [setLabel]: metadata.name },
  });
  const order = (...before: readonly Child[]) => ({ after: isOrdered ? before : [] });
  const storage = child(BuildbarnStorage, {
    metadata: metadataOf("storage"),
    spec: { ...member, ...spec.storage },
  });
  const scheduler = child(
    BuildbarnScheduler,
    { metadata: metadataOf("scheduler"), spec: { ...member, ...spec.scheduler } },
    order(storage),
  );
  const frontend = child(
    BuildbarnFrontend,
    { metadata: metadataOf("frontend"), spec: { ...member, ...spec.frontend } },
    order(scheduler),
  );
  const browsers = spec.browser
    ? [
        child(
          BuildbarnBrowser,
          { metadata: metadataOf("browser"), spec: { ...member, ...spec.browser } },
          order(frontend),
        ),
      ]
    : [];
  const workers = spec.workers.map(({ name, ...own }) =>
    child(
      BuildbarnWorker,
      { metadata: metadataOf(name), spec: { ...member, ...own } },
      order(frontend, ...browsers),
    ),
  );
  return [storage, scheduler, frontend, ...browsers, ...workers] as readonly Child<ComponentKind>[];
}
