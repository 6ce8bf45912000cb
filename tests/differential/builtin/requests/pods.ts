import type { JsonObject } from "../../../../packages/control-plane/src/json.ts";
import { type Story, variants } from "../story.ts";

const at = "/api/v1/namespaces/{ns}/pods";
const base: JsonObject = { spec: { containers: [{ name: "c", image: "nginx" }] } };

const full: JsonObject = {
  metadata: { labels: { app: "web" }, annotations: { note: "x" } },
  spec: {
    initContainers: [
      { name: "init", image: "busybox:1", command: ["true"] },
      { name: "side", image: "busybox:1", restartPolicy: "Always" },
    ],
    containers: [
      {
        name: "c",
        image: "registry:5000/nginx@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        ports: [
          { containerPort: 80, name: "http" },
          { containerPort: 53, protocol: "UDP", hostPort: 5353 },
        ],
        env: [
          { name: "A", value: "1" },
          { name: "B", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
          { name: "C", valueFrom: { secretKeyRef: { name: "s", key: "k" } } },
          { name: "D", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } },
        ],
        envFrom: [{ configMapRef: { name: "cm" }, prefix: "X_" }],
        resources: { limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "0.5" } },
        livenessProbe: { httpGet: { port: 80 } },
        readinessProbe: { tcpSocket: { port: "http" }, periodSeconds: 5 },
        startupProbe: { grpc: { port: 9000 } },
        lifecycle: { preStop: { httpGet: { port: 80 } }, postStart: { exec: { command: ["a"] } } },
        volumeMounts: [
          { name: "v", mountPath: "/v" },
          { name: "e", mountPath: "/e", subPath: "a/b", readOnly: true },
        ],
        securityContext: { runAsUser: 1000, capabilities: { add: ["NET_ADMIN"] } },
      },
      { name: "d", image: "busybox:latest", imagePullPolicy: "Never" },
    ],
    volumes: [
      { name: "v", secret: { secretName: "s" } },
      { name: "e", emptyDir: { medium: "Memory", sizeLimit: "1Gi" } },
      { name: "h", hostPath: { path: "/x" } },
      { name: "m", configMap: { name: "cm", items: [{ key: "a", path: "b" }] } },
      { name: "p", persistentVolumeClaim: { claimName: "claim" } },
      {
        name: "j",
        projected: {
          sources: [
            { serviceAccountToken: { path: "token" } },
            { downwardAPI: { items: [{ path: "l", fieldRef: { fieldPath: "metadata.labels" } }] } },
          ],
        },
      },
      { name: "d", downwardAPI: { items: [{ path: "n", fieldRef: { fieldPath: "metadata.name" } }] } },
      { name: "none" },
      { name: "i", iscsi: { targetPortal: "1.2.3.4", iqn: "iqn.2001-04.com.example:x", lun: 0 } },
      {
        name: "g",
        ephemeral: {
          volumeClaimTemplate: {
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
          },
        },
      },
      { name: "img", image: { reference: "x:latest" } },
      { name: "csi", csi: { driver: "d.example.com" } },
      { name: "nfs", nfs: { server: "s", path: "/p" } },
    ],
    tolerations: [{ key: "a", operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 }],
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: "zone",
        whenUnsatisfiable: "DoNotSchedule",
        labelSelector: { matchLabels: { app: "web" } },
      },
    ],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "a", operator: "In", values: ["b"] }] }],
        },
      },
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 1, podAffinityTerm: { topologyKey: "h", labelSelector: { matchLabels: { a: "b" } } } },
        ],
      },
    },
    securityContext: {
      fsGroup: 1,
      runAsNonRoot: true,
      sysctls: [{ name: "kernel.shm_rmid_forced", value: "0" }],
    },
    hostAliases: [{ ip: "1.2.3.4", hostnames: ["a.b"] }],
    dnsConfig: { nameservers: ["1.1.1.1"], searches: ["a.b"], options: [{ name: "ndots", value: "2" }] },
    imagePullSecrets: [{ name: "s" }],
    nodeSelector: { a: "b" },
  },
};

