import type { Client } from "@windlass/client";
import type { InputOf } from "@windlass/runtime";
import type { BuildKitPool } from "../src/index.ts";

/** A build that is under way on a worker. */
export interface Build {
  /** Lets it end. Resolves once it has, and throws if it was cut. */
  end(): Promise<void>;
}

/**
 * A cluster with the operator on it: embedded with the operator in this process, or real with real
 * buildkitd.
 */
export interface TestEnvironment {
  /** May do everything. */
  readonly client: Client;
  /** What pools here need besides what a test is about: small workers, images that are there. */
  readonly poolDefaults: NonNullable<InputOf<typeof BuildKitPool>["spec"]>;
  /** A namespace of its own. */
  createNamespace(): Promise<string>;
  /** Starts a build on a worker that is claimed. Resolves once buildkitd has it. */
  startBuild(worker: { readonly namespace: string; readonly name: string }): Promise<Build>;
  /** Ends the leading replica as `kill -9` would: it does not release its lease. */
  killLeader(): Promise<void>;
  close(): Promise<void>;
}
