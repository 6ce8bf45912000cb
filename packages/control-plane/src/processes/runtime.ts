import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { uuid } from "@windlass/clock";
import type { Container, Node, Pod } from "@windlass/kinds/builtin";
import { requestToken, type Tokens } from "../auth/index.ts";
import type { EventText } from "../controllers/events.ts";
import { type ControllerDependencies, type Running, startLoop } from "../controllers/loop.ts";
import { allStored, endpointSliceBucket, podBucket, serviceBucket, stored } from "../controllers/objects.ts";
import { within } from "../controllers/ownership.ts";
import { textOf } from "../json.ts";
import { namespaceOf, valueAt } from "../json-fields.ts";
import { type Stored, typed } from "../storage/typed.ts";
import { Subscribers } from "../subscribers.ts";
import { ContainerRun, StartPostponed } from "./container-run.ts";
import { environmentOf, expand, type Finder } from "./environment.ts";
import { findNamespaceTool, type NamespaceTool, prepareView } from "./file-view.ts";
import { hostsText } from "./hosts.ts";
import type { ContainerPlace } from "./launch.ts";
import { listenOnPodAddress } from "./listen-on-pod-address.ts";
import type { Observed } from "./observed.ts";
import { defaultMost, type ProcessOptions, programFor, variables } from "./options.ts";
import { PodFiles } from "./pod-files.ts";
import { Reaper } from "./reaper.ts";

/** What a node needs to run real processes. */
export interface RuntimeDependencies extends ControllerDependencies {
  readonly tokens: Tokens;
  /** Where the API server listens, for programs in pods. */
  readonly apiServer: () => Promise<{ readonly host: string; readonly port: number }>;
  /** Whether pods have addresses of their own. */
  readonly ownAddresses: boolean;
}

/** Who a run is about. */
export interface RunOf {
  readonly pod: Stored<Pod>;
  readonly podAddress: string;
  readonly hostAddress: string;
  readonly container: Container;
  readonly part: "initContainers" | "containers";
  /** How often it was started before. */
  readonly attempt: number;
}

interface PodState {
  pod: Stored<Pod>;
  readonly key: string;
  readonly podAddress: string;
  readonly files: PodFiles;
  readonly runs: Map<
    string,
    { readonly attempt: number; readonly run: ContainerRun; readonly previous?: ContainerRun }
  >;
  readonly events: EventText[];
  cancelRotation: () => void;
}

/** Tokens are renewed this long before they would be needed. */
const rotateAfterMs = 40 * 60_000;

/** Runs the containers of pods as processes of this machine. */
export class ProcessRuntime {
  /** Notified with the key of a pod whose containers changed. */
  readonly changes = new Subscribers<string>();
  readonly #deps: RuntimeDependencies;
  readonly #options: ProcessOptions;
  readonly #owner: string;
  readonly #reaper: Reaper;
  readonly #pods = new Map<string, PodState>();
  readonly #watching: Running;
  #directory: Promise<string> | undefined;
  #tool: Promise<NamespaceTool> | undefined;
  #starting = 0;
  #closed = false;

  constructor(deps: RuntimeDependencies, options: ProcessOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#owner = uuid(deps.registry.random);
    this.#reaper = new Reaper(this.#owner, this.#base);
    this.#watching = this.#follow();
  }

  /** Whether nothing is about to start. */
  get idle(): boolean {
    return this.#starting === 0 && this.#watching.idle;
  }

