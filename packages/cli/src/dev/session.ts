import { glob, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  type AnyKind,
  ApiError,
  applyManifest,
  isForbidden,
  kindOfManifest,
  type Manifest,
  TransportError,
} from "@windlass/client";
import type { CrdManifest } from "@windlass/runtime";
import { loadAll, YAMLException } from "js-yaml";
import { CommandError } from "../errors.ts";
import { explainSystemError } from "../system-error.ts";
import { readDefinitions } from "./definitions.ts";
import { isReady } from "./describe.ts";
import type { DevCluster, Say } from "./dev-cluster.ts";
import { Descendants, follow, type Relative, retryMs } from "./follow.ts";
import { installDefinition } from "./install-definition.ts";
import { readLogLine } from "./log-line.ts";
import { OperatorProcess } from "./operator-process.ts";
import { becomesReady } from "./readiness.ts";
import { watchTree } from "./watch-tree.ts";
import type { WebhooksBefore } from "./webhooks-before.ts";

/** Where the parts of an operator are. */
export interface Project {
  /** The program that runs it. */
  readonly main: string;
  /** The module that exports its kinds. */
  readonly module: string;
  /** The folder of objects to begin with. It need not be there. */
  readonly samples: string;
}

/** What a session works with. */
export interface DevParts {
  readonly project: Project;
  readonly cluster: DevCluster;
  /** The variables of the terminal. The operator gets them too, beneath those of the cluster. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whom the cluster calls, to be put back at the end. @default it goes with the session */
  readonly webhooksBefore?: WebhooksBefore;
  readonly say: Say;
  /** Aborted to end it. */
  readonly signal: AbortSignal;
}

/** How long after it ended an operator is started again; the pause doubles up to the longest. */
const firstPauseMs = 1_000;
const longestPauseMs = 30_000;

/** Editors write a file in several steps, and tools write several files: that is one change. */
const settleMs = 50;

/**
 * Compiled code is kept between runs: most of it does not change, and it is a third of the time to
 * start.
 */
const compiled = { NODE_COMPILE_CACHE: join(tmpdir(), "node-compile-cache") };

/**
 * Levels of the log that are shown. What the runtime says at `info` can be seen in what happens;
 * what the user's code says cannot.
 */
const loud = new Set(["warn", "error", "fatal"]);

/** An operator that runs on a cluster while its sources change. Whatever happens is told. */
export class DevSession {
  readonly #parts: DevParts;
  readonly #say: Say;
  /** Aborted at the end of the session, whatever ends it: nothing that watches may outlive it. */
  readonly #end = new AbortController();
  readonly #signal: AbortSignal;
  /** What the operator's processes find in their environment. */
  readonly #env: NodeJS.ProcessEnv;
  /** The kinds that are shown, each with what ends that. */
  readonly #followed = new Map<string, { readonly kind: AnyKind; readonly stop: AbortController }>();
  readonly #descendants = new Descendants();
  readonly #hidden: string[] = [];
  readonly #unready = new Set<string>();
  readonly #ready = Promise.withResolvers<void>();
  readonly #broken = Promise.withResolvers<never>();
  #operator: OperatorProcess | undefined;
  /** Aborted when there is a change, so that nobody waits for what is out of date. */
  #newest = new AbortController();
  #areSamplesApplied = false;
  #areMetricsTold = false;
  #isRecorded = false;
  /** Whether the server has answered. One that never did is not waited for. */
  #isConnected = false;
  #turn: Promise<void> = Promise.resolve();
  /** Until an operator that ended by itself is started again. */
  #pauseMs = firstPauseMs;

  constructor(parts: DevParts) {
    this.#parts = parts;
    this.#say = parts.say;
    this.#signal = AbortSignal.any([parts.signal, this.#end.signal]);
    this.#env = { ...compiled, ...parts.env, ...parts.cluster.env };
    // Not everyone asks.
    this.#ready.promise.catch(() => undefined);
  }

