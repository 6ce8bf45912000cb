import {
  BuildbarnBrowser,
  BuildbarnFrontend,
  BuildbarnScheduler,
  BuildbarnStorage,
  BuildbarnWorker,
} from "../../../operators/buildbarn/src/index.ts";
import { BuildKitWorker } from "../../../operators/buildkit/src/index.ts";
import { ElastiService } from "../../../operators/elasti/src/index.ts";
import type { KindSample } from "./samples.ts";

const hash = "0123456789abcdef".repeat(4);
const time = "2026-01-01T00:00:00Z";
const resources = { requests: { cpu: "0.5", memory: "1024Mi" }, limits: { cpu: 1 } };

/** The kinds of {@link operatorSamples}, to be installed. */
export const operatorKinds = [
  BuildKitWorker,
  BuildbarnStorage,
  BuildbarnScheduler,
  BuildbarnFrontend,
  BuildbarnWorker,
  BuildbarnBrowser,
  ElastiService,
] as const;

/** The custom kinds of this repository's operators that other objects own, or may. */
export const operatorSamples: readonly KindSample[] = [
  {
    kind: BuildKitWorker,
    full: {
      spec: {
        poolRef: { name: "ci" },
        slot: 3,
        affinityKey: "shop",
        allocation: {
          jobId: "42",
          tokenHash: hash,
          requestedBy: "ci",
          allocatedAt: time,
          expiresAt: time,
          metadata: { branch: "main", commit: "c" },
        },
        lastAllocation: { tokenHash: hash, requestedBy: "jane" },
      },
    },
  },
  { kind: BuildbarnStorage, full: { spec: { replicas: 2, deletionPolicy: "Retain" } } },
  { kind: BuildbarnScheduler, full: { spec: { ingressHost: "scheduler.example.com", resources } } },
  {
    kind: BuildbarnFrontend,
    full: { spec: { replicas: 2, serviceType: "ClusterIP", configOverrides: "{ a: 1 }", resources } },
  },
  {
    kind: BuildbarnWorker,
    full: {
      spec: {
        cluster: "builds",
        version: "2026-08",
        instance: "large",
        concurrency: 2,
        platform: [
          { name: "OSFamily", value: "linux" },
          { name: "pool", value: "large" },
        ],
        runnerResources: resources,
        autoscaling: { minReplicas: 0, maxReplicas: 10, scaleDownDelay: "5m" },
      },
    },
  },
  { kind: BuildbarnBrowser, full: { spec: { ingressHost: "browser.example.com", resources } } },
  {
    kind: ElastiService,
    full: {
      spec: {
        service: "shop",
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "shop" },
        minTargetReplicas: 1,
        maxTargetReplicas: 10,
        cooldownPeriod: 900,
        dependsOn: ["orders-db", "cache"],
        autoscaler: { type: "hpa", name: "shop" },
        triggers: [
          {
            type: "prometheus",
            metadata: { query: "up", threshold: "0.05", serverAddress: "http://prometheus:9090" },
          },
          {
            type: "schedule",
            metadata: { start: "0 8 * * 1-5", end: "0 18 * * 1-5", timezone: "Europe/Berlin" },
          },
        ],
        probeResponse: [
          {
            method: "GET",
            path: { type: "Exact", value: "/healthz" },
            response: { status: 200, body: "asleep" },
          },
        ],
        hold: { timeoutSeconds: 120, queueSize: 5000, waitingPage: { afterSeconds: 3 } },
      },
    },
  },
];