  /** Why a container's image is not there; undefined if there is something to run for it. */
  imageFault({ image = "", command = [] }: Container): string | undefined {
    if (command.length > 0) return undefined;
    if (programFor(this.#options, image)) return undefined;
    return `nothing is known to run for image "${image}": give the container a command, or say what the image runs with processes: { images: { ${JSON.stringify(image)}: { command: [...] } } } or --image '${image}=COMMAND'`;
  }

  /** What is known of a run. */
  observe(pod: Stored<Pod>, container: string, attempt: number): Observed {
    const known = this.#pods.get(pod.metadata.uid)?.runs.get(container);
    return known?.attempt === attempt ? known.run.observed : { at: "absent" };
  }

  /** What has happened since it was last asked. */
  takeEvents(pod: Stored<Pod>): EventText[] {
    return this.#pods.get(pod.metadata.uid)?.events.splice(0) ?? [];
  }

  /** Starts a container, unless this very run of it was started already and not held back. */
  start(of: RunOf): void {
    if (this.#closed) return;
    const { pod, container, attempt } = of;
    const state = this.#stateOf(of);
    const { name } = container;
    const before = state.runs.get(name);
    if (before?.attempt === attempt && !before.run.mayTryAgain) return;
    const run = new ContainerRun({
      clock: this.#deps.registry.clock,
      reaper: this.#reaper,
      container,
      part: of.part,
      podAddress: of.podAddress,
      graceMs: Number(pod.spec.terminationGracePeriodSeconds ?? 30) * 1_000,
      place: () => this.#place(state, of),
      terminationMessage: () => state.files.terminationMessage(`${name}-${attempt}`),
      changed: () => this.changes.notify(state.key),
      tell: (text) => state.events.push(text),
    });
    const previous = before && before.attempt !== attempt ? before.run : before?.previous;
    state.runs.set(name, { attempt, run, ...(previous ? { previous } : {}) });
    this.#starting++;
    void run
      .start()
      .catch((error: unknown) => this.#deps.onPanic(error, `starting ${state.key}/${name}`))
      .finally(() => {
        this.#starting--;
        this.changes.notify(state.key);
      });
  }

  /** Whether any process of a pod is left. */
  isAlive(pod: Stored<Pod>): boolean {
    const state = this.#pods.get(pod.metadata.uid);
    return state !== undefined && [...state.runs.values()].some(({ run }) => run.isAlive);
  }

  /**
   * Asks the containers of a pod to end. Those that go on beside the others end after them.
   *
   * @param graceMs after which they are killed
   * @returns the names of those that had not been asked before
   */
  stop(pod: Stored<Pod>, graceMs: number): string[] {
    const state = this.#pods.get(pod.metadata.uid);
    if (!state) return [];
    const sidecars = new Set(
      (pod.spec.initContainers ?? [])
        .filter(({ restartPolicy }) => restartPolicy === "Always")
        .map(({ name }) => name),
    );
    const alive = [...state.runs].filter(([, { run }]) => run.isAlive);
    const first = alive.filter(([name]) => !sidecars.has(name));
    return (first.length > 0 ? first : alive).flatMap(([name, { run }]) => (run.stop(graceMs) ? [name] : []));
  }

  /** Asks one container to end. @returns whether it had not been asked before */
  stopContainer(pod: Stored<Pod>, container: string, graceMs: number): boolean {
    return this.#pods.get(pod.metadata.uid)?.runs.get(container)?.run.stop(graceMs) ?? false;
  }

  /** Ends what is left of a pod at once, and forgets it. */
  drop(uid: string): void {
    const state = this.#pods.get(uid);
    if (!state) return;
    this.#pods.delete(uid);
    state.cancelRotation();
    for (const { run } of state.runs.values()) run.kill();
    const alive = [...state.runs.values()].filter(({ run }) => run.isAlive);
    const gone = Promise.all(alive.map(({ run }) => run.ended));
    void gone
      .then(() => state.files.remove())
      .catch((error: unknown) => this.#deps.onPanic(error, `removing the files of ${state.key}`));
  }

  /** A run of a container: the one that goes on or was the last, or the one before. */
  runOf(
    pod: Stored<Pod>,
    container: string,
    which: "latest" | "previous" = "latest",
  ): ContainerRun | undefined {
    const known = this.#pods.get(pod.metadata.uid)?.runs.get(container);
    return which === "latest" ? known?.run : known?.previous;
  }

  /** Ends everything. Resolves once nothing is left. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#watching.stop();
    const runs = [...this.#pods.values()].flatMap(({ runs }) => [...runs.values()].map(({ run }) => run));
    for (const { cancelRotation } of this.#pods.values()) cancelRotation();
    for (const run of runs) run.kill();
    await Promise.all(runs.filter(({ isAlive }) => isAlive).map(({ ended }) => ended));
    await Promise.all([...this.#pods.values()].map(({ files }) => files.remove()));
    this.#pods.clear();
    await this.#reaper.close();
    const directory = await this.#directory;
    if (directory !== undefined) await rm(directory, { recursive: true, force: true });
  }

  #stateOf({ pod, podAddress, hostAddress }: RunOf): PodState {
    const { uid, name } = pod.metadata;
    const known = this.#pods.get(uid);
    if (known) {
      known.pod = pod;
      return known;
    }
    this.#directory ??= this.#makeDirectory();
    const base = this.#base;
    const state: PodState = {
      pod,
      key: `${namespaceOf(pod)}/${name}`,
      podAddress,
      files: new PodFiles(join(base, "pods", uid), join(base, "claims", namespaceOf(pod)), (now) => ({
        pod: now,
        podAddress,
        hostAddress,
        allocatable: this.#allocatable(now),
        find: this.#finder(now),
        token: (wish) => this.#token(now, wish),
      })),
      runs: new Map(),
      events: [],
      cancelRotation: () => undefined,
    };
    this.#pods.set(uid, state);
    this.#rotate(state);
    return state;
  }

  get #base(): string {
    return join(this.#options.directory ?? tmpdir(), `windlass-${this.#owner}`);
  }

  async #makeDirectory(): Promise<string> {
    const base = this.#base;
    await mkdir(base, { recursive: true, mode: 0o700 });
    await writeFile(join(base, "listen-on-pod-address.cjs"), listenOnPodAddress);
    return base;
  }

  #rotate(state: PodState): void {
    state.cancelRotation = this.#deps.registry.clock.schedule(rotateAfterMs, () => {
      void this.#refresh(state);
      this.#rotate(state);
    });
  }

  async #refresh(state: PodState): Promise<void> {
    try {
      const now = stored(this.#deps.registry, podBucket, state.key);
      await state.files.refresh(now?.metadata.uid === state.pod.metadata.uid ? now : state.pod);
    } catch (error) {
      state.events.push({ type: "Warning", reason: "FailedMount", message: String(error) });
    }
  }

  /** Keeps the files of pods in step with the objects that they are made from. */
  #follow(): Running {
    const podsIn = (namespace: string) =>
      [...this.#pods].filter(([, { pod }]) => namespaceOf(pod) === namespace).map(([uid]) => `files ${uid}`);
    const hosts = () => [...this.#pods.keys()].map((uid) => `hosts ${uid}`);
    return startLoop(this.#deps, {
      name: "volumes",
      watches: {
        configmaps: ({ entry }) => podsIn(namespaceOf(entry.object)),
        secrets: ({ entry }) => podsIn(namespaceOf(entry.object)),
        services: hosts,
        [endpointSliceBucket.bucket]: hosts,
      },
      reconcile: async (key) => {
        const [what, uid = ""] = key.split(" ");
        const state = this.#pods.get(uid);
        if (state) await (what === "hosts" ? this.#writeHosts(state) : this.#refresh(state));
        return undefined;
      },
    });
  }

  async #writeHosts({ pod, podAddress, files }: PodState): Promise<void> {
    const { registry } = this.#deps;
    const services = allStored(registry, serviceBucket);
    const slices = allStored(registry, endpointSliceBucket);
    await files.setHosts(hostsText({ pod, podAddress, services, slices }));
  }

  /** @throws StartPostponed */
  async #place(
    state: PodState,
    of: RunOf,
  ): Promise<{ readonly place: ContainerPlace; readonly command: readonly string[] }> {
    const { pod, container, attempt } = of;
    const { most = defaultMost } = this.#options;
    const alive = [...this.#pods.values()]
      .flatMap(({ runs }) => [...runs.values()])
      .filter(({ run }) => run.isAlive);
    if (alive.length > most) {
      throw new StartPostponed(
        "CreateContainerError",
        `the most processes run already: ${most}, as processes.most says`,
      );
    }
    await this.#directory;
    this.#reaper.start();
    await state.files.refresh(pod);
    await this.#writeHosts(state);
    const { name, image = "" } = container;
    const program = programFor(this.#options, image);
    const env = await this.#environment(of, `${pod.metadata.uid}/${name}/${attempt}`, state);
    const known = (variable: string) => env.get(variable);
    const texts = (list: readonly string[] = []) => list.map((text) => expand(text, known));
    const own = texts(container.command);
    const command =
      own.length > 0
        ? [...own, ...texts(container.args)]
        : [...texts(program?.command), ...texts(container.args ?? program?.args)];
    const directory = container.workingDir || program?.workingDir || process.cwd();
    const run = `${name}-${attempt}`;
    const { required, optional } = await state.files.mountsFor(pod, container, run, env);
    const mounts = [...required, ...optional];
    if (this.#options.mounts === "variable") {
      env.set(variables.root, await state.files.linked(run, mounts));
      return { place: { env, directory, mounts: [], view: undefined }, command };
    }
    const tool = await this.#findTool();
    if (tool.at === "missing") {
      if (required.length > 0) {
        throw new StartPostponed(
          "CreateContainerError",
          `volumes cannot be put at their paths, as this machine allows no mounts: ${tool.why}. With processes: { mounts: "variable" } they are below the directory that ${variables.root} names`,
        );
      }
      env.set(variables.root, await state.files.linked(run, mounts));
      return { place: { env, directory, mounts: [], view: undefined }, command };
    }
    const views = join(state.files.directory, "views");
    await mkdir(views, { recursive: true });
    const files = await prepareView(await mkdtemp(join(views, `${run}-`)), mounts);
    return { place: { env, directory, mounts, view: { tool: tool.command, files } }, command };
  }

  #findTool(): Promise<NamespaceTool> {
    this.#tool ??= findNamespaceTool(this.#base);
    return this.#tool;
  }

  async #environment(of: RunOf, mark: string, state: PodState): Promise<Map<string, string>> {
    const { pod, container, podAddress, hostAddress } = of;
    const { host, port } = await this.#deps.apiServer();
    const program = programFor(this.#options, container.image ?? "");
    const owned = new Map([
      [variables.podAddress, podAddress],
      [variables.owner, this.#owner],
      [variables.container, mark],
    ]);
    const base = new Map([
      ["PATH", process.env.PATH ?? "/usr/local/bin:/usr/bin:/bin"],
      ["HOME", join(state.files.directory, "home")],
      ...owned,
    ]);
    for (const [name, text] of Object.entries(program?.env ?? {})) {
      base.set(
        name,
        expand(text, (known) => base.get(known)),
      );
    }
    const env = environmentOf({
      pod,
      container,
      podAddress,
      hostAddress,
      allocatable: this.#allocatable(pod),
      find: this.#finder(pod),
      services: [...within(this.#deps.registry, serviceBucket, namespaceOf(pod))],
      apiServer: { host, port: String(port) },
      base,
    });
    for (const [name, value] of owned) env.set(name, value);
    if (this.#deps.ownAddresses && pod.spec.hostNetwork !== true) {
      const own = env.get("NODE_OPTIONS");
      const required = `--require "${join(this.#base, "listen-on-pod-address.cjs")}"`;
      env.set("NODE_OPTIONS", own === undefined ? required : `${own} ${required}`);
    }
    return env;
  }

  #allocatable(pod: Stored<Pod>): Readonly<Record<string, string>> {
    const node = this.#deps.registry.store.get("nodes", pod.spec.nodeName ?? "")?.object;
    return (node && typed<Node>(node).status?.allocatable) ?? {};
  }

  #finder(pod: Stored<Pod>): Finder {
    const { registry } = this.#deps;
    return <T>(bucket: string, name: string) =>
      stored<T>(registry, { bucket }, `${namespaceOf(pod)}/${name}`);
  }

  async #token(
    pod: Stored<Pod>,
    { audience, expirationSeconds }: { readonly audience: string; readonly expirationSeconds: number },
  ): Promise<string> {
    const { registry, tokens } = this.#deps;
    const account = pod.spec.serviceAccountName || "default";
    const found = registry.store.get("serviceaccounts", `${namespaceOf(pod)}/${account}`)?.object;
    if (!found) throw new Error(`serviceaccounts "${account}" not found`);
    const { name, uid } = pod.metadata;
    const wish = {
      spec: {
        audiences: audience === "" ? [] : [audience],
        expirationSeconds,
        boundObjectRef: { kind: "Pod", apiVersion: "v1", name, uid },
      },
    };
    const issued = await requestToken(wish, found, { tokens, clock: registry.clock });
    return textOf(valueAt(issued, "status", "token"));
  }
}
