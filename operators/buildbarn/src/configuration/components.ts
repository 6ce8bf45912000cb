import { type Access, authorizers, entrance } from "./access.ts";
import { bytes } from "./bytes.ts";
import { type Document, environment, leastRecentlyUsed, shared } from "./document.ts";
import { clientOf, type InternalTls, internalListener } from "./internal-tls.ts";
import { type PlatformProperty, sorted } from "./platform-order.ts";
import { ports } from "./ports.ts";
import { blobstore, type Shards } from "./shard-map.ts";
import { profiles, type Version } from "./versions.ts";

/** The largest message of gRPC that is read whole. */
const maximumMessageSizeBytes = 2 * 1024 * 1024;
const allow: Document = { allow: {} };
/** Where a worker's pod keeps its files, and the socket of its runner. */
export const workerDirectory = "/worker";

function listener(port: number): Document {
  return { listenAddresses: [`:${port}`], authenticationPolicy: allow };
}

/** What a program reports of itself. With TLS in the set, nothing beyond metrics is open to all. */
function global(port: number, tls?: InternalTls) {
  const isOpen = tls === undefined;
  return {
    diagnosticsHttpServer: {
      httpServers: [listener(port)],
      enablePrometheus: true,
      enablePprof: isOpen,
      enableActiveSpans: isOpen,
    },
  };
}

/**
 * What a component's common.libsonnet may hold. What it does not use is left out, so that it does
 * not restart for it.
 */
export interface CommonInput {
  readonly version: Version;
  readonly shards?: Shards;
  readonly browserUrl?: string;
  /** @default that of the shards */
  readonly tls?: InternalTls | undefined;
}

/** common.libsonnet: what components agree on. */
export function commonDocument({ version, shards, browserUrl, tls = shards?.tls }: CommonInput): Document {
  return {
    blobstore: shards && blobstore(profiles[version], shards),
    browserUrl,
    maximumMessageSizeBytes,
    global: global(ports.diagnostics, tls),
  };
}

/** A store of a shard. */
export interface StoreInput {
  readonly blocks: {
    readonly size: string;
    readonly old: number;
    readonly current: number;
    readonly new: number;
    readonly spare: number;
  };
  readonly index: { readonly size: string };
}

/** storage.jsonnet: one shard. */
export function storageDocument(
  version: Version,
  stores: { readonly cas: StoreInput; readonly ac: StoreInput },
  tls?: InternalTls,
): Document {
  return {
    grpcServers: [internalListener(version, ports.storage, tls)],
    maximumMessageSizeBytes: shared("maximumMessageSizeBytes"),
    contentAddressableStorage: {
      backend: local("/storage-cas", stores.cas),
      getAuthorizer: allow,
      putAuthorizer: allow,
      findMissingAuthorizer: allow,
    },
    actionCache: { backend: local("/storage-ac", stores.ac), getAuthorizer: allow, putAuthorizer: allow },
    global: shared("global"),
  };
}

function local(directory: string, { blocks, index }: StoreInput): Document {
  const file = (name: string, size: string) => ({
    file: { path: `${directory}/${name}`, sizeBytes: bytes(size) },
  });
  return {
    local: {
      keyLocationMapOnBlockDevice: file("key_location_map", index.size),
      keyLocationMapMaximumGetAttempts: 16,
      keyLocationMapMaximumPutAttempts: 64,
      oldBlocks: blocks.old,
      currentBlocks: blocks.current,
      newBlocks: blocks.new,
      blocksOnBlockDevice: { source: file("blocks", blocks.size), spareBlocks: blocks.spare },
      persistent: { stateDirectoryPath: `${directory}/persistent_state`, minimumEpochInterval: "300s" },
    },
  };
}

/** Where actions of an instance name prefix go. */
export interface SchedulerRoute {
  readonly instanceNamePrefix: string;
  readonly address: string;
}

const requestMetadata = "build.bazel.remote.execution.v2.requestmetadata-bin";

/** frontend.jsonnet: what Bazel talks to. */
export function frontendDocument(
  version: Version,
  schedulers: readonly SchedulerRoute[],
  access?: Access,
  tls?: InternalTls,
): Document {
  // Without it the scheduler cannot tell one run of Bazel from another.
  const forwarded = `{"${requestMetadata}": incomingGRPCMetadata."${requestMetadata}"}`;
  const addMetadataJmespathExpression = profiles[version].jmespath(forwarded);
  const may = authorizers(version, access);
  return {
    grpcServers: [
      access ? entrance(version, access) : listener(ports.frontend),
      // Where every client is let in, no second listener is needed.
      ...(access || tls ? [internalListener(version, ports.frontendInternal, tls, may.members)] : []),
    ],
    schedulers: Object.fromEntries(
      schedulers.map(({ instanceNamePrefix, address }) => [
        instanceNamePrefix,
        { endpoint: { ...clientOf(address, tls), addMetadataJmespathExpression } },
      ]),
    ),
    maximumMessageSizeBytes: shared("maximumMessageSizeBytes"),
    contentAddressableStorage: {
      backend: shared("blobstore.contentAddressableStorage"),
      getAuthorizer: may.read,
      putAuthorizer: may.writeBlobs,
      findMissingAuthorizer: may.read,
    },
    actionCache: {
      backend: shared("blobstore.actionCache"),
      getAuthorizer: may.read,
      putAuthorizer: may.writeResults,
    },
    executeAuthorizer: may.execute,
    global: shared("global"),
  };
}

