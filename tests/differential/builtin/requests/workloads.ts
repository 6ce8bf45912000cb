import type { JsonObject } from "../../../../packages/control-plane/src/json.ts";
import { but, type Change, patches, type Story, variants } from "../story.ts";

const template: JsonObject = {
  metadata: { labels: { a: "b" } },
  spec: { containers: [{ name: "c", image: "nginx" }] },
};
const workload: JsonObject = { spec: { selector: { matchLabels: { a: "b" } }, template } };
const apps = (plural: string): string => `/apis/apps/v1/namespaces/{ns}/${plural}`;

const common: readonly Change[] = [
  { "spec.selector": undefined },
  { "spec.selector": {} },
  { "spec.selector": { matchLabels: { a: "c" } } },
  { "spec.selector": { matchLabels: { "bad key": "c" } } },
  { "spec.selector": { matchExpressions: [{ key: "a", operator: "In" }] } },
  { "spec.selector": { matchExpressions: [{ key: "a", operator: "Nope", values: ["x"] }] } },
  { "spec.selector": { matchExpressions: [{ key: "a", operator: "Exists", values: ["x"] }] } },
  { "spec.selector": { matchExpressions: [{ key: "a", operator: "Exists" }] } },
  { "spec.template": undefined },
  { "spec.template.metadata.labels": undefined },
  { "spec.template.spec.restartPolicy": "Never" },
  { "spec.template.spec.restartPolicy": "OnFailure" },
  { "spec.template.spec.activeDeadlineSeconds": 5 },
  { "spec.template.spec.containers.0.image": undefined },
  { "spec.template.spec.containers": [] },
  { "spec.template.metadata.labels": { a: "b", "bad key": "x" } },
  { "spec.template.spec.ephemeralContainers": [{ name: "e", image: "x" }] },
  { "spec.minReadySeconds": -1 },
  { "spec.template.spec.containers.0.resources": { limits: { cpu: "1" } } },
  { "spec.template.metadata.name": "x", "spec.template.metadata.creationTimestamp": null },
  { "spec.template.spec.serviceAccountName": "sa" },
];

