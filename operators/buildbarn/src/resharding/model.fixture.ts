import { type Layout, rings, ringsOf, type ShardPod } from "./layout.ts";
import {
  mapText,
  type Resharding,
  type ResultUse,
  type Seen,
  type ShardMap,
  shardMap,
  shardsOf,
  step,
} from "./state.ts";

/** What a shard keeps. */
interface ShardStore {
  readonly blobs: Set<string>;
  readonly results: Set<string>;
}

/** A pod that asks the shards. It has one map for all its life. */
interface ClientPod {
  readonly name: string;
  readonly map: ShardMap;
  isStopping: boolean;
}

/** A Deployment of clients. Its template goes by what its controller has seen of the state. */
interface ClientSet {
  readonly name: string;
  readonly results: ResultUse;
  template: ShardMap;
  /** Which of the stored states its controller has seen. */
  seen: number;
  readonly pods: ClientPod[];
}

/** A build failed: a blob that one client wrote was not found by another. */
export class LostBlobError extends Error {
  override readonly name = "LostBlobError";
}

/**
 * Shards, their clients and the operator, each going at its own pace. Stores and maps do what was
 * seen of the real programs: a mirror writes to both and reads from either side, a fallback reads
 * the old place last and copies to the new one, and a shard that is down fails the clients that
 * need it.
 */
export class Model {
  /**
   * What was written to the API server, oldest first. The operator forgets everything else when it
   * dies.
   */
  readonly states: Resharding[];
  readonly sets: ClientSet[];
  wanted: Layout;
  now = 0;
  drainTimeout = Number.POSITIVE_INFINITY;
  /** By ring and number, e.g. `a0`. */
  readonly #shards = new Map<string, ShardStore>();
  readonly #lost = new Set<string>();
  readonly #hold: number;
  /** How many shards the operator last applied. */
  #applied: ReturnType<typeof shardsOf>;
  #nextPod = 0;
  #reads = 0;

