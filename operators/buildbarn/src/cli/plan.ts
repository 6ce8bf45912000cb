import { type Duration, milliseconds } from "@windlass/clock";
import type { ObjectOf } from "@windlass/runtime";
import type { ConfigMap } from "@windlass/runtime/kinds";
import { checkConfiguration } from "../configuration/index.ts";
import { mapText, type Resharding, shardMap, shardsOf, step } from "../resharding/index.ts";
import { type BuildbarnSet, type ComponentObject, reshardingOf } from "../set/index.ts";
import { flushedStores, shardConfiguration } from "../storage/geometry.ts";
import type { Storage } from "../storage/storage.ts";
import { type Configured, configurationsOf, nameOf } from "./configurations.ts";

/** One thing that the operator would do. */
export interface PlanStep {
  /** `BuildbarnStorage builds/storage` */
  readonly what: string;
  readonly does: "create" | "delete" | "scale" | "roll" | "reshard" | "flush" | "refuse";
  readonly detail: string;
}

interface World {
  readonly set: BuildbarnSet | undefined;
  readonly configMaps: readonly ObjectOf<typeof ConfigMap>[];
}

/** What the operator would do to get from one set to another, in its order. */
export function planOf(from: World, to: World): readonly PlanStep[] {
  const before = byName(from);
  const after = byName(to);
  const steps: PlanStep[] = [];
  for (const [name, next] of after) {
    for (const fault of next.faults) steps.push({ what: name, does: "refuse", detail: fault });
    const last = before.get(name);
    if (!last) {
      const { replicas } = next.component.spec;
      steps.push({ what: name, does: "create", detail: replicas === 1 ? "1 pod" : `${replicas} pods` });
    } else if (next.faults.length === 0) steps.push(...changes(name, last, next));
  }
  for (const [name] of before)
    if (!after.has(name)) steps.push({ what: name, does: "delete", detail: "its pods stop" });
  return steps;
}

function byName({ set, configMaps }: World): ReadonlyMap<string, Configured> {
  return new Map((set ? configurationsOf(set, configMaps) : []).map((one) => [nameOf(one.component), one]));
}

function changes(what: string, last: Configured, next: Configured): readonly PlanStep[] {
  const steps: PlanStep[] = [];
  const [old, now] = [last.component.spec, next.component.spec];
  const isStorage = next.component.kind === "BuildbarnStorage";
  if (isStorage) steps.push(...storageSteps(what, last, next));
  const touched = changedFiles(last, next);
  const images = imagesOf(last.component) === imagesOf(next.component) ? [] : ["image"];
  const causes = [...images, ...touched];
  if (causes.length > 0)
    steps.push({ what, does: "roll", detail: `pods are replaced: ${causes.join(", ")}` });
  if (!isStorage && old.replicas !== now.replicas)
    steps.push({ what, does: "scale", detail: `from ${old.replicas} to ${now.replicas} pods` });
  return steps;
}

function changedFiles(
  { configuration: last }: Configured,
  { configuration: next }: Configured,
): readonly string[] {
  const names = new Set([...Object.keys(last?.files ?? {}), ...Object.keys(next?.files ?? {})]);
  return [...names].filter((name) => last?.files[name] !== next?.files[name]).toSorted();
}

function imagesOf({ spec }: ComponentObject): string {
  const { image, version } = spec;
  const { runnerImage, runnerInstallerImage } = spec as Partial<Record<string, unknown>>;
  return JSON.stringify([image, version, runnerImage, runnerInstallerImage]);
}

function storageSteps(what: string, last: Configured, next: Configured): readonly PlanStep[] {
  const [before, after] = [last.component as Storage, next.component as Storage];
  const evaluated = ({ configuration }: Configured) =>
    checkConfiguration(shardConfiguration(configuration?.files ?? {}, after.spec.version));
  const flushed = flushedStores(evaluated(last), evaluated(next));
  const state = reshardingOf(before.status?.resharding) ?? stable(before.spec.replicas);
  return [
    ...flushed.map((store): PlanStep => ({ what, does: "flush", detail: `${store} is emptied` })),
    ...reshardingSteps(state, after).map((detail): PlanStep => ({ what, does: "reshard", detail })),
  ];
}

function stable(shards: number): Resharding {
  return { phase: "Stable", shards };
}

/** The phases that the state machine goes through, if nothing holds it up. */
function reshardingSteps(from: Resharding, { spec }: Storage): readonly string[] {
  const hold = milliseconds(spec.resharding.hold as Duration, "spec.resharding.hold");
  const lines: string[] = [];
  let state = from;
  for (let now = 0; state.phase !== "Stable" || state.shards !== spec.replicas; now += hold) {
    const seen = {
      wanted: spec.replicas,
      ready: shardsOf(state),
      running: shardsOf(state),
      clients: [{ name: "client", map: mapText(shardMap(state, "reads")), results: "reads" as const }],
      now,
      hold,
    };
    const next = step(state, seen);
    if (next.state === state && next.until === undefined) return [...lines, `waits: ${next.waitingFor}`];
    state = next.state;
    lines.push(phaseText(state, spec.resharding.hold));
  }
  return lines.filter((line, index) => line !== lines[index - 1]);
}

function count(shards: number): string {
  return shards === 1 ? "1 shard" : `${shards} shards`;
}

function phaseText(state: Resharding, hold: string): string {
  const clients = "frontends, browsers and workers";
  switch (state.phase) {
    case "Stable":
      return `Stable: ${count(state.shards)}`;
    case "Starting":
      return state.to > state.from
        ? `Starting: ${count(state.to - state.from)} to start`
        : "Starting: all shards must be ready";
    case "Bridging":
      return `Bridging: frontends and browsers are rolled to both maps, of ${state.from} and of ${count(state.to)}`;
    case "Redirecting":
      return `Redirecting: ${clients} are rolled to both maps, and store results by that of ${count(state.to)}`;
    case "Copying":
      return `Copying: for ${hold}, what is used is copied to its new place`;
    case "Switching":
      return `Switching: ${clients} are rolled to the map of ${count(state.to)}`;
    case "Retiring":
      return state.to < state.from
        ? `Retiring: ${count(state.from - state.to)} to stop`
        : "Retiring: no shard has to stop";
    default:
      return state satisfies never;
  }
}
