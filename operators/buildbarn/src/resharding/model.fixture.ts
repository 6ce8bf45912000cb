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
 * the old place last and copies to the new one, and a shard that is down fails whoever needs it.
 */
export class Model {
  /** What was written to the API server, oldest first. The operator forgets all else when it dies. */
  readonly states: Resharding[];
  readonly sets: ClientSet[];
  wanted: number;
  now = 0;
  readonly #shards = new Map<number, ShardStore>();
  readonly #hold: number;
  /** The replicas that the operator last applied. */
  #replicas: number;
  #nextPod = 0;
  #reads = 0;

  constructor(shards: number, hold: number) {
    const map: ShardMap = { is: "single", shards };
    this.states = [{ phase: "Stable", shards }];
    this.wanted = shards;
    this.#replicas = shards;
    this.#hold = hold;
    for (let number = 0; number < shards; number++) this.#start(number);
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
    this.#replicas = shardsOf(this.state);
  }

  /** The operator looks, decides, and stores what it decided. */
  decide(): void {
    const clients = this.sets.flatMap(({ name, results, template, pods }) => [
      { name, map: mapText(template), results },
      ...pods.map((pod) => ({ name: pod.name, map: mapText(pod.map), results })),
    ]);
    const seen: Seen = {
      wanted: this.wanted,
      // Replicas that were not applied yet are not ready, whatever runs.
      ready: this.#replicas === shardsOf(this.state) ? this.#shards.size : 0,
      running: this.#shards.size,
      clients,
      now: this.now,
      hold: this.#hold,
    };
    const next = step(this.state, seen).state;
    if (JSON.stringify(next) !== JSON.stringify(this.state)) this.states.push(next);
  }

  /** A shard that is missing starts, or the last one too many stops. */
  moveShard(): void {
    const { size } = this.#shards;
    if (size < this.#replicas) this.#start(size);
    else if (size > this.#replicas) this.#shards.delete(size - 1);
  }

  /** The controller of a set of clients sees the next state, and writes its template. */
  catchUp(index: number): void {
    const set = this.#set(index);
    set.seen = Math.min(set.seen + 1, this.states.length - 1);
    set.template = shardMap(this.states[set.seen] as Resharding, set.results);
  }

  /** One pod that is behind is told to stop, and its replacement starts; or one that was told ends. */
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

  /** Runs an action through two of the pods. A hit is `hit`; else it is run, and its result stored. */
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

  /** Stores what was run elsewhere, as Bazel does with what it ran itself. */
  upload(action: string, frontendChoice: number): void {
    const { map } = pick(this.#set(0).pods, frontendChoice);
    this.#writeBlob(map, `output of ${action}`);
    this.#writeResult(map, action);
  }

  #set(index: number): ClientSet {
    return this.sets[index % this.sets.length] as ClientSet;
  }

  #start(number: number): void {
    this.#shards.set(number, { blobs: new Set(), results: new Set() });
  }

  #addPod(set: ClientSet): void {
    this.#nextPod += 1;
    set.pods.push({ name: `${set.name}-${this.#nextPod}`, map: set.template, isStopping: false });
  }

  /** @throws LostBlobError if the shard is down, as the real ones' clients fail. */
  #shard(key: string, shards: number): ShardStore {
    const found = this.#shards.get(hash(key) % shards);
    if (!found) throw new LostBlobError(`shard ${hash(key) % shards} of ${shards} is down`);
    return found;
  }

  #findsBlob(map: ShardMap, blob: string): boolean {
    if (map.is === "single") return this.#shard(blob, map.shards).blobs.has(blob);
    const [a, b] = [this.#shard(blob, map.from), this.#shard(blob, map.to)];
    if (a.blobs.has(blob)) b.blobs.add(blob);
    if (b.blobs.has(blob)) a.blobs.add(blob);
    return a.blobs.has(blob);
  }

  #read(map: ShardMap, blob: string): void {
    this.#reads += 1;
    const found =
      map.is === "single" || this.#reads % 2 === 0
        ? this.#findsBlob(map, blob)
        : this.#shard(blob, map.to).blobs.has(blob) || this.#findsBlob(map, blob);
    if (!found) throw new LostBlobError(`${blob} is not found with the map ${mapText(map)}`);
  }

  #writeBlob(map: ShardMap, blob: string): void {
    for (const shards of map.is === "single" ? [map.shards] : [map.from, map.to])
      this.#shard(blob, shards).blobs.add(blob);
  }

  #getResult(map: ShardMap, action: string): boolean {
    if (map.is === "single") return this.#shard(action, map.shards).results.has(action);
    const primary = this.#shard(action, map[map.results]).results;
    const secondary = () => this.#shard(action, map[map.results === "to" ? "from" : "to"]).results;
    if (!primary.has(action) && secondary().has(action)) primary.add(action);
    return primary.has(action);
  }

  #writeResult(map: ShardMap, action: string): void {
    const shards = map.is === "single" ? map.shards : map[map.results];
    this.#shard(action, shards).results.add(action);
  }
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
