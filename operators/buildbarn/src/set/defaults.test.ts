import { isObjectOf } from "@windlass/runtime";
import { expect, test } from "vitest";
import { BuildbarnBrowser } from "../browser/browser.ts";
import { checkConfiguration } from "../configuration/index.ts";
import { BuildbarnFrontend } from "../frontend/frontend.ts";
import { BuildbarnScheduler } from "../scheduler/scheduler.ts";
import { BuildbarnStorage } from "../storage/storage.ts";
import { BuildbarnWorker } from "../worker/worker.ts";
import { setFrom } from "./buildbarn-set.ts";
import {
  browserConfiguration,
  type ComponentConfiguration,
  frontendConfiguration,
  programConfigurations,
  schedulerConfiguration,
  storageConfiguration,
  workerConfiguration,
} from "./component-configuration.ts";

/**
 * What resources without a field come to, against what bb-deployments has for Kubernetes: the same
 * values, except for those that are listed as ours.
 */
const namespace = "buildbarn";
const at = (name: string) => ({ namespace, name });
const storage = BuildbarnStorage.make(
  at("storage"),
  {},
  {
    resharding: { phase: "Stable", from: 2, to: 2, since: "2026-01-01T00:00:00Z" },
  },
);
const scheduler = BuildbarnScheduler.make(at("scheduler"), {});
const frontend = BuildbarnFrontend.make(at("frontend"), {});
const worker = BuildbarnWorker.make(at("worker"), {});
const browser = BuildbarnBrowser.make(at("browser"), { ingressHost: "bb-browser.example.com" });
const components = [storage, scheduler, frontend, worker, browser];
const set = setFrom(namespace, "buildbarn", (kind) => components.filter((one) => isObjectOf(kind, one)));

/** What each program of a component is given, evaluated. */
function evaluated(component: ComponentConfiguration): readonly unknown[] {
  return programConfigurations(component).map((one) => {
    const checked = "entry" in one ? checkConfiguration(one) : one;
    if (checked.is !== "valid") throw new Error(JSON.stringify(checked));
    return checked.json;
  });
}

const allow = { allow: {} };
const listening = (port: number) => [{ listenAddresses: [`:${port}`], authenticationPolicy: allow }];
const diagnostics = (port: number) => ({
  diagnosticsHttpServer: {
    httpServers: listening(port),
    enablePrometheus: true,
    enablePprof: true,
    enableActiveSpans: true,
  },
});
const global = diagnostics(9980);
const maximumMessageSizeBytes = 2_097_152;
const shard = (number: number) => ({
  backend: { grpc: { client: { address: `storage-${number}.storage.buildbarn:8981` } } },
  weight: 1,
});
const sharded = { sharding: { shards: { 0: shard(0), 1: shard(1) } } };
const blobstore = {
  contentAddressableStorage: sharded,
  actionCache: { completenessChecking: { backend: sharded, maximumTotalTreeSizeBytes: 67_108_864 } },
};
const platform = {
  properties: [
    { name: "OSFamily", value: "linux" },
    { name: "container-image", value: "docker://ghcr.io/catthehacker/ubuntu:act-22.04" },
  ],
};
const store = (name: string, index: string | number, blocks: string | number, newBlocks: number) => ({
  local: {
    keyLocationMapOnBlockDevice: { file: { path: `/storage-${name}/key_location_map`, sizeBytes: index } },
    keyLocationMapMaximumGetAttempts: 16,
    keyLocationMapMaximumPutAttempts: 64,
    oldBlocks: 8,
    currentBlocks: 24,
    newBlocks,
    blocksOnBlockDevice: {
      source: { file: { path: `/storage-${name}/blocks`, sizeBytes: blocks } },
      spareBlocks: 3,
    },
    persistent: { stateDirectoryPath: `/storage-${name}/persistent_state`, minimumEpochInterval: "300s" },
  },
});

test("storage", () => {
  const MiB = 1_048_576;
  expect(evaluated(storageConfiguration(storage, undefined))).toEqual([
    {
      grpcServers: listening(8981),
      maximumMessageSizeBytes,
      global,
      contentAddressableStorage: {
        backend: store("cas", 400 * MiB, 32_768 * MiB, 3),
        getAuthorizer: allow,
        putAuthorizer: allow,
        findMissingAuthorizer: allow,
      },
      actionCache: {
        backend: store("ac", MiB, 20 * MiB, 1),
        getAuthorizer: allow,
        putAuthorizer: allow,
      },
    },
  ]);
});

