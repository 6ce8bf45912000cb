import { type Child, child, condition, controller, isReady, type ObjectOf } from "@windlass/runtime";
import { BuildbarnBrowser } from "../browser/browser.ts";
import { wantedOf } from "../component/index.ts";
import { BuildbarnFrontend } from "../frontend/frontend.ts";
import { setLabel, wantedAnnotation } from "../names.ts";
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

/** How soon a set that is being deleted is looked at again, should no event come. */
const lookMs = 30_000;

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
      // Its status may be the answer to an earlier spec.
      const isAsked =
        found?.metadata.annotations?.[wantedAnnotation] === object.metadata.annotations?.[wantedAnnotation];
      return {
        kind: kind.kind,
        name,
        ready: found !== undefined && isAsked && isReady(kind, found),
        isAsked,
        found,
      };
    });
    const waiting = components.filter(({ ready }) => !ready);
    const [first] = waiting;
    const said = first?.found?.status?.conditions?.find(({ type }) => type === "Ready");
    const why = first?.isAsked ? said : undefined;
    const degraded = components.find(({ found }) =>
      found?.status?.conditions?.some(({ type, status }) => type === "Degraded" && status === "True"),
    );
    const message = first
      ? `${components.length - waiting.length} of ${components.length} components are ready; ${first.kind} ${first.name}: ${why?.message ?? (first.found ? "has not been changed yet" : "not looked at yet")}`
      : `${components.length} components are ready`;
    const endpoint = find(BuildbarnFrontend, `${cluster.metadata.name}-frontend`)?.status?.endpoint;
    return {
      children,
      status: {
        ...(endpoint !== undefined && { endpoint }),
        components: components.map(({ kind, name, ready }) => ({ kind, name, ready })),
        conditions: [
          condition(
            "Ready",
            !first,
            first ? (why?.reason ?? (first.found ? "RollingOut" : "Creating")) : "ComponentsReady",
            message,
          ),
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

  /**
   * Workers need their scheduler and their shards to end what they run: these go only when all of
   * them have.
   */
  async finalize(cluster, context) {
    const workers = context.ownedAll(BuildbarnWorker);
    // Deleted with --cascade=orphan, it leaves its objects in place.
    if (workers.length === 0 || cluster.metadata.finalizers?.includes("orphan")) return undefined;
    for (const worker of workers)
      if (worker.metadata.deletionTimestamp === undefined) await context.delete(BuildbarnWorker, worker);
    const message = `workers are stopping: ${workers.map(({ metadata }) => metadata.name).join(", ")}`;
    return {
      status: {
        ...cluster.status,
        conditions: [
          condition("Ready", false, "Deleting", message),
          condition("Progressing", true, "Deleting", message),
        ],
      },
      requeueAfter: lookMs,
    };
  },
});

/** The components of a set, each after those that must be rolled out before it. */
export function componentsOf(
  { metadata, spec }: Cluster,
  isOrdered: boolean,
): readonly Child<ComponentKind>[] {
  const member = { cluster: metadata.name, version: spec.version };
  const part = <S extends object>(name: string, own: S) => {
    const wanted = { ...member, ...own };
    return {
      metadata: {
        name: `${metadata.name}-${name}`,
        labels: { [setLabel]: metadata.name },
        annotations: { [wantedAnnotation]: wantedOf(wanted) },
      },
      spec: wanted,
    };
  };
  const order = (...before: readonly Child[]) => ({ after: isOrdered ? before : [] });
  const storage = child(BuildbarnStorage, part("storage", spec.storage));
  const scheduler = child(BuildbarnScheduler, part("scheduler", spec.scheduler), order(storage));
  const frontend = child(BuildbarnFrontend, part("frontend", spec.frontend), order(scheduler));
  const browsers = spec.browser
    ? [child(BuildbarnBrowser, part("browser", spec.browser), order(frontend))]
    : [];
  const workers = spec.workers.map(({ name, ...own }) =>
    child(BuildbarnWorker, part(name, own), order(frontend, ...browsers)),
  );
  return [storage, scheduler, frontend, ...browsers, ...workers];
}
