import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Checked,
  checkConfiguration,
  commonDocument,
  componentFiles,
  type Document,
  frontendDocument,
  type InternalTls,
  internalTlsDirectory,
  ports,
  runnerDocument,
  schedulerDocument,
  storageDocument,
  type Version,
  workerDocument,
} from "../src/configuration/index.ts";
import { parseMap, type ShardPod } from "../src/resharding/index.ts";
import { lab } from "./lab-test-environment.ts";

const environment = { POD_NAME: "pod", NODE_NAME: "node" };
const blocks = { old: 8, current: 24, spare: 3 };
/** What shards keep, and in how many blocks. */
export const smallStores = {
  cas: { blocks: { ...blocks, size: "32Mi", new: 3 }, index: { size: "1Mi" } },
  ac: { blocks: { ...blocks, size: "16Mi", new: 1 }, index: { size: "1Mi" } },
};
const startMs = 20_000;
/** The one platform of these workers. */
export const platform = [{ name: "OSFamily", value: "linux" }] as const;
const programs = {
  "storage.jsonnet": "bb_storage",
  "frontend.jsonnet": "bb_storage",
  "scheduler.jsonnet": "bb_scheduler",
  "worker.jsonnet": "bb_worker",
  "runner.jsonnet": "bb_runner",
} as const;

type Entry = keyof typeof programs;

interface Pair {
  readonly certificate: string;
  readonly key: string;
}

/** A program that runs. */
export interface Running {
  /** `host:port` of each of its ports, by the number that it has in a pod. */
  readonly addresses: ReadonlyMap<number, string>;
  stop(): Promise<void>;
  /** Ends it at once. A worker without a scheduler would take a minute to stop. */
  kill(): Promise<void>;
}

/** A program that ended before it was well. */
class ProgramEnded extends Error {
  override readonly name = "ProgramEnded";
}

/**
 * Real programs of Buildbarn as processes of this machine, with the configuration that pods have
 * but for their ports and folders: several of them share one machine.
 */
export class Programs implements AsyncDisposable {
  readonly version: Version;
  /** What shards that are started from now on keep. */
  stores = smallStores;
  readonly #tls: InternalTls | undefined;
  readonly #folder = mkdtempSync(join(tmpdir(), "windlass-buildbarn-"));
  readonly #assets = execFileSync(lab, ["assets"], { encoding: "utf8" }).trim();
  readonly #shards = new Map<string, Running>();
  readonly #running = new Set<Running>();
  #frontend: Running | undefined;
  #starts = 0;
  #secrets = 0;

  /**
   * @param tls How they use TLS among themselves. What they show is given by {@link certify}.
   *
   * @default not at all
   */
  constructor(version: Version, tls?: InternalTls) {
    this.version = version;
    this.#tls = tls;
  }

  /**
   * Sets what programs show to each other, as the kubelet does with a Secret: all at once. Those
   * that run read it again.
   */
  certify({ certificate, key }: Pair): void {
    const mounted = this.#certificates();
    mkdirSync(mounted, { recursive: true });
    for (const [name, text] of Object.entries({ "tls.crt": certificate, "tls.key": key })) {
      writeFileSync(join(mounted, `.${name}`), text);
      renameSync(join(mounted, `.${name}`), join(mounted, name));
    }
  }

  /** Sets what programs show that are started from now on. Those that run keep what they have. */
  certifyNext(pair: Pair): void {
    this.#secrets += 1;
    this.certify(pair);
  }

  #certificates(): string {
    return join(this.#folder, `internal-tls-${this.#secrets}`);
  }