test("frontend", () => {
  const metadata = "build.bazel.remote.execution.v2.requestmetadata-bin";
  expect(evaluated(frontendConfiguration(set, frontend))).toEqual([
    {
      grpcServers: listening(8980),
      schedulers: {
        "": {
          endpoint: {
            address: "scheduler:8982",
            addMetadataJmespathExpression: {
              expression: `{"${metadata}": incomingGRPCMetadata."${metadata}"}`,
            },
          },
        },
      },
      maximumMessageSizeBytes,
      global,
      contentAddressableStorage: {
        backend: blobstore.contentAddressableStorage,
        getAuthorizer: allow,
        putAuthorizer: allow,
        findMissingAuthorizer: allow,
      },
      actionCache: { backend: blobstore.actionCache, getAuthorizer: allow, putAuthorizer: allow },
      executeAuthorizer: allow,
    },
  ]);
});

test("scheduler", () => {
  expect(evaluated(schedulerConfiguration(set, scheduler))).toEqual([
    {
      adminHttpServers: listening(7982),
      clientGrpcServers: listening(8982),
      workerGrpcServers: listening(8983),
      buildQueueStateGrpcServers: listening(8984),
      browserUrl: "http://bb-browser.example.com",
      maximumMessageSizeBytes,
      global,
      executeAuthorizer: allow,
      modifyDrainsAuthorizer: allow,
      killOperationsAuthorizer: allow,
      synchronizeAuthorizer: allow,
      actionRouter: {
        simple: {
          platformKeyExtractor: { action: {} },
          invocationKeyExtractors: [{ correlatedInvocationsId: {} }, { toolInvocationId: {} }],
          initialSizeClassAnalyzer: {
            defaultExecutionTimeout: "1800s",
            maximumExecutionTimeout: "7200s",
          },
        },
      },
      platformQueueWithNoWorkersTimeout: "900s",
      // Ours: it does not restart when shards change.
      contentAddressableStorage: { grpc: { client: { address: "frontend:8980" } } },
      // Ours: actions wait while there are no workers.
      predeclaredPlatformQueues: [
        { instanceNamePrefix: "", platform, sizeClasses: [0], maximumQueuedBackgroundLearningOperations: 0 },
      ],
    },
  ]);
});

test("worker and runner", () => {
  expect(evaluated(workerConfiguration(set, worker))).toEqual([
    {
      blobstore,
      browserUrl: "http://bb-browser.example.com",
      maximumMessageSizeBytes,
      scheduler: { address: "scheduler:8983" },
      global: { ...global, setUmask: { umask: 0 } },
      buildDirectories: [
        {
          native: {
            buildDirectoryPath: "/worker/build",
            cacheDirectoryPath: "/worker/cache",
            maximumCacheFileCount: 10_000,
            maximumCacheSizeBytes: 1_073_741_824,
            cacheReplacementPolicy: "LEAST_RECENTLY_USED",
          },
          runners: [
            {
              endpoint: { address: "unix:///worker/runner" },
              concurrency: 8,
              platform,
              workerId: { pod: "pod-0", node: "node-0" },
              // Said, and the same as left out.
              instanceNamePrefix: "",
              sizeClass: 0,
            },
          ],
        },
      ],
      inputDownloadConcurrency: 10,
      outputUploadConcurrency: 11,
      directoryCache: {
        maximumCount: 1_000,
        maximumSizeBytes: 1_024_000,
        cacheReplacementPolicy: "LEAST_RECENTLY_USED",
      },
    },
    {
      buildDirectoryPath: "/worker/build",
      grpcServers: [
        {
          listenPaths: ["/worker/runner"],
          authenticationPolicy: allow,
          // Ours: its action is ended before it stops.
          stopGracefully: true,
        },
      ],
      // Ours: it has probes. It shares its addresses with the worker.
      global: diagnostics(9987),
    },
  ]);
});

test("browser", () => {
  expect(evaluated(browserConfiguration(set, browser))).toEqual([
    {
      blobstore,
      maximumMessageSizeBytes,
      httpServers: listening(7984),
      global,
      authorizer: allow,
      requestMetadataLinksJmespathExpression: { expression: "`{}`" },
    },
  ]);
});
