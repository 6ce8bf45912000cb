import type { JsonObject } from "../../../../packages/control-plane/src/json.ts";
import type { Step, Story } from "../story.ts";

const flowControl = "/apis/flowcontrol.apiserver.k8s.io/v1";
const users: JsonObject[] = [{ kind: "User", user: { name: "u" } }];
const reads: JsonObject = { verbs: ["get"], apiGroups: [""], resources: ["pods"], clusterScope: true };

const flow = (name: string, rule: JsonObject, more: JsonObject = {}): Step => ({
  post: {
    metadata: { name },
    spec: {
      priorityLevelConfiguration: { name: "exempt" },
      matchingPrecedence: 9_000,
      rules: [rule],
      ...more,
    },
  },
});
const level = (name: string, spec: JsonObject): Step => ({ post: { metadata: { name }, spec } });
const limited = (more: JsonObject): JsonObject => ({ type: "Limited", limited: more });
const queue = (queuing: JsonObject): JsonObject => limited({ limitResponse: { type: "Queue", queuing } });

const volume = (name: string, source: JsonObject): Step => ({
  post: {
    metadata: { name },
    spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], ...source },
  },
});
const sources = [
  "cephfs",
  "rbd",
  "nfs",
  "hostPath",
  "local",
  "csi",
  "iscsi",
  "fc",
  "azureFile",
  "awsElasticBlockStore",
  "gcePersistentDisk",
  "glusterfs",
  "flexVolume",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "scaleIO",
  "storageos",
  "quobyte",
  "cinder",
  "flocker",
];
const claim = (name: string, devices: JsonObject): Step => ({
  post: { metadata: { name }, spec: { devices } },
});
const driver = "d.example.com";

/** Objects with empty lists and without what is required of them. */
export const emptyParts: readonly Story[] = [
  {
    name: "flow schemas with empty parts",
    at: `${flowControl}/flowschemas`,
    steps: [
      flow("none", { subjects: [], nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/healthz"] }] }),
      flow("rules", { subjects: users }),
      flow("urls", { subjects: users, nonResourceRules: [{ verbs: [], nonResourceURLs: [] }] }),
      flow("stars", {
        subjects: users,
        nonResourceRules: [{ verbs: ["*", "get", "nope"], nonResourceURLs: ["*", "a"] }],
      }),
      flow("paths", {
        subjects: users,
        nonResourceRules: [
          { verbs: ["nope"], nonResourceURLs: ["", "/", "a", "/a b", "/a//b", "/a*", "/*/*", "/a/*"] },
        ],
      }),
      flow("resources", { subjects: users, resourceRules: [{ verbs: [], apiGroups: [], resources: [] }] }),
      flow("all", {
        subjects: users,
        resourceRules: [
          { verbs: ["*", "x"], apiGroups: ["*", ""], resources: ["*", "pods"], namespaces: ["A b", "*"] },
        ],
      }),
      flow("namespaces", { subjects: users, resourceRules: [{ ...reads, namespaces: ["A b", "a"] }] }),
      flow("subjects", {
        subjects: [
          { kind: "X" },
          { kind: "User" },
          { kind: "Group", group: {} },
          { kind: "User", user: { name: "a" }, group: { name: "b" } },
          { kind: "Group", group: { name: "a" }, user: { name: "b" }, serviceAccount: { name: "c" } },
          { kind: "ServiceAccount", serviceAccount: { name: "A_" } },
          { kind: "ServiceAccount", serviceAccount: { name: "*", namespace: "A_" }, user: { name: "b" } },
        ],
        resourceRules: [reads],
      }),
      flow("precedence", { subjects: users, resourceRules: [reads] }, { matchingPrecedence: -1 }),
      flow(
        "most",
        { subjects: users, resourceRules: [reads] },
        {
          matchingPrecedence: 20_000,
          priorityLevelConfiguration: { name: "" },
          distinguisherMethod: { type: "X" },
        },
      ),
      flow("first", { subjects: users, resourceRules: [reads] }, { matchingPrecedence: 1 }),
      flow("usual", { subjects: users, resourceRules: [reads] }, { matchingPrecedence: 0 }),
      // What is read back has a condition that the real server adds in the background.
      { delete: "usual" },
    ],
  },
  {
    name: "priority levels with empty parts",
    at: `${flowControl}/prioritylevelconfigurations`,
    steps: [
      level("bare", { type: "Limited" }),
      level("empty", limited({})),
      level("no-queue", limited({ nominalConcurrencyShares: 0, limitResponse: { type: "Queue" } })),
      level("negative", {
        type: "Limited",
        limited: {
          nominalConcurrencyShares: -1,
          lendablePercent: 101,
          borrowingLimitPercent: -1,
          limitResponse: { type: "X" },
        },
      }),
      level("both", limited({ limitResponse: { type: "Reject", queuing: {} } })),
      level("exempted", { type: "Exempt", limited: { limitResponse: { type: "Reject" } } }),
      level("unknown", { type: "X" }),
      level("queues", queue({ queues: -1, handSize: 100, queueLengthLimit: -1 })),
      level("hands", queue({ queues: 10, handSize: 11, queueLengthLimit: 5 })),
      level("rejects", limited({ limitResponse: { type: "Reject" } })),
      { get: "rejects" },
      { delete: "rejects" },
      level("waits", queue({})),
      { get: "waits" },
      { delete: "waits" },
    ],
  },
  {
    name: "sources of volumes that say nothing",
    at: "/api/v1/persistentvolumes",
    steps: sources.map((source) => volume(source.toLowerCase(), { [source]: {} })),
  },
  {
    name: "claims of devices with empty parts",
    at: "/apis/resource.k8s.io/v1/namespaces/{ns}/resourceclaims",
    steps: [
      claim("nothing", {}),
      { get: "nothing" },
      { delete: "nothing" },
      claim("no-config", { config: [{}] }),
      claim("no-driver", { config: [{ opaque: { driver: "", parameters: {} } }] }),
      claim("no-parameters", { config: [{ opaque: { driver, parameters: null } }] }),
    ],
  },
];
