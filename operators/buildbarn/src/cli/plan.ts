import { milliseconds } from "@windlass/clock";
import type { ObjectOf } from "@windlass/runtime";
import type { ConfigMap } from "@windlass/runtime/kinds";
import { bytes, checkConfiguration, type Version } from "../configuration/index.ts";
import {
  isSameLayout,
  type Layout,
  layoutText,
  mapText,
  type Resharding,
  rings,
  shardMap,
  shardsOf,
  step,
} from "../resharding/index.ts";
import { type BuildbarnSet, layoutOf, reshardingOf } from "../set/index.ts";
import { claimTemplates } from "../storage/claims.ts";
import { type Flush, flushOf, shardConfiguration } from "../storage/geometry.ts";
import type { Storage } from "../storage/storage.ts";
import { type Configured, configurationsOf, nameOf } from "./configurations.ts";
import { rollingFields } from "./templates.ts";

/** One thing that the operator would do. */
export interface PlanStep {
  /** `BuildbarnStorage builds/storage` */
  readonly what: string;
  readonly does: "create" | "delete" | "scale" | "roll" | "reshard" | "flush" | "grow" | "refuse";
  readonly detail: string;
}

interface PlannedSet {
  readonly set: BuildbarnSet | undefined;
  readonly configMaps: readonly ObjectOf<typeof ConfigMap>[];
}

/** What the operator would do to get from one set to another, in its order. */
export function planOf(from: PlannedSet, to: PlannedSet): readonly PlanStep[] {
  const before = byName(from);
  const after = byName(to);
  const steps: PlanStep[] = [];
  for (const [name, next] of after) {
    for (const fault of next.faults) steps.push({ what: name, does: "refuse", detail: fault });
    const last = before.get(name);
    if (!last) {
      const { replicas } = next.component.spec;
      steps.push({ what: name, does: "create", detail: replicas === 1 ? "1 pod" : `${replicas} pods` });
    } else if (next.faults.length === 0)
      steps.push(...changes(name, last, next, { before: from.set, after: to.set }));
  }
  for (const [name] of before)
    if (!after.has(name)) steps.push({ what: name, does: "delete", detail: "its pods stop" });
  return steps;
}

function byName({ set, configMaps }: PlannedSet): ReadonlyMap<string, Configured> {
  return new Map((set ? configurationsOf(set, configMaps) : []).map((one) => [nameOf(one.component), one]));
}

interface Sets {
  readonly before: BuildbarnSet | undefined;
  readonly after: BuildbarnSet | undefined;
}

function changes(
  what: string,
  last: Configured,
  next: Configured,
  { before, after }: Sets,
): readonly PlanStep[] {
  const steps: PlanStep[] = [];
  const [old, now] = [last.component.spec, next.component.spec];
  const isStorage = next.component.kind === "BuildbarnStorage";
  if (isStorage) steps.push(...storageSteps(what, last, next));
  const touched = changedFiles(last, next);
  const fields =
    before && after
      ? rollingFields({ set: before, component: last.component }, { set: after, component: next.component })
      : [];
  const causes = [...fields, ...touched];
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

function storageSteps(what: string, last: Configured, next: Configured): readonly PlanStep[] {
  const [before, after] = [last.component as Storage, next.component as Storage];
  const evaluated = ({ configuration }: Configured, version: Version) =>
    checkConfiguration(shardConfiguration(configuration?.files ?? {}, version));
  const flush =
    last.hash !== undefined && last.hash === next.hash
      ? undefined
      : flushOf(evaluated(last, before.spec.version), evaluated(next, after.spec.version));
  const state = reshardingOf(before.status?.resharding) ?? { phase: "Stable", at: layoutOf(before) };
  return [
    ...growthText(before, after).map((detail): PlanStep => ({ what, does: "grow", detail })),
    ...flushText(flush).map((detail): PlanStep => ({ what, does: "flush", detail })),
    ...reshardingSteps(state, after).map((detail): PlanStep => ({ what, does: "reshard", detail })),
  ];
}

/** What happens to the content of shards. */
function flushText(flush: Flush | undefined): readonly string[] {
  if (!flush) return [];
  if (flush.is === "unknown") return [`it is not known which stores would be emptied: ${flush.why}`];
  return flush.stores.map((store) => `${store} is emptied`);
}

/** What happens to the volumes of shards. */
function growthText(before: Storage, after: Storage): readonly string[] {
  const last = new Map(claimTemplates(before).map(({ store, size }) => [store, size]));
  return claimTemplates(after)
    .filter(({ store, size }) => bytes(size) > bytes(last.get(store) ?? size))
    .map(
      ({ store, size }) =>
        `volumes of ${store} grow from ${last.get(store)} to ${size}, if their StorageClass allows it; pods run on`,
    );
}

/** The phases that the state machine goes through, if nothing holds it up. */
function reshardingSteps(from: Resharding, storage: Storage): readonly string[] {
  const { spec } = storage;
  const wanted = layoutOf(storage);
  const hold = milliseconds(spec.resharding.hold, "spec.resharding.hold");
  const lines: string[] = [];
  let state = from;
  for (let now = 0; state.phase !== "Stable" || !isSameLayout(state.at, wanted); now += hold) {
    const counts = shardsOf(state);
    const seen = {
      wanted,
      ready: rings.flatMap((ring) => Array.from({ length: counts[ring] }, (_, number) => ({ ring, number }))),
      leaving: 0,
      clients: [{ name: "client", map: mapText(shardMap(state, "reads")), results: "reads" as const }],
      now,
      hold,
      drainTimeout: 0,
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

/** A layout for people: how many shards, and the rest of it as pods are annotated with it. */
function mapOf(at: Layout): string {
  const text = layoutText(at);
  return text === String(at.shards) ? count(at.shards) : `${count(at.shards)} (${text})`;
}

function phaseText(state: Resharding, hold: string): string {
  const clients = "frontends, browsers and workers";
  switch (state.phase) {
    case "Stable":
      return `Stable: ${mapOf(state.at)}`;
    case "Starting":
      return `Starting: ${startingText(state.from, state.to)}`;
    case "Bridging":
      return `Bridging: frontends and browsers are rolled to both maps, of ${layoutText(state.from)} and of ${mapOf(state.to)}`;
    case "Redirecting":
      return `Redirecting: ${clients} are rolled to both maps, and store results by that of ${mapOf(state.to)}`;
    case "Copying":
      return `Copying: for ${hold}, what is used is copied to its new place`;
    case "Switching":
      return `Switching: ${clients} are rolled to the map of ${mapOf(state.to)}`;
    case "Retiring":
      return `Retiring: ${retiringText(state.from, state.to)}`;
    default:
      return state satisfies never;
  }
}

/** How many pods one layout has that the other has not. */
function surplus(of: Layout, over: Layout): number {
  const [more, less] = [of, over].map((at) => shardsOf({ phase: "Stable", at }));
  return rings.reduce((sum, ring) => sum + Math.max(0, (more?.[ring] ?? 0) - (less?.[ring] ?? 0)), 0);
}

function startingText(from: Layout, to: Layout): string {
  const more = surplus(to, from);
  return more > 0 ? `${count(more)} to start` : "all shards must be ready";
}

function retiringText(from: Layout, to: Layout): string {
  const fewer = surplus(from, to);
  return fewer > 0 ? `${count(fewer)} to stop` : "no shard has to stop";
}
