import {
  type AnyKind,
  ApiError,
  apiVersionOf,
  Client,
  isInvalid,
  type KubernetesObject,
  type ObjectKey,
} from "@windlass/client";
import { goTypes } from "@windlass/kinds/go-types";
import { builtinTypes } from "@windlass/kinds/schemas";
import * as kinds from "@windlass/runtime/kinds";
import { startCluster, type TestCluster } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  filledInWhenEmpty,
  refusedWhenEmpty,
} from "../../packages/runtime/src/resource/typegen/nullable-fields.ts";
import { nullable, nullsIn } from "./go-nulls.ts";

let cluster: TestCluster;
let protobuf: Client;
let namespace: string;

beforeAll(async () => {
  cluster = await startCluster({ embedded: { controllers: "none" } });
  protobuf = new Client({ transport: cluster.transport(), protobuf: true });
  namespace = await cluster.createNamespace();
  // Pods are refused without it, where no controller makes it.
  await cluster.client.create(kinds.ServiceAccount, { metadata: { namespace, name: "default" } });
}, 90_000);
afterAll(() => cluster.close(), 60_000);

/** Made by `openssl req -new`, for a P-256 key. */
const signingRequest = Buffer.from(`-----BEGIN CERTIFICATE REQUEST-----
MIIBFTCBvQIBADAsMQ0wCwYDVQQKDARkZXZzMQwwCgYDVQQKDANvcHMxDTALBgNV
BAMMBGphbmUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARHQvatZWU4n3Z8afvN
lumktITTs8gzTDUVrQqZ9KvbA8pwQZ9VgOOp+hVzuHZXfAwVRzWy1fBeH6tq8ydj
fgc0oC8wLQYJKoZIhvcNAQkOMSAwHjAcBgNVHREEFTATggRmYWtlhwQKAAAJgQVh
QGIuYzAKBggqhkjOPQQDAgNHADBEAiAegzZDZuyEaqzMaxZJtpI4sSNhEUkxdsri
adF48cfeRwIgEjWV2BD4tHvlx3S3mkquDN1BDI0alnGhwMeGFUZXV6A=
-----END CERTIFICATE REQUEST-----
`).toString("base64");
const container = { name: "c", image: "i" };
const labels = { app: "x" };
const selector = { matchLabels: labels };
const template = { metadata: { labels }, spec: { containers: [container] } };
const jobTemplate = { spec: { restartPolicy: "Never", containers: [container] } };
const capacity = { storage: "1Gi" };
const volume = { capacity, accessModes: ["ReadWriteOnce"] };
let groups = 0;
const definition = (more: object = {}, group = `empty${groups++}.windlass.dev`) => ({
  metadata: { name: `boxes.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "boxes", singular: "box", kind: "Box", listKind: "BoxList" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    ...more,
  },
});
const priority = (more: object = {}) => ({
  spec: { type: "Limited", limited: { limitResponse: { type: "Reject" }, ...more } },
});
const flow = (rule: object) => ({
  spec: { priorityLevelConfiguration: { name: "exempt" }, matchingPrecedence: 9000, rules: [rule] },
});
const subjects = [{ kind: "User", user: { name: "u" } }];
const resourceRules = [{ verbs: ["get"], apiGroups: [""], resources: ["pods"], clusterScope: true }];
const nonResourceRules = [{ verbs: ["get"], nonResourceURLs: ["/healthz"] }];
const hook = (more: object) => ({
  webhooks: [
    {
      name: "a.windlass.dev",
      clientConfig: { url: "https://127.0.0.1:1/" },
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      ...more,
    },
  ],
});
const ingress = (http: object) => ({ spec: { rules: [{ host: "a.example.com", http }] } });
const backend = { service: { name: "s", port: { number: 80 } } };
const device = { driver: "d.windlass.dev", pool: "p", device: "g" };

interface Case {
  readonly kind: AnyKind;
  readonly object: object;
  /** What is then written to the status. */
  readonly status?: object;
  /** Where the server sees the fault. @default at a path with the field's name */
  readonly fault?: string;
}

/** For each field that may not be empty, an object in which it is. */
const refused: Readonly<Record<string, Case>> = {
  "admissionregistration.v1.MutatingWebhook.admissionReviewVersions": {
    kind: kinds.MutatingWebhookConfiguration,
    object: hook({ admissionReviewVersions: [] }),
  },
  "admissionregistration.v1.MutatingWebhook.sideEffects": {
    kind: kinds.MutatingWebhookConfiguration,
    object: hook({ sideEffects: null }),
  },
  "admissionregistration.v1.ValidatingWebhook.admissionReviewVersions": {
    kind: kinds.ValidatingWebhookConfiguration,
    object: hook({ admissionReviewVersions: [] }),
  },
  "admissionregistration.v1.ValidatingWebhook.sideEffects": {
    kind: kinds.ValidatingWebhookConfiguration,
    object: hook({ sideEffects: null }),
  },
  "apiextensions.v1.CustomResourceDefinitionSpec.versions": {
    kind: kinds.CustomResourceDefinition,
    object: definition({ versions: [] }),
  },
  "apiextensions.v1.WebhookConversion.conversionReviewVersions": {
    kind: kinds.CustomResourceDefinition,
    object: definition({
      conversion: {
        strategy: "Webhook",
        webhook: { clientConfig: { url: "https://127.0.0.1:1/" }, conversionReviewVersions: [] },
      },
    }),
  },
  "apps.v1.ControllerRevision.data": { kind: kinds.ControllerRevision, object: { revision: 1 } },
  "apps.v1.DaemonSetSpec.selector": {
    kind: kinds.DaemonSet,
    object: { spec: { template } },
    fault: "spec.template.metadata.labels",
  },
  "apps.v1.DeploymentSpec.selector": { kind: kinds.Deployment, object: { spec: { template } } },
  "apps.v1.ReplicaSetSpec.selector": { kind: kinds.ReplicaSet, object: { spec: { template } } },
  "apps.v1.StatefulSetSpec.selector": {
    kind: kinds.StatefulSet,
    object: { spec: { serviceName: "s", template } },
  },
  "batch.v1.PodFailurePolicyOnExitCodesRequirement.values": {
    kind: kinds.Job,
    object: {
      spec: {
        template: jobTemplate,
        podFailurePolicy: { rules: [{ action: "Ignore", onExitCodes: { operator: "In", values: [] } }] },
      },
    },
  },
  "batch.v1.SuccessPolicy.rules": {
    kind: kinds.Job,
    object: {
      spec: {
        template: jobTemplate,
        completionMode: "Indexed",
        completions: 2,
        parallelism: 2,
        successPolicy: { rules: [] },
      },
    },
  },
  "certificates.v1.CertificateSigningRequestSpec.request": {
    kind: kinds.CertificateSigningRequest,
    object: { spec: { signerName: "windlass.dev/s", usages: ["client auth"], request: "" } },
  },
  "core.v1.CephFSPersistentVolumeSource.monitors": {
    kind: kinds.PersistentVolume,
    object: { spec: { ...volume, cephfs: { monitors: [] } } },
  },
  "core.v1.CephFSVolumeSource.monitors": podWith({ volumes: [{ name: "v", cephfs: { monitors: [] } }] }),
  "core.v1.NodeSelector.nodeSelectorTerms": podWith({
    affinity: {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } },
    },
  }),
  "core.v1.PodSpec.containers": podWith({ containers: [] }),
  "core.v1.RBDPersistentVolumeSource.monitors": {
    kind: kinds.PersistentVolume,
    object: { spec: { ...volume, rbd: { image: "i", monitors: [] } } },
  },
  "core.v1.RBDVolumeSource.monitors": podWith({
    volumes: [{ name: "v", rbd: { image: "i", monitors: [] } }],
  }),
  "core.v1.TopologySelectorLabelRequirement.values": {
    kind: kinds.StorageClass,
    object: {
      provisioner: "windlass.dev/p",
      allowedTopologies: [{ matchLabelExpressions: [{ key: "zone", values: [] }] }],
    },
  },
  "discovery.v1.Endpoint.addresses": {
    kind: kinds.EndpointSlice,
    object: { addressType: "IPv4", endpoints: [{ addresses: [] }] },
  },
  "flowcontrol.v1.NonResourcePolicyRule.nonResourceURLs": {
    kind: kinds.FlowSchema,
    object: flow({ subjects, nonResourceRules: [{ verbs: ["get"], nonResourceURLs: [] }] }),
  },
  "flowcontrol.v1.NonResourcePolicyRule.verbs": {
    kind: kinds.FlowSchema,
    object: flow({ subjects, nonResourceRules: [{ verbs: [], nonResourceURLs: ["/a"] }] }),
  },
  "flowcontrol.v1.PolicyRulesWithSubjects.subjects": {
    kind: kinds.FlowSchema,
    object: flow({ subjects: [], nonResourceRules }),
  },
  "flowcontrol.v1.ResourcePolicyRule.apiGroups": {
    kind: kinds.FlowSchema,
    object: flow({ subjects, resourceRules: [{ ...resourceRules[0], apiGroups: [] }] }),
  },
  "flowcontrol.v1.ResourcePolicyRule.resources": {
    kind: kinds.FlowSchema,
    object: flow({ subjects, resourceRules: [{ ...resourceRules[0], resources: [] }] }),
  },
  "flowcontrol.v1.ResourcePolicyRule.verbs": {
    kind: kinds.FlowSchema,
    object: flow({ subjects, resourceRules: [{ ...resourceRules[0], verbs: [] }] }),
  },
  "networking.v1.HTTPIngressPath.pathType": {
    kind: kinds.Ingress,
    object: ingress({ paths: [{ path: "/", backend }] }),
  },
  "networking.v1.HTTPIngressRuleValue.paths": { kind: kinds.Ingress, object: ingress({ paths: [] }) },
  "rbac.v1.PolicyRule.verbs": {
    kind: kinds.Role,
    object: { rules: [{ verbs: [], apiGroups: [""], resources: ["pods"] }] },
  },
  "resource.v1.OpaqueDeviceConfiguration.parameters": {
    kind: kinds.ResourceClaim,
    object: { spec: { devices: { config: [{ opaque: { driver: "d.windlass.dev", parameters: null } }] } } },
  },
};

/** For each field that the server fills in, an object that leaves it out. */
const filledIn: Readonly<Record<string, Case>> = {
  "apiextensions.v1.CustomResourceDefinitionStatus.storedVersions": {
    kind: kinds.CustomResourceDefinition,
    object: definition(),
    status: { storedVersions: [] },
  },
  "authorization.v1.NonResourceRule.verbs": rulesOf(),
  "authorization.v1.ResourceRule.verbs": rulesOf(),
  "authorization.v1.SubjectRulesReviewStatus.nonResourceRules": rulesOf(),
  "authorization.v1.SubjectRulesReviewStatus.resourceRules": rulesOf(),
  "certificates.v1.CertificateSigningRequestCondition.lastTransitionTime": failedRequest(),
  "certificates.v1.CertificateSigningRequestCondition.lastUpdateTime": failedRequest(),
  "core.v1.GRPCAction.service": podWith({
    containers: [{ ...container, livenessProbe: { grpc: { port: 80 } } }],
  }),
  "flowcontrol.v1.LimitedPriorityLevelConfiguration.nominalConcurrencyShares": {
    kind: kinds.PriorityLevelConfiguration,
    object: priority(),
  },
  "networking.v1.IngressClassParametersReference.scope": {
    kind: kinds.IngressClass,
    object: { spec: { controller: "windlass.dev/c", parameters: { kind: "Box", name: "b" } } },
  },
};

const untimed = { type: "Tried", status: "True", reason: "Tried", message: "" };

/** Objects whose fields are as empty as they may be. */
const empty: readonly Case[] = [
  {
    kind: kinds.CustomResourceDefinition,
    object: definition(),
    status: { conditions: [untimed], storedVersions: ["v1"], acceptedNames: { plural: "", kind: "" } },
  },
  { kind: kinds.Deployment, object: { spec: { selector, template } }, status: { conditions: [untimed] } },
  { kind: kinds.DaemonSet, object: { spec: { selector, template } }, status: { conditions: [untimed] } },
  { kind: kinds.ReplicaSet, object: { spec: { selector, template } }, status: { conditions: [untimed] } },
  {
    kind: kinds.StatefulSet,
    object: { spec: { serviceName: "s", selector, template } },
    status: { conditions: [untimed] },
  },
  {
    kind: kinds.ReplicationController,
    object: { spec: { selector: labels, template } },
    status: { conditions: [untimed] },
  },
  {
    kind: kinds.HorizontalPodAutoscaler,
    object: {
      spec: { maxReplicas: 2, scaleTargetRef: { kind: "Deployment", name: "d", apiVersion: "apps/v1" } },
    },
    status: { conditions: [untimed] },
  },
  {
    kind: kinds.Job,
    object: { spec: { template: jobTemplate, podFailurePolicy: { rules: [] } } },
    status: { conditions: [untimed] },
  },
  {
    kind: kinds.PersistentVolume,
    object: { spec: { ...volume, azureFile: { secretName: "s", shareName: "s" } } },
  },
  {
    kind: kinds.PersistentVolume,
    object: { spec: { ...volume, scaleIO: { gateway: "g", system: "s", volumeName: "v" } } },
  },
  {
    kind: kinds.PersistentVolumeClaim,
    object: {
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: capacity },
        dataSource: { kind: "PersistentVolumeClaim", name: "other" },
      },
    },
    status: { conditions: [untimed] },
  },
  {
    kind: kinds.Node,
    object: {},
    status: { images: [{ names: [], sizeBytes: 1 }], conditions: [untimed] },
  },
  { kind: kinds.Namespace, object: {}, status: { conditions: [untimed] } },
  {
    ...podWith({
      volumes: [
        { name: "p", projected: { sources: [] } },
        { name: "s", scaleIO: { gateway: "g", system: "s", volumeName: "v" } },
      ],
    }),
    status: {
      phase: "Running",
      conditions: [untimed],
      containerStatuses: [
        {
          name: "c",
          image: "i",
          imageID: "",
          ready: false,
          restartCount: 1,
          state: { running: {} },
          lastState: { terminated: { exitCode: 1 } },
        },
      ],
    },
  },
  { kind: kinds.Event, object: { involvedObject: {}, series: { count: 2 } } },
  { kind: kinds.LimitRange, object: { spec: { limits: [] } } },
  { kind: kinds.EndpointSlice, object: { addressType: "IPv4", endpoints: [], ports: [] } },
  { kind: kinds.Service, object: { spec: { ports: [{ port: 80 }] } }, status: { conditions: [untimed] } },
  { kind: kinds.FlowSchema, object: flow({ subjects, resourceRules }), status: { conditions: [untimed] } },
  { kind: kinds.PriorityLevelConfiguration, object: priority(), status: { conditions: [untimed] } },
  { kind: kinds.Role, object: { rules: [] } },
  { kind: kinds.ClusterRole, object: { rules: [] } },
  {
    kind: kinds.ResourceClaim,
    object: {
      spec: { devices: { requests: [{ name: "r", exactly: { deviceClassName: "c.windlass.dev" } }] } },
    },
    status: {
      allocation: { devices: { results: [{ request: "r", ...device }] } },
      devices: [device],
    },
  },
  { kind: kinds.ResourceClaim, object: { spec: { devices: {} } } },
  { kind: kinds.CSINode, object: { spec: { drivers: [] } } },
  { kind: kinds.CSINode, object: { spec: { drivers: [{ name: "d.windlass.dev", nodeID: "n" }] } } },
  {
    kind: kinds.VolumeAttachment,
    object: { spec: { attacher: "a.windlass.dev", nodeName: "n", source: { persistentVolumeName: "v" } } },
    status: { attached: false, attachError: { message: "m" } },
  },
  {
    kind: kinds.APIService,
    object: {
      metadata: { name: "v1.absent.windlass.dev" },
      spec: {
        group: "absent.windlass.dev",
        version: "v1",
        groupPriorityMinimum: 100,
        versionPriority: 100,
        insecureSkipTLSVerify: true,
        service: { namespace: "default", name: "absent" },
      },
    },
    status: { conditions: [untimed] },
  },
];

/** What may be null and is not here, with the reason. */
const untried: Readonly<Record<string, string>> = {
  "core.v1.PodExtendedResourceClaimStatus.requestMappings": "needs a scheduler with extended resources",
  "resource.v1.CapacityRequestPolicy.default": "behind a feature gate that is off",
};

function podWith(spec: object): Case {
  return { kind: kinds.Pod, object: { spec: { containers: [container], ...spec } } };
}

function failedRequest(): Case {
  return {
    kind: kinds.CertificateSigningRequest,
    object: { spec: { signerName: "windlass.dev/s", usages: ["client auth"], request: signingRequest } },
    status: { conditions: [{ type: "Failed", status: "True", reason: "Tried" }] },
  };
}

function rulesOf(): Case {
  return { kind: kinds.SelfSubjectRulesReview, object: { spec: { namespace: "default" } } };
}

const typeNames: ReadonlySet<string> = new Set(Object.keys(builtinTypes));
let made = 0;

function pathOf(kind: AnyKind, ...more: string[]): string {
  const place = kind.scope === "Namespaced" ? ["namespaces", namespace] : [];
  const root = kind.group === "" ? "/api" : "/apis";
  return [root, apiVersionOf(kind), ...place, kind.plural, ...more].join("/");
}

/** Creates the object, writes its status, and returns each answer. */
async function answersTo({ kind, object, status }: Case): Promise<unknown[]> {
  const { client } = cluster;
  const metadata = { name: `empty-${made++}` };
  const path = pathOf(kind);
  const involved = kind === kinds.Event ? { involvedObject: { namespace } } : {};
  const created = await client.json({ method: "POST", path, body: { metadata, ...object, ...involved } });
  const { name } = (created as { metadata: { name?: string } }).metadata;
  if (name === undefined) return [created];
  try {
    const key = kind.scope === "Namespaced" ? { namespace, name } : { name };
    const answers: unknown[] = [created, await readInBoth(kind, key)];
    if (kind === kinds.Event) answers.push(await client.get(kinds.EventV1, { namespace, name }));
    if (status === undefined) return answers;
    const headers = { "content-type": "application/merge-patch+json" };
    const patched = await client.json({
      method: "PATCH",
      path: pathOf(kind, name, "status"),
      headers,
      body: { status },
    });
    return [...answers, patched, await readInBoth(kind, key)];
  } finally {
    await client.json({ method: "DELETE", path: pathOf(kind, name) });
  }
}

/** Reads an object, which must be the same in JSON and in protobuf. */
async function readInBoth(kind: AnyKind, key: ObjectKey): Promise<KubernetesObject> {
  for (;;) {
    const [json, other] = [await cluster.client.get(kind, key), await protobuf.get(kind, key)];
    // A real server's own controllers may have written it in between.
    if (json.metadata.resourceVersion !== other.metadata.resourceVersion) continue;
    expect(other, "in protobuf").toEqual(json);
    return json;
  }
}

function goTypeOf({ group, version, kind }: AnyKind): string {
  return `${goTypes.groups[group] ?? ""}.${version}.${kind}`;
}

function namesIn(fields: Readonly<Record<string, readonly string[]>>): string[] {
  return Object.entries(fields).flatMap(([type, names]) => names.map((name) => `${type}.${name}`));
}

test("each field that may not be empty has a request here, and is in Go's types", () => {
  expect(namesIn(refusedWhenEmpty).sort()).toEqual(Object.keys(refused).sort());
  expect(namesIn(filledInWhenEmpty).sort()).toEqual(Object.keys(filledIn).sort());
  const listed = [...namesIn(refusedWhenEmpty), ...namesIn(filledInWhenEmpty)];
  const isNull = (name: string) => {
    const dot = name.lastIndexOf(".");
    return nullable.isNullInGo(name.slice(0, dot), name.slice(dot + 1));
  };
  expect(listed.filter((name) => !isNull(name))).toEqual([]);
});

test.each(Object.entries(refused))("%s is refused when it is empty", async (field, one) => {
  const error = await answersTo(one).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ApiError);
  const name = one.fault ?? field.slice(field.lastIndexOf(".") + 1);
  expect(String(error)).toSatisfy(() => isInvalid(error));
  expect((error as ApiError).causes.map((cause) => cause.field ?? "").join(" ")).toContain(name);
});

test.each(Object.entries(filledIn))("%s is filled in when it is empty", async (field, one) => {
  for (const answer of await answersTo(one)) expect(nullsIn(answer, goTypeOf(one.kind))).not.toContain(field);
});

test("what is null in an answer may be null in its type, and what may be null is seen to be", async () => {
  const seen = new Set<string>();
  for (const one of empty) {
    for (const answer of await answersTo(one)) {
      const { apiVersion = "" } = answer as { readonly apiVersion?: string };
      const type = goTypeOf(apiVersion.startsWith("events.") ? kinds.EventV1 : one.kind);
      for (const name of nullsIn(answer, type)) seen.add(name);
    }
  }
  const allowed = fieldsThatMayBeNull();
  expect([...seen].filter((name) => !allowed.includes(name))).toEqual([]);
  expect(allowed.filter((name) => !seen.has(name) && !Object.hasOwn(untried, name))).toEqual([]);
});

/** Of the types that the packages have. */
function fieldsThatMayBeNull(): string[] {
  return Object.entries(goTypes.packages).flatMap(([id, { types }]) =>
    Object.entries(types).flatMap(([name, fields]) => {
      if (typeof fields === "string" || !typeNames.has(`${id.replace(".", "")}.${name}`)) return [];
      const full = `${id}.${name}`;
      return fields.filter(([field]) => nullable.has(full, field)).map(([field]) => `${full}.${field}`);
    }),
  );
}