const container = (rest: JsonObject): { readonly [path: string]: JsonObject[] } => ({
  "spec.containers": [{ name: "c", image: "nginx", ...rest }],
});
const volume = (rest: JsonObject): { readonly [path: string]: JsonObject[] } => ({
  "spec.volumes": [{ name: "v", ...rest }],
});

export const pods: Story[] = [
  {
    name: "pod create",
    at,
    steps: [
      { post: base },
      { post: full },
      { post: {} },
      { post: { spec: {} } },
      ...variants(base, [
        { "spec.hostNetwork": true, ...container({ ports: [{ containerPort: 80 }] }) },
        { "spec.hostNetwork": true, ...container({ ports: [{ containerPort: 80, hostPort: 81 }] }) },
        { "spec.serviceAccountName": "missing" },
        { "spec.serviceAccount": "default" },
        { "spec.automountServiceAccountToken": false },
        { "spec.priorityClassName": "system-node-critical" },
        { "spec.priorityClassName": "missing" },
        { "spec.priority": 5 },
        { "spec.tolerations": [{ operator: "Exists" }] },
        {
          "spec.tolerations": [
            { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" },
          ],
        },
        { "spec.schedulingGates": [{ name: "example.com/gate" }] },
        { "spec.nodeName": "n1" },
        { "spec.terminationGracePeriodSeconds": 0 },
        { "spec.terminationGracePeriodSeconds": -1 },
        { status: { phase: "Running", podIP: "1.2.3.4" } },
        { "metadata.labels": { "bad key": "x" } },
        { "spec.hostname": "h", "spec.subdomain": "s" },
        { "spec.overhead": { cpu: "1" } },
        { "spec.runtimeClassName": "missing" },
        { "spec.os": { name: "linux" } },
        container({
          resources: { limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "1", memory: "1Gi" } },
        }),
        container({ resources: { requests: { cpu: "100m" } } }),
        container({ resources: { requests: { "nvidia.com/gpu": "1" }, limits: { "nvidia.com/gpu": "1" } } }),
        container({ image: "a/b:tag" }),
        container({ image: "a/b:latest" }),
        container({ image: "host:5000/b" }),
        { "spec.resources": { limits: { cpu: "1" } } },
        {
          "spec.initContainers": [
            { name: "i", image: "x", resources: { limits: { memory: "1Gi", cpu: "1" } } },
          ],
        },
      ]),
      { post: { metadata: { generateName: "gen-" }, spec: { containers: [{ name: "", image: "" }] } } },
    ],
  },
  {
    name: "pod invalid",
    at,
    steps: [
      { post: { metadata: { name: "Bad_Name" }, spec: { containers: [] } } },
      ...variants(base, [
        { "spec.containers": [{ image: "nginx" }] },
        { "spec.containers": [{ name: "c" }] },
        { "spec.containers": [{ name: "C_1", image: "nginx" }] },
        { "spec.containers": [{ name: "c", image: " nginx" }] },
        {
          "spec.containers": [
            { name: "c", image: "nginx" },
            { name: "c", image: "nginx" },
          ],
        },
        { "spec.initContainers": [{ name: "c", image: "nginx" }] },
        { "spec.initContainers": [{ name: "i", image: "nginx", livenessProbe: { httpGet: { port: 80 } } }] },
        { "spec.initContainers": [{ name: "i", image: "nginx", restartPolicy: "Never" }] },
        {
          "spec.initContainers": [
            { name: "i", image: "nginx", lifecycle: { preStop: { exec: { command: ["a"] } } } },
          ],
        },
        { "spec.ephemeralContainers": [{ name: "e", image: "nginx" }] },
        container({ restartPolicy: "Always" }),
        container({ imagePullPolicy: "Sometimes" }),
        container({ terminationMessagePolicy: "Nope" }),
        container({ terminationMessagePath: "" }),
        container({ ports: [{ containerPort: 0 }] }),
        container({ ports: [{ containerPort: 70000 }] }),
        container({ ports: [{}] }),
        container({ ports: [{ containerPort: 80, protocol: "HTTP" }] }),
        container({ ports: [{ containerPort: 80, name: "way-too-long-name-x" }] }),
        container({ ports: [{ containerPort: 80, name: "Caps" }] }),
        container({
          ports: [
            { containerPort: 80, name: "a" },
            { containerPort: 81, name: "a" },
          ],
        }),
        container({ ports: [{ containerPort: 80, hostPort: 99999 }] }),
        container({
          ports: [
            { containerPort: 80, hostPort: 1 },
            { containerPort: 81, hostPort: 1 },
          ],
        }),
        container({ env: [{ value: "x" }] }),
        container({ env: [{ name: "1=2", value: "x" }] }),
        container({ env: [{ name: "a b", value: "x" }] }),
        container({
          env: [{ name: "A", value: "x", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
        }),
        container({ env: [{ name: "A", valueFrom: {} }] }),
        container({ env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "spec.nope" } } }] }),
        container({ env: [{ name: "A", valueFrom: { fieldRef: {} } }] }),
        container({ env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.labels['a']" } } }] }),
        container({ env: [{ name: "A", valueFrom: { secretKeyRef: { name: "s" } } }] }),
        container({ env: [{ name: "A", valueFrom: { configMapKeyRef: { key: "a/b" } } }] }),
        container({ env: [{ name: "A", valueFrom: { resourceFieldRef: { resource: "limits.nope" } } }] }),
        container({ env: [{ name: "A", valueFrom: { resourceFieldRef: {} } }] }),
        container({
          env: [
            {
              name: "A",
              valueFrom: { secretKeyRef: { name: "s", key: "k" }, configMapKeyRef: { name: "s", key: "k" } },
            },
          ],
        }),
        container({ envFrom: [{}] }),
        container({ envFrom: [{ configMapRef: {} }] }),
        container({ envFrom: [{ configMapRef: { name: "Bad_Name" } }] }),
        container({ envFrom: [{ configMapRef: { name: "a" }, secretRef: { name: "b" } }] }),
        container({ envFrom: [{ prefix: "a=b", configMapRef: { name: "a" } }] }),
        container({ volumeMounts: [{ name: "nope", mountPath: "/a" }] }),
        container({ volumeMounts: [{ name: "nope" }] }),
        container({ volumeMounts: [{ mountPath: "/a" }] }),
        container({ resources: { requests: { cpu: "2" }, limits: { cpu: "1" } } }),
        container({ resources: { requests: { cpu: "-1" } } }),
        container({ resources: { requests: { "bad name": "1" } } }),
        container({ resources: { requests: { unknown: "1" } } }),
        container({ resources: { requests: { "nvidia.com/gpu": "1" } } }),
        container({ resources: { limits: { "nvidia.com/gpu": "1.5" } } }),
        container({ resources: { requests: { memory: "1.5m" } } }),
        container({
          resources: { requests: { "hugepages-2Mi": "1Gi" }, limits: { "hugepages-2Mi": "1Gi" } },
        }),
        container({ resources: { limits: { "requests.cpu": "1" } } }),
        container({ resources: { claims: [{ name: "x" }] } }),
        container({ livenessProbe: {} }),
        container({ livenessProbe: { httpGet: {} } }),
        container({ livenessProbe: { httpGet: { port: 0 } } }),
        container({ livenessProbe: { httpGet: { port: "Bad_Port" } } }),
        container({ livenessProbe: { httpGet: { port: 80, scheme: "FTP" } } }),
        container({ livenessProbe: { httpGet: { port: 80 }, exec: { command: ["a"] } } }),
        container({ livenessProbe: { exec: {} } }),
        container({ livenessProbe: { tcpSocket: {} } }),
        container({ livenessProbe: { grpc: {} } }),
        container({ livenessProbe: { exec: { command: ["a"] }, successThreshold: 2 } }),
        container({ livenessProbe: { exec: { command: ["a"] }, periodSeconds: -1 } }),
        container({
          livenessProbe: {
            exec: { command: ["a"] },
            initialDelaySeconds: -1,
            timeoutSeconds: -1,
            failureThreshold: -1,
          },
        }),
        container({ readinessProbe: { exec: { command: ["a"] }, terminationGracePeriodSeconds: 5 } }),
        container({ livenessProbe: { exec: { command: ["a"] }, terminationGracePeriodSeconds: 0 } }),
        container({ startupProbe: { exec: { command: ["a"] }, successThreshold: 3 } }),
        container({ livenessProbe: { httpGet: { port: 80, httpHeaders: [{ name: "a b", value: "c" }] } } }),
        container({ lifecycle: { preStop: {} } }),
        container({ lifecycle: { preStop: { sleep: { seconds: -1 } } } }),
        container({ lifecycle: { preStop: { sleep: { seconds: 60 } } } }),
        container({ lifecycle: { stopSignal: "SIGTERM" } }),
        container({ securityContext: { privileged: true, allowPrivilegeEscalation: false } }),
        container({
          securityContext: { capabilities: { add: ["CAP_SYS_ADMIN"] }, allowPrivilegeEscalation: false },
        }),
        container({ securityContext: { runAsUser: -1 } }),
        container({ securityContext: { procMount: "Nope" } }),
        container({ securityContext: { seccompProfile: { type: "Localhost" } } }),
        container({ securityContext: { seccompProfile: { type: "Nope" } } }),
        container({ securityContext: { seccompProfile: { type: "RuntimeDefault", localhostProfile: "x" } } }),
        container({ securityContext: { appArmorProfile: { type: "Nope" } } }),
        container({ securityContext: { windowsOptions: { runAsUserName: "" } } }),
        container({ resizePolicy: [{ resourceName: "cpu", restartPolicy: "Nope" }] }),
        container({ volumeDevices: [{ name: "v", devicePath: "/d" }] }),
      ]),
    ],
  },
  {
    name: "pod volumes",
    at,
    steps: variants(base, [
      { "spec.volumes": [{ emptyDir: {} }] },
      { "spec.volumes": [{ name: "Bad", emptyDir: {} }] },
      {
        "spec.volumes": [
          { name: "v", emptyDir: {} },
          { name: "v", emptyDir: {} },
        ],
      },
      volume({ emptyDir: {}, hostPath: { path: "/a" } }),
      volume({ secret: {} }),
      volume({ secret: { secretName: "s", defaultMode: 777 } }),
      volume({ secret: { secretName: "s", defaultMode: 999999 } }),
      volume({ secret: { secretName: "s", items: [{ key: "a" }] } }),
      volume({ secret: { secretName: "s", items: [{ path: "b" }] } }),
      volume({ secret: { secretName: "s", items: [{ key: "a", path: "../b" }] } }),
      volume({ secret: { secretName: "s", items: [{ key: "a", path: "/b" }] } }),
      volume({ configMap: {} }),
      volume({ configMap: { name: "x", defaultMode: -1 } }),
      volume({ hostPath: {} }),
      volume({ hostPath: { path: "/a/../b" } }),
      volume({ hostPath: { path: "/a", type: "Nope" } }),
      volume({ emptyDir: { sizeLimit: "-1" } }),
      volume({ emptyDir: { medium: "Nope" } }),
      volume({ persistentVolumeClaim: {} }),
      volume({ nfs: {} }),
      volume({ nfs: { server: "s", path: "p" } }),
      volume({ iscsi: {} }),
      volume({ csi: {} }),
      volume({ csi: { driver: "bad/driver" } }),
      volume({ ephemeral: {} }),
      volume({ ephemeral: { volumeClaimTemplate: { spec: {} } } }),
      volume({ projected: {} }),
      volume({ projected: { sources: [{}] } }),
      volume({ projected: { sources: [{ secret: { name: "a" }, configMap: { name: "b" } }] } }),
      volume({ projected: { sources: [{ serviceAccountToken: { path: "t", expirationSeconds: 1 } }] } }),
      volume({ projected: { sources: [{ serviceAccountToken: {} }] } }),
      volume({ downwardAPI: { items: [{ path: "a" }] } }),
      volume({ downwardAPI: { items: [{ path: "a", fieldRef: { fieldPath: "spec.nodeName" } }] } }),
      volume({ downwardAPI: { items: [{ path: "a", resourceFieldRef: { resource: "limits.cpu" } }] } }),
      volume({ gitRepo: {} }),
      volume({ fc: {} }),
      volume({ image: {} }),
      volume({ image: { pullPolicy: "Nope", reference: "x" } }),
      {
        ...volume({ emptyDir: {} }),
        ...container({
          volumeMounts: [
            { name: "v", mountPath: "/a" },
            { name: "v", mountPath: "/a" },
          ],
        }),
      },
      {
        ...volume({ emptyDir: {} }),
        ...container({ volumeMounts: [{ name: "v", mountPath: "/a", subPath: "../b" }] }),
      },
      {
        ...volume({ emptyDir: {} }),
        ...container({ volumeMounts: [{ name: "v", mountPath: "/a", subPath: "/b" }] }),
      },
      {
        ...volume({ emptyDir: {} }),
        ...container({ volumeMounts: [{ name: "v", mountPath: "/a", subPath: "b", subPathExpr: "$(A)" }] }),
      },
      {
        ...volume({ emptyDir: {} }),
        ...container({ volumeMounts: [{ name: "v", mountPath: "/a", mountPropagation: "Bidirectional" }] }),
      },
      {
        ...volume({ emptyDir: {} }),
        ...container({ volumeMounts: [{ name: "v", mountPath: "/a", mountPropagation: "Nope" }] }),
      },
      {
        ...volume({ emptyDir: {} }),
        ...container({ volumeMounts: [{ name: "v", mountPath: "/a", recursiveReadOnly: "Enabled" }] }),
      },
      { ...volume({ emptyDir: {} }), ...container({ volumeDevices: [{ name: "v", devicePath: "/a" }] }) },
    ]),
  },
  {
    name: "pod spec invalid",
    at,
    steps: variants(base, [
      { "spec.restartPolicy": "Sometimes" },
      { "spec.dnsPolicy": "Nope" },
      { "spec.dnsPolicy": "None" },
      { "spec.activeDeadlineSeconds": 0 },
      { "spec.activeDeadlineSeconds": -1 },
      { "spec.nodeSelector": { "bad key": "x" } },
      { "spec.nodeName": "Bad_Name" },
      { "spec.serviceAccountName": "Bad_Name" },
      { "spec.hostname": "Bad_Name" },
      { "spec.subdomain": "Bad_Name" },
      { "spec.schedulerName": "Bad Name" },
      { "spec.tolerations": [{ key: "a", operator: "Nope" }] },
      { "spec.tolerations": [{ key: "a", operator: "Exists", value: "b" }] },
      { "spec.tolerations": [{ key: "bad key", value: "b" }] },
      { "spec.tolerations": [{ value: "b" }] },
      { "spec.tolerations": [{ key: "a", effect: "Nope", operator: "Exists" }] },
      { "spec.tolerations": [{ key: "a", effect: "NoSchedule", operator: "Exists", tolerationSeconds: 1 }] },
      { "spec.tolerations": [{ key: "a", operator: "Gt", value: "5" }] },
      { "spec.hostAliases": [{ ip: "x", hostnames: ["Bad_Name"] }] },
      { "spec.dnsConfig": { nameservers: ["x"], searches: ["bad_name!"], options: [{}] } },
      { "spec.dnsConfig": { nameservers: ["1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4"] } },
      { "spec.imagePullSecrets": [{}] },
      { "spec.readinessGates": [{ conditionType: "bad type" }] },
      { "spec.schedulingGates": [{ name: "bad name" }] },
      { "spec.schedulingGates": [{ name: "a/b" }, { name: "a/b" }] },
      { "spec.schedulingGates": [{ name: "a/b" }], "spec.nodeName": "n" },
      { "spec.topologySpreadConstraints": [{}] },
      {
        "spec.topologySpreadConstraints": [{ maxSkew: 1, topologyKey: "bad key", whenUnsatisfiable: "Nope" }],
      },
      {
        "spec.topologySpreadConstraints": [
          { maxSkew: 1, topologyKey: "a", whenUnsatisfiable: "ScheduleAnyway", minDomains: 2 },
        ],
      },
      {
        "spec.topologySpreadConstraints": [
          { maxSkew: 1, topologyKey: "a", whenUnsatisfiable: "ScheduleAnyway" },
          { maxSkew: 1, topologyKey: "a", whenUnsatisfiable: "ScheduleAnyway" },
        ],
      },
      {
        "spec.topologySpreadConstraints": [
          {
            maxSkew: 1,
            topologyKey: "a",
            whenUnsatisfiable: "DoNotSchedule",
            nodeAffinityPolicy: "Nope",
            matchLabelKeys: ["a"],
          },
        ],
      },
      {
        "spec.affinity": {
          nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } },
        },
      },
      {
        "spec.affinity": {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: "a", operator: "In" }] }],
            },
          },
        },
      },
      {
        "spec.affinity": {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [
                {
                  matchExpressions: [
                    { key: "a", operator: "Nope" },
                    { key: "a", operator: "Exists", values: ["x"] },
                    { key: "a", operator: "Gt", values: ["x", "y"] },
                  ],
                },
              ],
            },
          },
        },
      },
      {
        "spec.affinity": {
          nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 0, preference: {} }] },
        },
      },
      { "spec.affinity": { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{}] } } },
      {
        "spec.affinity": {
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              {
                topologyKey: "a",
                namespaces: ["Bad_Name"],
                labelSelector: { matchExpressions: [{ key: "a", operator: "In" }] },
              },
            ],
          },
        },
      },
      {
        "spec.affinity": {
          podAntiAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 101, podAffinityTerm: { topologyKey: "a" } },
            ],
          },
        },
      },
      { "spec.securityContext": { runAsUser: -1, runAsGroup: -1, fsGroup: -1, supplementalGroups: [-1] } },
      { "spec.securityContext": { sysctls: [{ name: "bad name" }] } },
      {
        "spec.securityContext": {
          sysctls: [
            { name: "a.b", value: "1" },
            { name: "a.b", value: "1" },
          ],
        },
      },
      { "spec.securityContext": { fsGroupChangePolicy: "Nope" } },
      { "spec.securityContext": { seccompProfile: {} } },
      { "spec.securityContext": { supplementalGroupsPolicy: "Nope" } },
      { "spec.shareProcessNamespace": true, "spec.hostPID": true },
      { "spec.hostUsers": false, "spec.hostNetwork": true },
      { "spec.os": {} },
      { "spec.os": { name: "nope" } },
      { "spec.preemptionPolicy": "Nope" },
      { "spec.runtimeClassName": "Bad_Name" },
      { "spec.resourceClaims": [{ name: "a" }] },
      { "spec.setHostnameAsFQDN": true, "spec.hostname": "a" },
      { "metadata.annotations": { "container.apparmor.security.beta.kubernetes.io/x": "unconfined" } },
      { "metadata.annotations": { "seccomp.security.alpha.kubernetes.io/pod": "runtime/default" } },
    ]),
  },
];
