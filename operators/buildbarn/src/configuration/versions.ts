import type { Document } from "./document.ts";

/** The releases of Buildbarn whose configuration can be written, by year and month. */
export const versions = ["2025-02", "2026-08"] as const;

/** A release of Buildbarn. */
export type Version = (typeof versions)[number];

/** What runs unless a resource sets another. */
export const defaultVersion: Version = "2026-08";

/** The programs of Buildbarn. */
export type Program = "bb_storage" | "bb_scheduler" | "bb_worker" | "bb_runner" | "bb_browser";

/** One shard of a map. Its key and place in the list are its number. */
export interface Shard {
  /** Undefined if it is drained. */
  readonly backend?: Document;
  readonly weight: number;
}

/** How a server of gRPC is reached: its address, and the rest of it. */
export type RemoteClient = { readonly address: string } & { readonly [field: string]: Document | undefined };

/** In what the configuration of a release differs from that of others. */
export interface Profile {
  readonly images: {
    readonly storage: string;
    readonly scheduler: string;
    readonly worker: string;
    readonly runnerInstaller: string;
    /** Undefined where none is known to fit: resources then must name one. */
    readonly browser?: string;
  };
  /** What starts bb_runner in its container, before the name of its configuration. */
  readonly runnerCommand: readonly string[];
  /** A store on another server. */
  remote(client: RemoteClient): Document;
  /** Blobs spread over shards. Each release spreads them by a rule of its own. */
  sharded(shards: readonly Shard[]): Document;
  /** A JMESPath expression. */
  jmespath(expression: string): Document;
  /** A JMESPath expression on the claims of a token. */
  onClaims(expression: string): Document;
  /** Where an expression on a token finds its claims. */
  readonly claims: string;
  /** How a scheduler finds out the platform of an action. */
  readonly platformKeyExtractor: Document;
  /** Fields of the scheduler that only this release has. */
  readonly scheduler: { readonly [field: string]: Document };
}

const registry = "ghcr.io/buildbarn";

/** What the programs of each release want. */
export const profiles: Readonly<Record<Version, Profile>> = {
  "2025-02": {
    images: {
      storage: `${registry}/bb-storage:20250226T091209Z-85aafcb`,
      scheduler: `${registry}/bb-scheduler:20250227T074154Z-20a2e6d`,
      worker: `${registry}/bb-worker:20250227T074154Z-20a2e6d`,
      runnerInstaller: `${registry}/bb-runner-installer:20250227T074154Z-20a2e6d`,
    },
    runnerCommand: ["/bb/tini", "-v", "--", "/bb/bb_runner"],
    remote: (client) => ({ grpc: client }),
    sharded: (shards) => ({
      sharding: {
        // As text: jsonnet would round a number of this size.
        hashInitialization: "11946695773637837490",
        // One without a backend keeps its place in the list, and what would be on it goes to the
        // others.
        shards: shards.map(({ backend, weight }) => ({ backend, weight })),
      },
    }),
    jmespath: (expression) => expression,
    onClaims: (expression) => expression,
    claims: "@",
    platformKeyExtractor: { actionAndCommand: {} },
    scheduler: {},
  },
  "2026-08": {
    images: {
      storage: `${registry}/bb-storage:20260805T174928Z-33530b6`,
      scheduler: `${registry}/bb-scheduler:20260814T085403Z-13313e6`,
      worker: `${registry}/bb-worker:20260814T085403Z-13313e6`,
      runnerInstaller: `${registry}/bb-runner-installer:20260814T085403Z-13313e6`,
      browser: `${registry}/bb-browser:20260415T065533Z-ee35c54`,
    },
    runnerCommand: ["/bb/bb_runner"],
    remote: (client) => ({ grpc: { client } }),
    sharded: (shards) => ({
      sharding: {
        // The keys place the blobs: they are the shards' numbers, for ever.
        shards: Object.fromEntries(
          shards.flatMap(({ backend, weight }, number) =>
            backend === undefined ? [] : [[String(number), { backend, weight }]],
          ),
        ),
      },
    }),
    jmespath: (expression) => ({ expression }),
    // The claims are one of the things that the expression sees, and no longer all of it.
    onClaims: (expression) => ({ expression: `payload | ${expression}` }),
    claims: "payload",
    platformKeyExtractor: { action: {} },
    scheduler: { synchronizeAuthorizer: { allow: {} } },
  },
};