export const workloads: Story[] = [
  {
    name: "deployment",
    at: apps("deployments"),
    steps: [
      { post: but(workload, { "metadata.name": "d" }) },
      { post: {} },
      { post: { spec: {} } },
      ...variants(workload, [
        ...common,
        { "spec.replicas": -1 },
        { "spec.replicas": 0 },
        { "spec.revisionHistoryLimit": -1 },
        { "spec.progressDeadlineSeconds": 0 },
        { "spec.progressDeadlineSeconds": 5, "spec.minReadySeconds": 5 },
        { "spec.strategy": { type: "Recreate" } },
        { "spec.strategy": { type: "Recreate", rollingUpdate: { maxSurge: 1 } } },
        { "spec.strategy": { type: "Nope" } },
        { "spec.strategy": { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } },
        { "spec.strategy": { rollingUpdate: { maxSurge: -1, maxUnavailable: "x" } } },
        { "spec.strategy": { rollingUpdate: { maxUnavailable: "150%" } } },
        { "spec.strategy": { rollingUpdate: { maxUnavailable: 0 } } },
        { "spec.strategy": { rollingUpdate: { maxSurge: "50%" } } },
        { "spec.rollbackTo": { revision: 1 } },
        { "spec.paused": true },
        { status: { replicas: 5 } },
      ]),
      ...patches("d", [
        { metadata: { labels: { x: "y" } } },
        { metadata: { annotations: { x: "y" } } },
        { spec: { replicas: 3 } },
        { spec: { replicas: null } },
        { spec: { selector: { matchLabels: { a: "c" } } } },
        { spec: { selector: { matchLabels: { a: "c" } }, template: { metadata: { labels: { a: "c" } } } } },
        { spec: { template: { metadata: { labels: { a: "z" } } } } },
        { spec: { template: { metadata: { labels: { n: "m" } } } } },
        { spec: { strategy: { type: "Recreate" } } },
        { spec: { strategy: { type: "Recreate", rollingUpdate: null } } },
        { status: { replicas: 9 } },
      ]),
      ...patches(
        "d",
        [
          { status: { replicas: 3, readyReplicas: 2, availableReplicas: 2, updatedReplicas: 3 } },
          { status: { replicas: 1, readyReplicas: 2 } },
          { status: { replicas: -1 } },
          { status: { replicas: 3, readyReplicas: 1, availableReplicas: 2 } },
          { status: { observedGeneration: 1, conditions: [{ type: "Available", status: "True" }] } },
          { status: { observedGeneration: -1 } },
          { status: { collisionCount: 2 } },
          { status: { collisionCount: 1 } },
          {
            metadata: { labels: { s: "t" }, annotations: { q: "r" }, finalizers: ["a/b"] },
            spec: { replicas: 8 },
          },
        ],
        "status",
      ),
      { get: "d" },
      { name: "d", sub: "scale", patch: { spec: { replicas: 4 } } },
      { name: "d", sub: "scale", patch: { spec: { replicas: -4 } } },
      { name: "d", patch: { metadata: { finalizers: null } } },
      { delete: "d" },
    ],
  },
  {
    name: "replicaset",
    at: apps("replicasets"),
    steps: [
      { post: but(workload, { "metadata.name": "d" }) },
      { post: {} },
      ...variants(workload, [
        ...common,
        { "spec.replicas": -1 },
        { "spec.replicas": 0 },
        { status: { replicas: 5 } },
        { "spec.minReadySeconds": 3 },
      ]),
      ...patches("d", [
        { spec: { replicas: 3 } },
        { metadata: { annotations: { a: "b" } } },
        { spec: { selector: { matchLabels: { a: "c" } }, template: { metadata: { labels: { a: "c" } } } } },
        { spec: { template: { spec: { containers: [{ name: "c", image: "other" }] } } } },
      ]),
      ...patches(
        "d",
        [
          { status: { replicas: 3, readyReplicas: 4 } },
          {
            status: {
              replicas: 3,
              fullyLabeledReplicas: 3,
              readyReplicas: 2,
              availableReplicas: 1,
              observedGeneration: 1,
            },
          },
          { metadata: { labels: { s: "t" } } },
          { status: { replicas: -1, availableReplicas: -2 } },
        ],
        "status",
      ),
      { delete: "d" },
    ],
  },
  {
    name: "statefulset",
    at: apps("statefulsets"),
    steps: [
      { post: but(workload, { "metadata.name": "d", "spec.serviceName": "s" }) },
      { post: {} },
      ...variants(workload, [
        ...common,
        { "spec.serviceName": "Bad_Name" },
        { "spec.replicas": -1 },
        { "spec.podManagementPolicy": "Parallel" },
        { "spec.podManagementPolicy": "Nope" },
        { "spec.updateStrategy": { type: "OnDelete" } },
        { "spec.updateStrategy": { type: "OnDelete", rollingUpdate: { partition: 1 } } },
        { "spec.updateStrategy": { type: "Nope" } },
        { "spec.updateStrategy": { rollingUpdate: { partition: -1 } } },
        { "spec.updateStrategy": { rollingUpdate: { partition: 2 } } },
        { "spec.persistentVolumeClaimRetentionPolicy": { whenDeleted: "Delete" } },
        { "spec.persistentVolumeClaimRetentionPolicy": { whenDeleted: "Nope" } },
        { "spec.ordinals": { start: 3 } },
        { "spec.ordinals": { start: -3 } },
        { "spec.revisionHistoryLimit": -1 },
        {
          "spec.volumeClaimTemplates": [
            {
              metadata: { name: "data" },
              spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
            },
          ],
        },
        { "spec.volumeClaimTemplates": [{ metadata: { name: "data" }, spec: {} }] },
        { "spec.volumeClaimTemplates": [{ spec: { accessModes: ["Nope"] } }] },
      ]),
      ...patches("d", [
        { spec: { replicas: 3 } },
        { spec: { serviceName: "other" } },
        { spec: { podManagementPolicy: "Parallel" } },
        { spec: { selector: { matchLabels: { a: "b", c: "d" } } } },
        { spec: { volumeClaimTemplates: [{ metadata: { name: "x" } }] } },
        { spec: { template: { spec: { containers: [{ name: "c", image: "other" }] } } } },
        {
          spec: {
            updateStrategy: { rollingUpdate: { partition: 1 } },
            minReadySeconds: 1,
            ordinals: { start: 1 },
            revisionHistoryLimit: 3,
            persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete" },
          },
        },
        { spec: { replicas: -1 } },
      ]),
      ...patches(
        "d",
        [
          {
            status: {
              replicas: 2,
              currentReplicas: 1,
              updatedReplicas: 1,
              readyReplicas: 1,
              currentRevision: "x",
              updateRevision: "x",
              observedGeneration: 1,
              collisionCount: 0,
            },
          },
          {
            status: {
              replicas: 2,
              readyReplicas: 3,
              currentReplicas: 3,
              updatedReplicas: 3,
              availableReplicas: 3,
            },
          },
          { status: { replicas: -1 } },
          { metadata: { labels: { s: "t" } } },
        ],
        "status",
      ),
      { name: "d", sub: "scale", patch: { spec: { replicas: 7 } } },
      { delete: "d" },
    ],
  },
  {
    name: "daemonset",
    at: apps("daemonsets"),
    steps: [
      { post: but(workload, { "metadata.name": "d" }) },
      { post: {} },
      ...variants(workload, [
        ...common,
        { "spec.updateStrategy": { type: "OnDelete" } },
        { "spec.updateStrategy": { type: "Nope" } },
        { "spec.updateStrategy": { rollingUpdate: { maxUnavailable: 0 } } },
        { "spec.updateStrategy": { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } },
        { "spec.updateStrategy": { rollingUpdate: { maxUnavailable: 1, maxSurge: 1 } } },
        { "spec.updateStrategy": { rollingUpdate: { maxUnavailable: "x%" } } },
        { "spec.revisionHistoryLimit": -1 },
        { "spec.templateGeneration": 5 },
      ]),
      ...patches("d", [
        { spec: { selector: { matchLabels: { a: "c" } }, template: { metadata: { labels: { a: "c" } } } } },
        { spec: { template: { spec: { containers: [{ name: "c", image: "other" }] } } } },
        { spec: { minReadySeconds: 3 } },
        { metadata: { annotations: { x: "y" } } },
        { metadata: { annotations: { "deprecated.daemonset.template.generation": "77" } } },
      ]),
      ...patches(
        "d",
        [
          {
            status: {
              currentNumberScheduled: 1,
              numberMisscheduled: 0,
              desiredNumberScheduled: 1,
              numberReady: 1,
              observedGeneration: 1,
            },
          },
          { status: { numberReady: -1, numberAvailable: -1 } },
          { metadata: { labels: { s: "t" } } },
        ],
        "status",
      ),
      { delete: "d" },
    ],
  },
  {
    name: "replicationcontroller",
    at: "/api/v1/namespaces/{ns}/replicationcontrollers",
    steps: [
      { post: { metadata: { name: "d" }, spec: { selector: { a: "b" }, template } } },
      { post: {} },
      { post: { spec: { template } } },
      { post: { spec: { replicas: -1, minReadySeconds: -1, template } } },
      { post: { spec: { selector: { a: "c" }, template } } },
      { post: { spec: { selector: { a: "b" } } } },
      { post: { metadata: { labels: { own: "x" } }, spec: { template } } },
      {
        post: { spec: { selector: { a: "b" }, template: but(template, { "spec.restartPolicy": "Never" }) } },
      },
      ...patches("d", [
        { spec: { replicas: 2 } },
        { spec: { selector: { a: "b", c: "d" } } },
        { spec: { selector: { a: "b", c: "d" }, template: { metadata: { labels: { c: "d" } } } } },
      ]),
      ...patches("d", [{ status: { replicas: 2 } }, { status: { replicas: 1, readyReplicas: 2 } }], "status"),
      { name: "d", sub: "scale", patch: { spec: { replicas: 7 } } },
      { delete: "d", body: { propagationPolicy: "Background" } },
    ],
  },
  {
    name: "controllerrevision",
    at: apps("controllerrevisions"),
    steps: [
      { post: { metadata: { name: "r" }, data: { a: 1 }, revision: 1 } },
      { post: { revision: 1 } },
      { post: { data: { a: 1 }, revision: -1 } },
      { post: { data: { a: 1 } } },
      ...patches("r", [
        { revision: 2 },
        { data: { a: 2 } },
        { revision: -5 },
        { metadata: { labels: { x: "y" } } },
      ]),
      { delete: "r" },
    ],
  },
];

