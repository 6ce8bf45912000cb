import {
  BuildbarnCluster,
  BuildbarnFrontend,
  BuildbarnScheduler,
  BuildbarnStorage,
  BuildbarnWorker,
  controllers,
  kinds,
} from "@windlass/buildbarn";
import { applyManifest, type ObjectOf } from "@windlass/client";
import { manager } from "@windlass/runtime";
import { CustomResourceDefinition } from "@windlass/runtime/kinds";
import { type DemoPart, type RunningPart, readSamples, type Sample, type Stage } from "./stage.ts";

export const buildbarnDemo: DemoPart = {
  name: "buildbarn",
  summary: "a Buildbarn set comes up, then goes from two to three shards without losing its cache",
  start,
};

const namespace = "default";
/** What each phase is for. */
const phaseWords = {
  Starting: "the new shard starts, and gets no requests yet",
  Bridging: "clients that read results are rolled to both maps",
  Redirecting: "all clients are rolled to both maps, and store results by the new one",
  Copying: "what is used is copied to its new place",
  Switching: "clients are rolled to the new map",
  Retiring: "shards that get no requests any more stop",
} as const;
const set = { namespace, name: "builds" };

async function start(stage: Stage): Promise<RunningPart> {
  const { client, plane, signal } = stage;
  for (const kind of kinds) await client.apply(CustomResourceDefinition, kind.crd());
  stage.say("crd", `${kinds.map(({ plural }) => plural).join(", ")} installed`);
  // Pods of a Job end at once here; those that try a configuration are to run.
  plane.node.on("*-try-*", { kind: "run" });
  const operator = manager({
    client: stage.clientOf("buildbarn-operator"),
    leaderElection: { name: "buildbarn-operator", namespace },
    health: false,
    metrics: false,
    log: stage.log,
  });
  for (const one of controllers) operator.add(one);
  const running = operator.run({ signal });

  const ready = Promise.withResolvers<void>();
  let isResharding = false;
  const describeSet = ({ status }: ObjectOf<typeof BuildbarnCluster>) => {
    const condition = status?.conditions?.find(({ type }) => type === "Ready");
    if (condition?.status === "True" && !isResharding) {
      isResharding = true;
      reshard(stage).catch(ready.reject);
    }
    if (condition === undefined) return "new";
    const { components = [] } = status ?? {};
    return `${components.filter((one) => one.ready).length} of ${components.length} components are ready`;
  };
  const describeStorage = ({ status }: ObjectOf<typeof BuildbarnStorage>) => {
    const { phase, to, from } = status?.resharding ?? {};
    if (isResharding && phase === "Stable" && to === 3) ready.resolve();
    if (phase === undefined || phase === "Stable") return status?.state && `${status.state}: ${to} shards`;
    return `${phase}, from ${from} to ${to} shards: ${phaseWords[phase]}`;
  };
  const shown = [
    stage.follow(BuildbarnCluster, describeSet, { namespace }),
    stage.follow(BuildbarnStorage, describeStorage, { namespace }),
    ...[BuildbarnScheduler, BuildbarnFrontend, BuildbarnWorker].map((kind) =>
      stage.follow<typeof BuildbarnScheduler>(kind as typeof BuildbarnScheduler, describeComponent, {
        namespace,
      }),
    ),
  ];
  for (const sample of (await readSamples("buildbarn")).filter(isShown)) {
    await applyManifest(client, { ...sample, metadata: { ...sample.metadata, namespace } });
    stage.say("sample", `${sample.kind.toLowerCase()}/${sample.metadata.name} applied`);
  }
  return { ready: ready.promise, stopped: Promise.all([running, ...shown]).then(() => undefined) };
}

/**
 * The set in one resource, and what joins it. The other samples are the same by one resource for
 * each component.
 */
function isShown({ kind, spec }: Sample & { readonly spec?: { readonly cluster?: string } }): boolean {
  return kind === BuildbarnCluster.kind || spec?.cluster === set.name;
}

/**
 * What `kubectl patch` would do. Blobs are copied for an hour unless told otherwise, and each new
 * pod is watched for ten seconds before the next is replaced, which is long for a demo.
 */
async function reshard(stage: Stage): Promise<void> {
  const storage = { replicas: 3, resharding: { hold: "2s" } };
  const { workers } = (await stage.client.get(BuildbarnCluster, set)).spec;
  const quick = { minReadySeconds: 1 };
  const spec = { storage, frontend: quick, workers: workers.map((one) => ({ ...one, ...quick })) };
  await stage.client.patch(BuildbarnCluster, set, { type: "merge", patch: { spec } });
  const { items } = await stage.client.list(BuildbarnWorker, { namespace });
  for (const { metadata } of items.filter((one) => one.metadata.ownerReferences === undefined))
    await stage.client.patch(BuildbarnWorker, metadata, { type: "merge", patch: { spec: quick } });
  stage.say("demo", "builds: spec.storage.replicas is 3 now; each step keeps every cached result reachable");
}

function describeComponent({ status }: ObjectOf<typeof BuildbarnScheduler>): string | undefined {
  return status?.conditions?.find(({ type }) => type === "Ready")?.reason;
}
