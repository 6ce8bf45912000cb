import type { JsonObject } from "../../../../packages/control-plane/src/json.ts";
import { patches, type Story, variants } from "../story.ts";

const claim: JsonObject = {
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
};
const volume: JsonObject = {
  spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } },
};

export const storage: Story[] = [
  {
    name: "resourceclaim",
    at: "/apis/resource.k8s.io/v1/namespaces/{ns}/resourceclaims",
    steps: [
      {
        post: {
          spec: {
            devices: {
              requests: [
                { name: "one", exactly: { deviceClassName: "gold" } },
                { name: "three", exactly: { deviceClassName: "gold", count: 3 } },
                { name: "all", exactly: { deviceClassName: "gold", allocationMode: "All" } },
                { name: "either", firstAvailable: [{ name: "a", deviceClassName: "gold" }] },
              ],
            },
          },
        },
      },
    ],
  },
  {
    name: "resourceclaimtemplate",
    at: "/apis/resource.k8s.io/v1/namespaces/{ns}/resourceclaimtemplates",
    steps: [
      {
        post: {
          spec: { spec: { devices: { requests: [{ name: "one", exactly: { deviceClassName: "gold" } }] } } },
        },
      },
    ],
  },
  {
    name: "storageclass",
    at: "/apis/storage.k8s.io/v1/storageclasses",
    steps: [
      { post: { metadata: { name: "{ns}-s" }, provisioner: "example.com/p", allowVolumeExpansion: true } },
      { post: {} },
      { post: { provisioner: "bad prov" } },
      { post: { provisioner: "a/b", reclaimPolicy: "Nope", volumeBindingMode: "Nope" } },
      {
        post: {
          provisioner: "a/b",
          reclaimPolicy: "Retain",
          volumeBindingMode: "WaitForFirstConsumer",
          parameters: { x: "y" },
          mountOptions: ["ro"],
        },
      },
      { post: { provisioner: "a/b", parameters: { "": "y" } } },
      {
        post: {
          provisioner: "a/b",
          allowedTopologies: [{ matchLabelExpressions: [{ key: "a", values: ["b"] }] }],
        },
      },
      {
        post: {
          provisioner: "a/b",
          allowedTopologies: [{ matchLabelExpressions: [{ key: "bad key", values: [] }] }],
        },
      },
      ...patches("{ns}-s", [
        { provisioner: "other/x" },
        { parameters: { a: "b" } },
        { reclaimPolicy: "Retain" },
        { volumeBindingMode: "WaitForFirstConsumer" },
        { allowVolumeExpansion: false },
        { metadata: { annotations: { a: "b" } } },
        { allowVolumeExpansion: true },
      ]),
    ],
  },
  {
    name: "persistentvolumeclaim",
    at: "/api/v1/namespaces/{ns}/persistentvolumeclaims",
    steps: [
      { post: { metadata: { name: "p" }, ...claim } },
      { post: {} },
      ...variants(claim, [
        { "spec.accessModes": undefined },
        { "spec.accessModes": ["Nope"] },
        { "spec.accessModes": ["ReadWriteOncePod", "ReadWriteOnce"] },
        { "spec.resources": undefined },
        { "spec.resources": { requests: { storage: "0" } } },
        { "spec.resources": { requests: { storage: "-1" } } },
        { "spec.resources": { requests: { storage: "2Gi" }, limits: { storage: "1Gi" } } },
        { "spec.volumeMode": "Block" },
        { "spec.volumeMode": "Nope" },
        { "spec.storageClassName": "" },
        { "spec.storageClassName": "Bad_Name" },
        { "spec.storageClassName": "{ns}-s" },
        { "spec.selector": { matchLabels: { a: "b" } } },
        { "spec.selector": { matchExpressions: [{ key: "a", operator: "In" }] } },
        { "spec.dataSource": { kind: "PersistentVolumeClaim", name: "x" } },
        { "spec.dataSource": { kind: "PersistentVolumeClaim" } },
        { "spec.dataSource": { kind: "Pod", name: "x" } },
        { "spec.dataSource": { kind: "VolumeSnapshot", apiGroup: "snapshot.storage.k8s.io", name: "x" } },
        { "spec.dataSourceRef": { kind: "VolumeSnapshot", apiGroup: "snapshot.storage.k8s.io", name: "x" } },
        { "spec.volumeName": "v" },
        { status: { phase: "Bound" } },
        { "metadata.annotations": { "volume.beta.kubernetes.io/storage-class": "x" } },
      ]),
      {
        post: {
          metadata: { name: "q" },
          spec: { ...(claim.spec as JsonObject), storageClassName: "{ns}-s" },
        },
      },
      ...patches("q", [
        { spec: { accessModes: ["ReadWriteMany"] } },
        { spec: { storageClassName: "other" } },
        { spec: { resources: { requests: { storage: "2Gi" } } } },
        { spec: { volumeName: "pv" } },
        { metadata: { labels: { a: "b" } } },
        { status: { phase: "Bound" } },
      ]),
      ...patches(
        "q",
        [
          { status: { phase: "Bound", accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" } } },
          { metadata: { labels: { s: "t" } } },
          { status: { capacity: { storage: "-1" } } },
        ],
        "status",
      ),
      ...patches("q", [
        { spec: { resources: { requests: { storage: "2Gi" } } } },
        { spec: { resources: { requests: { storage: "1Gi" } } } },
        { spec: { resources: { requests: { storage: "500Mi" } } } },
        { spec: { volumeName: "other" } },
        { spec: { storageClassName: "other" } },
        { spec: { volumeAttributesClassName: "x" } },
      ]),
      { delete: "q" },
      { patch: { metadata: { finalizers: null } }, name: "q" },
    ],
  },
  {
    name: "persistentvolume",
    at: "/api/v1/persistentvolumes",
    steps: [
      { post: { metadata: { name: "{ns}-v" }, ...volume } },
      { post: {} },
      ...variants(volume, [
        { "spec.capacity": undefined },
        { "spec.capacity": { storage: "-1" } },
        { "spec.capacity": { storage: "1Gi", cpu: "1" } },
        { "spec.accessModes": undefined },
        { "spec.accessModes": ["Nope"] },
        { "spec.hostPath": undefined },
        { "spec.nfs": { server: "a", path: "/p" } },
        { "spec.hostPath": undefined, "spec.nfs": { server: "a", path: "/p" } },
        { "spec.hostPath": undefined, "spec.csi": { driver: "d", volumeHandle: "h" } },
        { "spec.hostPath": undefined, "spec.csi": {} },
        { "spec.hostPath": undefined, "spec.local": { path: "/p" } },
        {
          "spec.hostPath": undefined,
          "spec.local": { path: "/p" },
          "spec.nodeAffinity": {
            required: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: "a", operator: "In", values: ["b"] }] }],
            },
          },
        },
        { "spec.persistentVolumeReclaimPolicy": "Delete" },
        { "spec.persistentVolumeReclaimPolicy": "Nope" },
        { "spec.hostPath": { path: "/" }, "spec.persistentVolumeReclaimPolicy": "Recycle" },
        { "spec.volumeMode": "Block" },
        { "spec.volumeMode": "Nope" },
        { "spec.storageClassName": "Bad_Name" },
        { "spec.claimRef": { name: "a", namespace: "b" } },
      ]),
      ...patches("{ns}-v", [
        { spec: { capacity: { storage: "2Gi" } } },
        { spec: { hostPath: { path: "/y" } } },
        { spec: { persistentVolumeReclaimPolicy: "Delete" } },
        { spec: { volumeMode: "Block" } },
        { spec: { claimRef: { name: "x", namespace: "y" } } },
        { spec: { storageClassName: "z" } },
        {
          spec: {
            nodeAffinity: {
              required: {
                nodeSelectorTerms: [{ matchExpressions: [{ key: "a", operator: "In", values: ["b"] }] }],
              },
            },
          },
        },
        { status: { phase: "Bound" } },
      ]),
      ...patches(
        "{ns}-v",
        [
          { status: { phase: "Available" } },
          { status: { phase: "Bound" } },
          { metadata: { labels: { s: "t" } } },
        ],
        "status",
      ),
      { delete: "{ns}-v" },
      { patch: { metadata: { finalizers: null } }, name: "{ns}-v" },
    ],
  },
  {
    name: "csidriver",
    at: "/apis/storage.k8s.io/v1/csidrivers",
    steps: [
      { post: { metadata: { name: "{ns}-d" }, spec: {} } },
      { post: {} },
      {
        post: {
          spec: {
            volumeLifecycleModes: ["Nope"],
            fsGroupPolicy: "Nope",
            tokenRequests: [{ audience: "a" }, { audience: "a", expirationSeconds: 1 }],
          },
        },
      },
      ...patches("{ns}-d", [
        { spec: { attachRequired: false } },
        { spec: { podInfoOnMount: true } },
        { spec: { storageCapacity: true } },
      ]),
      { delete: "{ns}-d" },
    ],
  },
  {
    name: "volumeattachment",
    at: "/apis/storage.k8s.io/v1/volumeattachments",
    steps: [
      {
        post: {
          metadata: { name: "{ns}-a" },
          spec: { attacher: "a.b", nodeName: "n", source: { persistentVolumeName: "v" } },
        },
      },
      { post: {} },
      { post: { spec: { attacher: "a", nodeName: "n", source: {} } } },
      ...patches("{ns}-a", [{ spec: { nodeName: "m" } }, { status: { attached: true } }]),
      ...patches("{ns}-a", [{ status: { attached: true } }], "status"),
      { delete: "{ns}-a" },
    ],
  },
];