const jobTemplate: JsonObject = {
  spec: { restartPolicy: "Never", containers: [{ name: "c", image: "nginx" }] },
};
const job: JsonObject = { spec: { template: jobTemplate } };
const cron: JsonObject = {
  spec: { schedule: "*/5 * * * *", jobTemplate: { spec: { template: jobTemplate } } },
};

export const jobs: Story[] = [
  {
    name: "job",
    at: "/apis/batch/v1/namespaces/{ns}/jobs",
    steps: [
      { post: but(job, { "metadata.name": "d" }) },
      { post: {} },
      ...variants(job, [
        { "spec.template.spec.restartPolicy": undefined },
        { "spec.template.spec.restartPolicy": "Always" },
        { "spec.template.spec.restartPolicy": "OnFailure" },
        { "spec.template.spec.containers": [] },
        { "spec.parallelism": -1 },
        { "spec.parallelism": 3 },
        { "spec.completions": 5 },
        { "spec.completions": 5, "spec.parallelism": 2 },
        { "spec.completions": -1 },
        { "spec.backoffLimit": -1 },
        { "spec.activeDeadlineSeconds": -1 },
        { "spec.ttlSecondsAfterFinished": -1 },
        { "spec.completionMode": "Indexed" },
        { "spec.completionMode": "Indexed", "spec.completions": 3 },
        { "spec.completionMode": "Indexed", "spec.completions": 3, "spec.backoffLimitPerIndex": 1 },
        {
          "spec.completionMode": "Indexed",
          "spec.completions": 3,
          "spec.backoffLimitPerIndex": 1,
          "spec.maxFailedIndexes": 5,
        },
        { "spec.backoffLimitPerIndex": 1 },
        { "spec.maxFailedIndexes": 1 },
        { "spec.completionMode": "Nope" },
        { "spec.suspend": true },
        { "spec.manualSelector": true },
        {
          "spec.manualSelector": true,
          "spec.selector": { matchLabels: { x: "y" } },
          "spec.template.metadata": { labels: { x: "y" } },
        },
        {
          "spec.manualSelector": true,
          "spec.selector": { matchLabels: { x: "y" } },
          "spec.template.metadata": { labels: { x: "z" } },
        },
        { "spec.selector": { matchLabels: { x: "y" } } },
        { "spec.template.metadata": { labels: { "batch.kubernetes.io/job-name": "other" } } },
        {
          "spec.podFailurePolicy": {
            rules: [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }],
          },
        },
        {
          "spec.podFailurePolicy": {
            rules: [{ action: "FailJob", onExitCodes: { operator: "In", values: [0, 42] } }],
          },
        },
        {
          "spec.podFailurePolicy": {
            rules: [{ action: "Nope", onExitCodes: { operator: "In", values: [42] } }],
          },
        },
        { "spec.podFailurePolicy": { rules: [{ action: "FailJob" }] } },
        {
          "spec.podFailurePolicy": {
            rules: [
              { action: "FailJob", onExitCodes: { operator: "In", values: [42], containerName: "zz" } },
            ],
          },
        },
        {
          "spec.podFailurePolicy": {
            rules: [{ action: "FailJob", onExitCodes: { operator: "In", values: [42] } }],
          },
          "spec.template.spec.restartPolicy": "OnFailure",
        },
        { "spec.podReplacementPolicy": "Failed" },
        { "spec.podReplacementPolicy": "Nope" },
        { "spec.managedBy": "example.com/x" },
        { "spec.managedBy": "bad" },
        {
          "spec.successPolicy": { rules: [{ succeededCount: 1 }] },
          "spec.completionMode": "Indexed",
          "spec.completions": 3,
        },
        { "spec.successPolicy": { rules: [] }, "spec.completionMode": "Indexed", "spec.completions": 3 },
        { "spec.successPolicy": { rules: [{ succeededCount: 1 }] } },
        { status: { active: 5 } },
      ]),
      ...patches("d", [
        { spec: { parallelism: 2 } },
        { spec: { completions: 2 } },
        { spec: { backoffLimit: 2 } },
        { spec: { suspend: true } },
        { spec: { template: { spec: { containers: [{ name: "c", image: "other" }] } } } },
        { spec: { template: { spec: { nodeSelector: { a: "b" } } } } },
        { spec: { template: { metadata: { labels: { x: "y" } } } } },
        { spec: { selector: { matchLabels: { a: "b" } } } },
        { spec: { suspend: false } },
        { spec: { template: { spec: { nodeSelector: { a: "c" } } } } },
        { spec: { completionMode: "Indexed" } },
        { spec: { activeDeadlineSeconds: 5, ttlSecondsAfterFinished: 6 } },
        {
          spec: {
            podFailurePolicy: {
              rules: [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }],
            },
          },
        },
        { spec: { managedBy: "a/b" } },
        { metadata: { labels: { x: "y" } } },
      ]),
      ...patches(
        "d",
        [
          { status: { active: 1, startTime: "2024-01-01T00:00:00Z" } },
          { status: { active: -1 } },
          { status: { succeeded: 1, failed: -1 } },
          { metadata: { labels: { s: "t" } } },
          { status: { conditions: [{ type: "Complete", status: "True" }] } },
        ],
        "status",
      ),
      { delete: "d", body: { propagationPolicy: "Background" } },
    ],
  },
  {
    name: "cronjob",
    at: "/apis/batch/v1/namespaces/{ns}/cronjobs",
    steps: [
      { post: but(cron, { "metadata.name": "d" }) },
      { post: {} },
      {
        post: but(cron, {
          "metadata.name": "a-name-that-is-rather-too-long-for-a-cronjob-as-it-is-used-for-pods",
        }),
      },
      ...variants(cron, [
        { "spec.schedule": "" },
        { "spec.schedule": "nope" },
        { "spec.schedule": "61 * * * *" },
        { "spec.schedule": "@hourly" },
        { "spec.schedule": "@every 1h" },
        { "spec.schedule": "0 0 * * MON-FRI" },
        { "spec.schedule": "* * * *" },
        { "spec.schedule": "TZ=UTC 0 0 * * *" },
        { "spec.timeZone": "Europe/Berlin" },
        { "spec.timeZone": "Nope/Nope" },
        { "spec.timeZone": "" },
        { "spec.timeZone": "Local" },
        { "spec.concurrencyPolicy": "Nope" },
        { "spec.startingDeadlineSeconds": -1 },
        { "spec.successfulJobsHistoryLimit": -1, "spec.failedJobsHistoryLimit": -1 },
        { "spec.suspend": true },
        { "spec.jobTemplate": undefined },
        { "spec.jobTemplate.spec.template.spec.restartPolicy": "Always" },
        { "spec.jobTemplate.spec.manualSelector": true },
        { "spec.jobTemplate.spec.selector": { matchLabels: { a: "b" } } },
        { "spec.jobTemplate.spec.parallelism": -1 },
        { "spec.jobTemplate.metadata": { labels: { a: "b" }, annotations: { c: "d" } } },
      ]),
      ...patches("d", [
        { spec: { schedule: "* * * * *" } },
        { spec: { suspend: true } },
        { spec: { schedule: "x" } },
        { metadata: { annotations: { a: "b" } } },
        { status: { lastScheduleTime: "2024-01-01T00:00:00Z" } },
      ]),
      ...patches(
        "d",
        [
          { status: { lastScheduleTime: "2024-01-01T00:00:00Z", active: [{ name: "x" }] } },
          { metadata: { labels: { s: "t" } } },
        ],
        "status",
      ),
      { delete: "d" },
    ],
  },
];
