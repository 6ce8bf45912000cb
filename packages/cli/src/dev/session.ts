import { existsSync, watch } from "node:fs";
import { glob, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  type AnyKind,
  type AnyObject,
  ApiError,
  applyManifest,
  type Client,
  type Manifest,
} from "@windlass/client";
import { CustomResourceDefinition } from "@windlass/runtime/kinds";
import { waitForCondition } from "@windlass/testing";
import { loadAll, YAMLException } from "js-yaml";
import { CommandError } from "../errors.ts";
import { readDefinitions } from "./definitions.ts";
import { isReady } from "./describe.ts";
import { childKinds, follow, isChild } from "./follow.ts";
import { readLogLine } from "./log-line.ts";
import { OperatorProcess } from "./operator-process.ts";

/** Where the parts of an operator are. */
export interface Project {
  /** The program that runs it. */
  readonly main: string;
  /** The module that exports its kinds. */
  readonly module: string;
  /** The folder of objects to begin with. It need not be there. */
  readonly samples: string;
}

/** The cluster it runs on: a client, and the environment of a program that finds it. */
export interface DevCluster {
  readonly client: Client;
  readonly env: NodeJS.ProcessEnv;
}

/** Tells the user that something happened. */
export type Say = (what: string, words: string) => void;

/** Editors write a file in several steps, and tools write several files: that is one change. */
const settleMs = 50;

/** Levels of the log that are shown: the rest can be seen in what happens. */
const loud = new Set(["warn", "error", "fatal"]);

/** An operator that runs on a cluster while its sources change. Whatever happens is told. */
export class DevSession {
  readonly #project: Project;
  readonly #cluster: DevCluster;
  readonly #say: Say;
  readonly #signal: AbortSignal;
  readonly #followed = new Set<string>();
  readonly #unready = new Set<string>();
  readonly #ready = Promise.withResolvers<void>();
  readonly #broken = Promise.withResolvers<never>();
  #operator: OperatorProcess | undefined;
  #turn: Promise<void> = Promise.resolve();

  constructor(project: Project, cluster: DevCluster, say: Say, signal: AbortSignal) {
    this.#project = project;
    this.#cluster = cluster;
    this.#say = say;
    this.#signal = signal;
    // Not everyone asks.
    this.#ready.promise.catch(() => undefined);
  }

  /** Resolves once every sample is Ready. Rejects if the operator could not be started, or ended. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Runs until it is aborted. */
  async run(): Promise<void> {
    const { samples, main } = this.#project;
    const { promise: aborted, resolve } = Promise.withResolvers<void>();
    this.#signal.addEventListener("abort", () => resolve(), { once: true });
    if (this.#signal.aborted) resolve();
    for (const kind of childKinds) this.#follow(kind, isChild);
    this.#inTurn(async () => {
      await this.#start();
      await this.#applySamples();
    });
    this.#onChange(dirname(main), () => this.#restart());
    if (existsSync(samples)) this.#onChange(samples, () => this.#applySamples());
    try {
      await Promise.race([aborted, this.#broken.promise]);
    } finally {
      await this.#turn;
      await this.#operator?.stop();
    }
  }

  async #start(): Promise<void> {
    await this.#install();
    if (this.#signal.aborted) return;
    const { main } = this.#project;
    this.#operator = new OperatorProcess(main, this.#cluster.env, {
      onLine: (line) => {
        const { level, text } = readLogLine(line);
        if (loud.has(level) || text === line) this.#say("operator", text);
      },
      onEnd: (how) => {
        this.#operator = undefined;
        this.#say("operator", `ended with ${how}; waiting for a change`);
        this.#ready.reject(new CommandError(`the operator ended with ${how}`));
      },
    });
  }

  async #restart(): Promise<void> {
    const began = performance.now();
    await this.#operator?.stop();
    this.#operator = undefined;
    await this.#start();
    this.#say("operator", `started anew in ${Math.round(performance.now() - began)} ms`);
  }

  /** Installs the kinds as they are now, and shows their objects. */
  async #install(): Promise<void> {
    const { client } = this.#cluster;
    for (const definition of await readDefinitions(this.#project.module, this.#signal)) {
      const { name } = definition.metadata;
      await client.apply(CustomResourceDefinition, definition, { force: true });
      await waitForCondition(client, CustomResourceDefinition, { name }, "Established");
      const { group, names, versions } = definition.spec;
      const version = versions.find((one) => one.storage)?.name ?? "";
      const scope = definition.spec.scope === "Cluster" ? "Cluster" : "Namespaced";
      const kind: AnyKind = { group, version, kind: names.kind, plural: names.plural, scope };
      if (this.#follow(kind, () => true)) this.#say("crd", `${name} installed`);
    }
  }

  async #applySamples(): Promise<void> {
    const { samples } = this.#project;
    const files = await Array.fromAsync(glob("**/*.{yaml,yml,json}", { cwd: samples }));
    for (const file of files.toSorted()) {
      const manifests = loadAll(await readFile(join(samples, file), "utf8")) as Manifest[];
      for (const manifest of manifests) {
        const { kind, metadata } = manifest;
        const applied = await applyManifest(this.#cluster.client, manifest, { force: true });
        if (!isReady(applied)) this.#unready.add(identity(applied));
        this.#say("sample", `${kind.toLowerCase()}/${metadata.name} applied`);
      }
    }
    if (this.#unready.size === 0) this.#ready.resolve();
  }

  /** Shows what happens to objects of a kind. @returns whether it was not shown before */
  #follow(kind: AnyKind, isShown: (object: AnyObject) => boolean): boolean {
    const id = `${kind.group}/${kind.kind}`;
    if (this.#followed.has(id)) return false;
    this.#followed.add(id);
    follow(this.#cluster.client, kind, this.#signal, ({ object, words }) => {
      if (!isShown(object)) return;
      this.#say(kind.kind.toLowerCase(), `${object.metadata.name} ${words}`);
      if (isReady(object) && this.#unready.delete(identity(object)) && this.#unready.size === 0)
        this.#ready.resolve();
    }).catch(this.#broken.reject);
    return true;
  }

  #onChange(folder: string, act: () => Promise<void>): void {
    let timer: NodeJS.Timeout | undefined;
    const watcher = watch(folder, { recursive: true, signal: this.#signal }, () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.#inTurn(act), settleMs);
    });
    watcher.on("error", this.#broken.reject);
    this.#signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  }

  /** Does one thing after the other. What the user can put right is told, and tried again with the next change. */
  #inTurn(act: () => Promise<void>): void {
    this.#turn = this.#turn.then(async () => {
      if (this.#signal.aborted) return;
      try {
        await act();
      } catch (error) {
        if (this.#signal.aborted) return;
        if (!isUsersToMend(error)) return this.#broken.reject(error);
        this.#say("error", `${error.message}; waiting for a change`);
        this.#ready.reject(new CommandError(error.message));
      }
    });
  }
}

function identity({ kind, metadata }: AnyObject): string {
  return `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;
}

function isUsersToMend(error: unknown): error is Error {
  if (error instanceof CommandError || error instanceof ApiError || error instanceof YAMLException)
    return true;
  return error instanceof Error && error.name === "UnknownKindError";
}