/** A queue of actions that workers take from. */
export interface PlatformQueue {
  readonly instanceNamePrefix: string;
  readonly platform: readonly PlatformProperty[];
  /** In ascending order; empty if there is but one size. */
  readonly sizeClasses: readonly number[];
}

/** What a scheduler is configured by. */
export interface SchedulerInput {
  readonly version: Version;
  /** Where it reads actions: the frontend, so that it need not restart when shards change. */
  readonly storageAddress: string;
  readonly queues: readonly PlatformQueue[];
  readonly defaultTimeout: string;
  readonly maximumTimeout: string;
  readonly noWorkersTimeout: string;
  /** @default without TLS */
  readonly tls?: InternalTls | undefined;
}

/** scheduler.jsonnet. */
export function schedulerDocument(input: SchedulerInput): Document {
  const { version, tls } = input;
  const profile = profiles[version];
  const internal = (port: number) => [internalListener(version, port, tls)];
  return {
    adminHttpServers: [listener(ports.schedulerPage)],
    clientGrpcServers: internal(ports.schedulerClients),
    workerGrpcServers: internal(ports.schedulerWorkers),
    buildQueueStateGrpcServers: internal(ports.schedulerState),
    browserUrl: shared("browserUrl"),
    maximumMessageSizeBytes: shared("maximumMessageSizeBytes"),
    contentAddressableStorage: profile.remote(clientOf(input.storageAddress, tls)),
    executeAuthorizer: allow,
    modifyDrainsAuthorizer: allow,
    killOperationsAuthorizer: allow,
    ...profile.scheduler,
    actionRouter: {
      simple: {
        platformKeyExtractor: profile.platformKeyExtractor,
        invocationKeyExtractors: [{ correlatedInvocationsId: {} }, { toolInvocationId: {} }],
        initialSizeClassAnalyzer: {
          defaultExecutionTimeout: input.defaultTimeout,
          maximumExecutionTimeout: input.maximumTimeout,
        },
      },
    },
    predeclaredPlatformQueues: input.queues.map(({ instanceNamePrefix, platform, sizeClasses }) => ({
      instanceNamePrefix,
      platform: { properties: sorted(platform) },
      sizeClasses: sizeClasses.length === 0 ? [0] : sizeClasses,
      maximumQueuedBackgroundLearningOperations: 0,
    })),
    platformQueueWithNoWorkersTimeout: input.noWorkersTimeout,
    global: shared("global"),
  };
}

/** What a worker is configured by. */
export interface WorkerInput {
  readonly schedulerAddress: string;
  /** @default without TLS */
  readonly tls?: InternalTls | undefined;
  readonly instanceNamePrefix: string;
  readonly platform: readonly PlatformProperty[];
  readonly sizeClass: number;
  readonly concurrency: number;
  readonly inputCache: { readonly size: string; readonly files: number };
  /** Services that are notified of each action that ended. @default none */
  readonly completedActionLoggers?: readonly ActionLogger[];
}

/** A service that takes in completed actions. */
export interface ActionLogger {
  readonly address: string;
  readonly maximumSendQueueSize: number;
  readonly addInstanceNamePrefix: string;
}

/** worker-{instance}.jsonnet. */
export function workerDocument(input: WorkerInput): Document {
  return {
    blobstore: shared("blobstore"),
    browserUrl: shared("browserUrl"),
    maximumMessageSizeBytes: shared("maximumMessageSizeBytes"),
    scheduler: clientOf(input.schedulerAddress, input.tls),
    buildDirectories: [
      {
        native: {
          buildDirectoryPath: `${workerDirectory}/build`,
          cacheDirectoryPath: `${workerDirectory}/cache`,
          maximumCacheFileCount: input.inputCache.files,
          maximumCacheSizeBytes: bytes(input.inputCache.size),
          cacheReplacementPolicy: leastRecentlyUsed,
        },
        runners: [
          {
            endpoint: { address: `unix://${workerDirectory}/runner` },
            concurrency: input.concurrency,
            instanceNamePrefix: input.instanceNamePrefix,
            platform: { properties: sorted(input.platform) },
            sizeClass: input.sizeClass,
            workerId: { pod: environment("POD_NAME"), node: environment("NODE_NAME") },
          },
        ],
      },
    ],
    completedActionLoggers: input.completedActionLoggers?.map(({ address, ...own }) => ({
      client: { address },
      ...own,
    })),
    inputDownloadConcurrency: 10,
    outputUploadConcurrency: 11,
    directoryCache: {
      maximumCount: 1_000,
      maximumSizeBytes: 1_000 * 1024,
      cacheReplacementPolicy: leastRecentlyUsed,
    },
    // Actions run as another user, who must be able to write where the worker has made directories.
    global: { ...global(ports.diagnostics, input.tls), setUmask: { umask: 0 } },
  };
}

/** runner-{instance}.jsonnet. */
export function runnerDocument(tls?: InternalTls): Document {
  return {
    buildDirectoryPath: `${workerDirectory}/build`,
    grpcServers: [
      {
        listenPaths: [`${workerDirectory}/runner`],
        authenticationPolicy: allow,
        // Worker and runner are terminated together. Without it the running action would be lost.
        stopGracefully: true,
      },
    ],
    global: global(ports.runnerDiagnostics, tls),
  };
}

/** browser.jsonnet. */
export function browserDocument(version: Version): Document {
  return {
    blobstore: shared("blobstore"),
    maximumMessageSizeBytes: shared("maximumMessageSizeBytes"),
    httpServers: [listener(ports.browser)],
    authorizer: allow,
    requestMetadataLinksJmespathExpression: profiles[version].jmespath("`{}`"),
    global: shared("global"),
  };
}