  /**
   * Resolves once every sample is Ready. Rejects if the operator could not be started, or ended.
   */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Runs until it is aborted. */
  async run(): Promise<void> {
    const { samples, main } = this.#parts.project;
    const { promise: aborted, resolve } = Promise.withResolvers<void>();
    this.#signal.addEventListener("abort", () => resolve(), { once: true });
    if (this.#signal.aborted) resolve();
    for (const kind of Descendants.kinds) this.#follow(kind);
    this.#inTurn(() => this.#start());
    this.#onChange(dirname(main), (began) => this.#restart(began));
    this.#onChange(samples, () => this.#applySamples());
    try {
      await Promise.race([aborted, this.#broken.promise]);
    } finally {
      this.#end.abort();
      await this.#turn;
      await this.#operator?.stop();
      await this.#callOthersAgain();
    }
  }

  /**
   * What the kinds are now comes first: while the sources cannot be loaded, the operator that runs
   * goes on.
   */
  async #start(): Promise<void> {
    const { project } = this.#parts;
    const definitions = await readDefinitions(project.module, this.#env, this.#signal);
    // A definition that is refused leaves the operator that runs alone.
    await this.#install(definitions);
    this.#isConnected = true;
    const earlier = this.#operator;
    this.#operator = undefined;
    await earlier?.stop();
    await this.#run();
  }

  /** Runs the program, and waits until it is ready. */
  async #run(): Promise<void> {
    const { project, cluster } = this.#parts;
    if (this.#signal.aborted) return;
    const began = performance.now();
    let isReady = false;
    const operator = new OperatorProcess(project.main, this.#env, {
      onLine: (line) => {
        const { level, text, isOwn } = readLogLine(line);
        if (loud.has(level) || (isOwn && level === "info")) this.#say("operator", text);
      },
      onEnd: (how) => {
        this.#operator = undefined;
        this.#ready.reject(new CommandError(`the operator ended with ${how}`));
        // What never was ready has a fault that is still there.
        if (isReady) this.#runAgain(how, performance.now() - began);
        else this.#say("operator", `ended with ${how}; waiting for a change`);
      },
      onKill: (afterMs) => this.#say("operator", `did not stop within ${afterMs / 1_000} s, and was killed`),
    });
    this.#operator = operator;
    const signal = AbortSignal.any([this.#signal, this.#newest.signal]);
    const isAlive = () => this.#operator === operator;
    // Some serve no probes: those that go on running have begun.
    isReady = (await becomesReady(cluster.readyUrl, isAlive, signal)) || isAlive();
    await this.#tellMetrics(signal);
    // Webhooks answer now, so that samples are completed and checked as any object will be.
    if (!this.#areSamplesApplied && isAlive()) await this.#applySamples();
  }

  /** As a kubelet does: an operator that loses its lease ends, and so may one with a fault. */
  #runAgain(how: string, ranMs: number): void {
    if (ranMs > longestPauseMs) this.#pauseMs = firstPauseMs;
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    this.#say("operator", `ended with ${how}; starts again in ${pauseMs / 1_000} s`);
    const signal = AbortSignal.any([this.#signal, this.#newest.signal]);
    delay(pauseMs, undefined, { signal }).then(
      () => this.#inTurn(() => (this.#operator === undefined ? this.#run() : Promise.resolve())),
      () => undefined,
    );
  }

  /**
   * Says once where the metrics are: an operator may have its own mind about that, or serve none.
   */
  async #tellMetrics(signal: AbortSignal): Promise<void> {
    const { metricsUrl } = this.#parts.cluster;
    if (this.#areMetricsTold || this.#operator === undefined) return;
    const soon = AbortSignal.any([signal, AbortSignal.timeout(1_000)]);
    const { ok } = await fetch(metricsUrl, { method: "HEAD", signal: soon }).catch(() => ({ ok: false }));
    if (!ok) return;
    this.#areMetricsTold = true;
    this.#say("operator", `metrics at ${metricsUrl}   for windlass top --url`);
  }

  /** @param began When the file was saved. */
  async #restart(began: number): Promise<void> {
    this.#pauseMs = firstPauseMs;
    await this.#start();
    if (this.#operator !== undefined)
      this.#say("operator", `restarted in ${Math.round(performance.now() - began)} ms`);
  }

  /** A cluster that stays must not go on calling what has ended. */
  async #callOthersAgain(): Promise<void> {
    if (!this.#isRecorded) return;
    try {
      for (const object of (await this.#parts.webhooksBefore?.restore()) ?? [])
        this.#say("cluster", `${object} is as it was`);
    } catch (error) {
      // After Ctrl-C the error itself is not shown.
      if (error instanceof TransportError || error instanceof ApiError)
        this.#say("error", `webhooks are not as they were: ${error.message}; the next start here does that`);
      throw error;
    }
  }

  /** Installs the kinds as they are now, and shows their objects. */
  async #install(definitions: readonly CrdManifest[]): Promise<void> {
    const { cluster, webhooksBefore } = this.#parts;
    const { client, calledAt } = cluster;
    if (!this.#isRecorded && webhooksBefore !== undefined) {
      const names = definitions.map(({ metadata }) => metadata.name);
      if (calledAt === undefined) await webhooksBefore.restore();
      else await webhooksBefore.record(calledAt, names, this.#signal);
      this.#isRecorded = true;
    }
    for (const definition of definitions) {
      const { name } = definition.metadata;
      await installDefinition(client, definition, this.#signal);
      const { group, names, versions } = definition.spec;
      const version = versions.find((one) => one.storage)?.name ?? "";
      const scope = definition.spec.scope === "Cluster" ? "Cluster" : "Namespaced";
      const kind: AnyKind = { group, version, kind: names.kind, plural: names.plural, scope };
      for (const one of this.#descendants.begin(kind)) this.#show(one);
      if (this.#follow(kind)) this.#say("crd", `${name} installed`);
    }
  }

  async #applySamples(): Promise<void> {
    const { samples } = this.#parts.project;
    const { client } = this.#parts.cluster;
    const files = await Array.fromAsync(glob("**/*.{yaml,yml,json}", { cwd: samples }));
    for (const file of files.toSorted()) {
      const documents = documentsIn(await readSample(join(samples, file)), file);
      for (const document of documents.filter((one) => one !== null && one !== undefined)) {
        const manifest = manifestIn(document, file);
        const { kind, metadata } = manifest;
        const applied = await applyManifest(client, await this.#placed(manifest), {
          force: true,
          signal: this.#signal,
        });
        if (!isReady(applied)) this.#unready.add(identityOf({ kind: applied.kind, ...applied.metadata }));
        this.#say("sample", `${kind.toLowerCase()}/${metadata.name} applied`);
      }
    }
    this.#areSamplesApplied = true;
    if (this.#unready.size === 0) this.#ready.resolve();
  }

  /** A sample with its namespace, as kubectl adds it. */
  async #placed(manifest: Manifest): Promise<Manifest> {
    const { client, namespace } = this.#parts.cluster;
    const { scope } = await kindOfManifest(client, manifest);
    if (scope === "Cluster" || manifest.metadata.namespace !== undefined) return manifest;
    return { ...manifest, metadata: { ...manifest.metadata, namespace } };
  }

  /** Shows what happens to objects of a kind. @returns whether it was not shown before */
  #follow(kind: AnyKind): boolean {
    const id = `${kind.group}/${kind.kind}`;
    const before = this.#followed.get(id);
    if (before?.kind.version === kind.version && before.kind.plural === kind.plural) return false;
    // A version may be served no longer.
    before?.stop.abort();
    const stop = new AbortController();
    this.#followed.set(id, { kind, stop });
    const signal = AbortSignal.any([this.#signal, stop.signal]);
    follow(this.#parts.cluster.client, kind, signal, (change) => {
      for (const one of this.#descendants.see(kind, change)) this.#show(one);
    }).catch((error: unknown) => {
      if (isForbidden(error)) this.#hide(kind.plural);
      else this.#broken.reject(error);
    });
    return before === undefined;
  }

  #show(one: Relative): void {
    this.#say(one.kind.toLowerCase(), `${one.name} ${one.words}`);
    if (one.isReady && this.#unready.delete(identityOf(one)) && this.#unready.size === 0)
      this.#ready.resolve();
  }

  /** Kinds that may not be watched are told together: where one is forbidden, most are. */
  #hide(plural: string): void {
    if (this.#hidden.length === 0)
      setTimeout(() => {
        if (!this.#signal.aborted)
          this.#say("cluster", `not shown, for you may not watch them: ${this.#hidden.splice(0).join(", ")}`);
      }, settleMs);
    this.#hidden.push(plural);
  }

  #onChange(folder: string, act: (began: number) => Promise<void>): void {
    watchTree(folder, {
      settleMs,
      signal: this.#signal,
      onChange: () => {
        const began = performance.now() - settleMs;
        this.#newest.abort();
        this.#newest = new AbortController();
        this.#inTurn(() => act(began));
      },
      onError: this.#broken.reject,
    });
  }

  /**
   * Does one thing after the other. What the user can put right is told, and tried again with the
   * next change. A server that answered before and no longer does is waited for.
   */
  #inTurn(act: () => Promise<void>): void {
    this.#turn = this.#turn.then(async () => {
      for (let isTold = false; !this.#signal.aborted; isTold = true) {
        try {
          await act();
          return;
        } catch (error) {
          if (this.#signal.aborted) return;
          const isLost = this.#isConnected && error instanceof TransportError;
          if (!isLost) {
            this.#giveUp(error);
            return;
          }
          if (!isTold) this.#say("error", `${error.message}; trying again`);
          await delay(retryMs, undefined, { signal: this.#signal }).catch(() => undefined);
        }
      }
    });
  }

  /** Until the next change, or for good. */
  #giveUp(error: unknown): void {
    if (!isUsersToMend(error)) {
      this.#broken.reject(error);
      return;
    }
    this.#say("error", `${error.message}; waiting for a change`);
    this.#ready.reject(new CommandError(error.message));
  }
}

/** @throws CommandError if it cannot be read */
async function readSample(file: string): Promise<string> {
  return await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`${file}: ${explainSystemError(error)}`, { cause: error });
  });
}

/** @throws CommandError that names the file, unless it is YAML */
function documentsIn(text: string, file: string): readonly unknown[] {
  try {
    return loadAll(text);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    throw new CommandError(`${file}: ${error.message}`, { cause: error });
  }
}

/** @throws CommandError unless a document names an object */
function manifestIn(document: unknown, file: string): Manifest {
  const { apiVersion, kind, metadata } = document as Partial<Manifest>;
  if (typeof apiVersion !== "string" || typeof kind !== "string" || typeof metadata?.name !== "string")
    throw new CommandError(`${file}: a sample needs apiVersion, kind and metadata.name`);
  return document as Manifest;
}

function identityOf({
  kind,
  namespace = "",
  name,
}: {
  readonly kind?: string | undefined;
  readonly namespace?: string;
  readonly name: string;
}): string {
  return `${kind} ${namespace}/${name}`;
}

function isUsersToMend(error: unknown): error is Error {
  if (error instanceof CommandError || error instanceof ApiError) return true;
  return error instanceof Error && error.name === "UnknownKindError";
}