  /** Starts shards, with what they kept if they ran before. E.g. `a0` and `b0`. */
  async startShards(...names: readonly string[]): Promise<void> {
    await Promise.all(
      names.map(async (name) => {
        const document = storageDocument(this.version, this.stores, this.#tls);
        const folder = join(this.#folder, name);
        for (const store of ["cas", "ac"])
          mkdirSync(join(folder, `storage-${store}`, "persistent_state"), { recursive: true });
        this.#shards.set(name, await this.#start("storage.jsonnet", document, undefined, folder));
      }),
    );
  }

  /** Stops a shard, as Kubernetes does. Its volume stays. */
  async stopShard(name: string): Promise<void> {
    await this.#shards.get(name)?.stop();
    this.#shards.delete(name);
  }

  /** Stops a shard, and removes its volume. */
  async loseShard(name: string): Promise<void> {
    await this.stopShard(name);
    rmSync(join(this.#folder, name), { recursive: true });
  }

  /** Where a shard is asked. */
  shard(name: string): string {
    return addressOf(this.#shards.get(name), ports.storage);
  }

  /**
   * Starts a frontend with a shard map, as pods are annotated with it, and returns where it is
   * asked.
   */
  async startFrontend(map: string): Promise<string> {
    const routes = [{ instanceNamePrefix: "", address: "127.0.0.1:9" }];
    const document = frontendDocument(this.version, routes, undefined, this.#tls);
    this.#frontend = await this.#start("frontend.jsonnet", document, map);
    return addressOf(this.#frontend, ports.frontend);
  }

  /** Where the scheduler asks the frontend that was started last. */
  get internalWay(): string {
    return addressOf(this.#frontend, ports.frontendInternal);
  }

  /** Starts a scheduler, of the one release that there is, and returns where its queue is read. */
  async startScheduler(): Promise<string> {
    return addressOf(await this.#startScheduler("127.0.0.1:9"), ports.schedulerState);
  }

  /**
   * Starts a scheduler, a frontend, a worker and a runner, and returns where Bazel would ask. Only
   * February 2025 has all of them.
   */
  async startSet(map: string): Promise<string> {
    // Scheduler and frontend ask each other.
    const reserved = new Map(
      await Promise.all(
        [ports.frontend, ports.frontendInternal].map(async (port) => [port, await freeAddress()] as const),
      ),
    );
    const own = reserved.get(this.#tls ? ports.frontendInternal : ports.frontend) ?? "";
    const scheduler = await this.#startScheduler(own);
    const route = { instanceNamePrefix: "", address: addressOf(scheduler, ports.schedulerClients) };
    const frontend = frontendDocument(this.version, [route], undefined, this.#tls);
    await this.#start("frontend.jsonnet", frontend, map, undefined, reserved);
    const folder = join(this.#folder, "pod");
    for (const part of ["build", "cache"]) mkdirSync(join(folder, "worker", part), { recursive: true });
    await this.#start("runner.jsonnet", runnerDocument(), undefined, folder);
    const worker = workerDocument({
      schedulerAddress: addressOf(scheduler, ports.schedulerWorkers),
      tls: this.#tls,
      instanceNamePrefix: "",
      platform: [...platform],
      sizeClass: 0,
      concurrency: 2,
      inputCache: { size: "16Mi", files: 100 },
    });
    await this.#start("worker.jsonnet", worker, map, folder);
    return reserved.get(ports.frontend) ?? "";
  }

  #startScheduler(storageAddress: string): Promise<Running> {
    const document = schedulerDocument({
      version: "2025-02",
      storageAddress,
      queues: [{ instanceNamePrefix: "", platform: [...platform], sizeClasses: [] }],
      defaultTimeout: "120s",
      maximumTimeout: "120s",
      noWorkersTimeout: "120s",
      tls: this.#tls,
    });
    return this.#start("scheduler.jsonnet", document);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The last one first: a worker that has lost its scheduler takes a minute and more to stop.
    for (const one of [...this.#running].toReversed()) await one.stop();
    rmSync(this.#folder, { recursive: true });
  }

  async #start(
    entry: Entry,
    document: Document,
    map?: string,
    folder?: string,
    reserved?: ReadonlyMap<number, string>,
  ): Promise<Running> {
    return await this.#run(entry, this.evaluated(entry, document, map), folder, reserved);
  }

  /** What a program would make of its files, with a shard map as pods are annotated with it. */
  evaluated(entry: Entry, document: Document, map?: string): unknown {
    const parsed = map === undefined ? undefined : parseMap(map);
    const shards = parsed && {
      map: parsed,
      // No test asks those that do not run.
      addressOf: ({ ring, number }: ShardPod) =>
        this.#shards.has(`${ring}${number}`) ? this.shard(`${ring}${number}`) : "127.0.0.1:9",
      tls: this.#tls,
    };
    const version = this.versionOf(entry);
    const files = componentFiles({
      common: commonDocument({ version, ...(shards && { shards }), browserUrl: "http://browser" }),
      documents: { [entry]: document },
      overrides: undefined,
    });
    return jsonOf(checkConfiguration({ program: programs[entry], version, files, entry, environment }));
  }

  /** The operator's check of an evaluated configuration. */
  check(entry: Entry, json: unknown): Checked {
    const files = { [entry]: JSON.stringify(json) };
    return checkConfiguration({
      program: programs[entry],
      version: this.versionOf(entry),
      files,
      entry,
      environment,
    });
  }

  /** The release of a program: there is one of those that run actions. */
  versionOf(entry: Entry): Version {
    return programs[entry] === "bb_storage" ? this.version : "2025-02";
  }

  /** What a program wrote last that does not start with a configuration; undefined if it does. */
  async refusal(entry: Entry, json: unknown): Promise<string | undefined> {
    const folder = mkdtempSync(join(this.#folder, "tried-"));
    for (const one of [
      "storage-cas/persistent_state",
      "storage-ac/persistent_state",
      "worker/build",
      "worker/cache",
    ])
      mkdirSync(join(folder, one), { recursive: true });
    try {
      const running = await this.#run(entry, json, folder);
      await running.kill();
      return undefined;
    } catch (error) {
      if (error instanceof ProgramEnded) return error.message;
      throw error;
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  async #run(
    entry: Entry,
    json: unknown,
    folder?: string,
    reserved?: ReadonlyMap<number, string>,
  ): Promise<Running> {
    const program = programs[entry];
    const configuration = JSON.stringify(json)
      .replaceAll(`"${internalTlsDirectory}/`, `"${this.#certificates()}/`)
      // A minute is long for a test.
      .replaceAll('"refreshInterval":"60s"', '"refreshInterval":"1s"');
    const { text, addresses } = await elsewhere(configuration, folder, reserved);
    this.#starts += 1;
    const file = join(this.#folder, `${this.#starts}-${entry}`);
    writeFileSync(file, text);
    const binary = join(this.#assets, this.versionOf(entry) === "2026-08" ? "bb_storage-2026" : program);
    const child = spawn(binary, [file], { stdio: ["ignore", "ignore", "pipe"], env: environment });
    const running: Running = {
      addresses,
      stop: async () => {
        this.#running.delete(running);
        await ended(child, "SIGTERM");
      },
      kill: async () => {
        this.#running.delete(running);
        await ended(child, "SIGKILL");
      },
    };
    this.#running.add(running);
    const diagnostics = program === "bb_runner" ? ports.runnerDiagnostics : ports.diagnostics;
    await healthy(child, addresses.get(diagnostics));
    return running;
  }
}

function addressOf(running: Running | undefined, port: number): string {
  const found = running?.addresses.get(port);
  if (found === undefined) throw new Error(`nothing listens at ${port}`);
  return found;
}

function jsonOf(checked: Checked): unknown {
  if (checked.is !== "valid") throw new Error(JSON.stringify(checked));
  return checked.json;
}

/** The same configuration with free ports of this machine, and its stores in a folder. */
async function elsewhere(text: string, folder = "", reserved?: ReadonlyMap<number, string>) {
  const addresses = new Map<number, string>();
  let moved = text
    .replaceAll('"/storage-', `"${folder}/storage-`)
    .replaceAll('"/worker/', `"${folder}/worker/`)
    .replaceAll('"unix:///worker/', `"unix://${folder}/worker/`);
  for (const port of new Set([...text.matchAll(/":(\d+)"/g)].map(([, number]) => Number(number)))) {
    const address = reserved?.get(port) ?? (await freeAddress());
    addresses.set(port, address);
    moved = moved.replaceAll(`":${port}"`, `"${address}"`);
  }
  return { text: moved, addresses };
}

async function freeAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return `127.0.0.1:${typeof address === "object" ? address?.port : address}`;
}

/**
 * Resolves once a program reports that it has started.
 *
 * @throws with what it wrote last if it ends before.
 */
async function healthy(child: ChildProcess, address: string | undefined): Promise<void> {
  let words = "";
  child.stderr?.on("data", (part: Buffer) => {
    words = `${words}${String(part)}`.slice(-4_000);
  });
  const deadline = Date.now() + startMs;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new ProgramEnded(`the program ended: ${words}`);
    try {
      if (address !== undefined && (await fetch(`http://${address}/-/healthy`)).ok) return;
    } catch {
      // It does not listen yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`the program is not healthy after ${startMs} ms: ${words}`);
}

async function ended(child: ChildProcess, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  await exit;
}