  constructor(at: Layout, hold: number) {
    const map: ShardMap = { is: "single", at };
    this.states = [{ phase: "Stable", at }];
    this.wanted = at;
    this.#applied = shardsOf(this.state);
    this.#hold = hold;
    for (const { ring, number } of podsIn(this.#applied)) this.#start(`${ring}${number}`);
    this.sets = (
      [
        ["frontend", "reads"],
        ["worker", "writes"],
      ] as const
    ).map(([name, results]) => ({ name, results, template: map, seen: 0, pods: [] }));
    for (const set of this.sets) for (const _ of [1, 2]) this.#addPod(set);
  }

  get state(): Resharding {
    return this.states.at(-1) as Resharding;
  }

  /** The operator applies the StatefulSet of the stored state. */
  applyShards(): void {
    this.#applied = shardsOf(this.state);
  }

  /** The operator looks, decides, and stores what it decided. */
  decide(): void {
    const clients = this.sets.flatMap(({ name, results, template, pods }) => [
      { name, map: mapText(template), results },
      ...pods.map((pod) => ({ name: pod.name, map: mapText(pod.map), results })),
    ]);
    const counts = shardsOf(this.state);
    const places = podsIn(counts).map(({ ring, number }) => `${ring}${number}`);
    // What was not applied yet is not ready, whatever runs.
    const isApplied = rings.every((ring) => this.#applied[ring] === counts[ring]);
    const seen: Seen = {
      wanted: this.wanted,
      ready: isApplied
        ? podsIn(counts).filter(({ ring, number }) => this.#shards.has(`${ring}${number}`))
        : [],
      leaving: [...this.#shards.keys()].filter((name) => !places.includes(name)).length,
      clients,
      now: this.now,
      hold: this.#hold,
      drainTimeout: this.drainTimeout,
    };
    const next = step(this.state, seen).state;
    if (JSON.stringify(next) !== JSON.stringify(this.state)) this.states.push(next);
  }

  /** A shard that is missing starts, or the last one too many stops. */
  moveShard(): void {
    const places = podsIn(this.#applied).map(({ ring, number }) => `${ring}${number}`);
    const missing = places.find((name) => !this.#shards.has(name) && !this.#lost.has(name));
    const surplus = [...this.#shards.keys()].findLast((name) => !places.includes(name));
    if (missing !== undefined) this.#start(missing);
    else if (surplus !== undefined) this.#shards.delete(surplus);
  }

  /** A shard's pod goes, with its volume, and another one cannot start. */
  loseShard(number: number): void {
    this.#shards.delete(`a${number}`);
    this.#lost.add(`a${number}`);
  }

  /** The controller of a set of clients sees the next state, and writes its template. */
  catchUp(index: number): void {
    const set = this.#set(index);
    set.seen = Math.min(set.seen + 1, this.states.length - 1);
    set.template = shardMap(this.states[set.seen] as Resharding, set.results);
  }

  /**
   * One pod that is behind is terminated, and its replacement starts; or one that was terminated
   * ends.
   */
  rollPod(index: number): void {
    const set = this.#set(index);
    const behind = set.pods.find((pod) => !pod.isStopping && mapText(pod.map) !== mapText(set.template));
    if (behind) {
      behind.isStopping = true;
      this.#addPod(set);
      return;
    }
    const stopping = set.pods.findIndex((pod) => pod.isStopping);
    if (stopping >= 0) set.pods.splice(stopping, 1);
  }

  /**
   * Runs an action through two of the pods. A hit is `hit`; else it is run, and its result stored.
   */
  build(action: string, frontendChoice: number, workerChoice: number): "hit" | "miss" {
    const frontend = pick(this.#set(0).pods, frontendChoice);
    // Pods that are stopping finish what they have begun.
    const worker = pick(this.#set(1).pods, workerChoice);
    const output = `output of ${action}`;
    if (this.#getResult(frontend.map, action) && this.#findsBlob(frontend.map, output)) {
      this.#read(frontend.map, output);
      return "hit";
    }
    const input = `input of ${action}`;
    this.#writeBlob(frontend.map, input);
    this.#read(worker.map, input);
    this.#writeBlob(worker.map, output);
    this.#writeResult(worker.map, action);
    // Bazel fetches the output through the frontend.
    this.#read(frontend.map, output);
    return "miss";
  }

  /** The shards that a hit of an action needs. */
  needs(action: string, at: Layout): ReadonlySet<number> {
    return new Set([action, `output of ${action}`].map((key) => placeOf(key, at)));
  }

  /** Stores what was run elsewhere, as Bazel does with what it ran itself. */
  upload(action: string, frontendChoice: number): void {
    const { map } = pick(this.#set(0).pods, frontendChoice);
    this.#writeBlob(map, `output of ${action}`);
    this.#writeResult(map, action);
  }

  #set(index: number): ClientSet {
    return this.sets[index % this.sets.length] as ClientSet;
  }

  #start(name: string): void {
    this.#shards.set(name, { blobs: new Set(), results: new Set() });
  }

  #addPod(set: ClientSet): void {
    this.#nextPod += 1;
    set.pods.push({ name: `${set.name}-${this.#nextPod}`, map: set.template, isStopping: false });
  }

  /**
   * The shard of a key, and its mirror if it has one.
   *
   * @throws LostBlobError if one is down, as the real ones' clients fail.
   */
  #stores(key: string, at: Layout): readonly ShardStore[] {
    const number = placeOf(key, at);
    return ringsOf(at).map((ring) => {
      const found = this.#shards.get(`${ring}${number}`);
      if (!found) throw new LostBlobError(`shard ${ring}${number} is down`);
      return found;
    });
  }

  /**
   * Reads from a shard, or from either of a pair in turn: one that lacks it gets it from the other.
   */
  #get(kind: keyof ShardStore, key: string, at: Layout): boolean {
    this.#reads += 1;
    const stores = this.#stores(key, at);
    const first = stores[this.#reads % stores.length] as ShardStore;
    const isThere = stores.some((store) => store[kind].has(key));
    if (isThere) first[kind].add(key);
    return isThere;
  }

  /** Looks for a blob that is needed. Of a pair both are asked, and one that lacks it gets it. */
  #has(blob: string, at: Layout): boolean {
    const stores = this.#stores(blob, at);
    const isThere = stores.some(({ blobs }) => blobs.has(blob));
    if (isThere) for (const { blobs } of stores) blobs.add(blob);
    return isThere;
  }

  #add(kind: keyof ShardStore, key: string, at: Layout): void {
    for (const store of this.#stores(key, at)) store[kind].add(key);
  }

  #findsBlob(map: ShardMap, blob: string): boolean {
    if (map.is === "single") return this.#has(blob, map.at);
    const [inFrom, inTo] = [this.#has(blob, map.from), this.#has(blob, map.to)];
    if (inFrom || inTo) this.#writeBlob(map, blob);
    return inFrom || inTo;
  }

  #read(map: ShardMap, blob: string): void {
    if (!this.#getBlob(map, blob))
      throw new LostBlobError(`${blob} is not found with the map ${mapText(map)}`);
  }

  #getBlob(map: ShardMap, blob: string): boolean {
    if (map.is === "single") return this.#get("blobs", blob, map.at);
    this.#reads += 1;
    return (this.#reads % 2 === 0 && this.#get("blobs", blob, map.to)) || this.#findsBlob(map, blob);
  }

  #writeBlob(map: ShardMap, blob: string): void {
    for (const at of map.is === "single" ? [map.at] : [map.from, map.to]) this.#add("blobs", blob, at);
  }

  #getResult(map: ShardMap, action: string): boolean {
    if (map.is === "single") return this.#get("results", action, map.at);
    const [primary, secondary] = map.results === "to" ? [map.to, map.from] : [map.from, map.to];
    if (this.#get("results", action, primary)) return true;
    const isThere = this.#get("results", action, secondary);
    if (isThere) this.#add("results", action, primary);
    return isThere;
  }

  #writeResult(map: ShardMap, action: string): void {
    this.#add("results", action, map.is === "single" ? map.at : map[map.results]);
  }
}

/**
 * As the release of 2025 does: what falls on a drained shard is placed again, and everything else
 * stays.
 */
function placeOf(key: string, at: Layout): number {
  const weightOf = (number: number) => at.weights?.[number] ?? 1;
  let total = 0;
  for (let number = 0; number < at.shards; number++) total += weightOf(number);
  for (let attempt = 0; ; attempt++) {
    let slot = hash(`${key}/${attempt}`) % total;
    let number = 0;
    for (; slot >= weightOf(number); number++) slot -= weightOf(number);
    if (!at.drained?.includes(number)) return number;
  }
}

function podsIn(counts: ReturnType<typeof shardsOf>): readonly ShardPod[] {
  return rings.flatMap((ring) => Array.from({ length: counts[ring] }, (_, number) => ({ ring, number })));
}

function pick<T>(items: readonly T[], choice: number): T {
  return items[choice % items.length] as T;
}

/** FNV-1a, as good as any. */
function hash(text: string): number {
  let value = 2_166_136_261;
  for (const character of text) {
    value ^= character.codePointAt(0) ?? 0;
    value = Math.imul(value, 16_777_619) >>> 0;
  }
  return value;
}
