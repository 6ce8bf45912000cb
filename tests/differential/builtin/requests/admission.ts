import type { Json, JsonObject } from "../../../../packages/control-plane/src/json.ts";
import { patches, type Step, type Story } from "../story.ts";

const at = "/api/v1/namespaces/{ns}/pods";

const pod = (rest: JsonObject = {}, container: JsonObject = {}): Step => ({
  post: {
    spec: {
      automountServiceAccountToken: false,
      containers: [{ name: "c", image: "x", ...container }],
      ...rest,
    },
  },
});
const asking = (resources: JsonObject): Step => pod({}, { resources });
const make = (path: string, body: Json): Step => ({ send: ["POST", path, body] });
const claim = (storage: string): Step =>
  make("/api/v1/namespaces/{ns}/persistentvolumeclaims", {
    metadata: { name: `sized-${storage.toLowerCase()}` },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } } },
  });

const quota: JsonObject = {
  pods: "1",
  "requests.cpu": "1",
  "count/leases.coordination.k8s.io": "1",
  "services.nodeports": "0",
};
const unused = Object.fromEntries(Object.keys(quota).map((name) => [name, "0"]));
const lease = (name: string): Step =>
  make("/apis/coordination.k8s.io/v1/namespaces/{ns}-quota/leases", { metadata: { name } });

const own = (suffix: string, labels: JsonObject = {}): Step[] => [
  make("/api/v1/namespaces", { metadata: { name: `{ns}-${suffix}`, labels } }),
  make(`/api/v1/namespaces/{ns}-${suffix}/serviceaccounts`, { metadata: { name: "default" } }),
];
const within = (suffix: string): string => `/api/v1/namespaces/{ns}-${suffix}/pods`;

const unsafe: JsonObject = {
  hostNetwork: true,
  hostPID: true,
  volumes: [
    { name: "h", hostPath: { path: "/" } },
    { name: "i", hostPath: { path: "/" } },
  ],
  containers: [
    {
      name: "c",
      image: "x",
      securityContext: {
        privileged: true,
        capabilities: { add: ["NET_ADMIN"] },
        seLinuxOptions: { type: "x", user: "u" },
        seccompProfile: { type: "Unconfined" },
        appArmorProfile: { type: "Unconfined" },
      },
      ports: [{ containerPort: 80, hostPort: 80 }],
    },
    {
      name: "d",
      image: "x",
      securityContext: { privileged: true, capabilities: { add: ["SYS_TIME", "CHOWN"] } },
      ports: [{ containerPort: 81, hostPort: 81 }],
    },
  ],
  securityContext: {
    sysctls: [{ name: "kernel.x", value: "1" }],
    seccompProfile: { type: "Unconfined" },
    seLinuxOptions: { role: "r" },
  },
};
const rooted: JsonObject = {
  securityContext: { runAsUser: 0, runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
  containers: [
    {
      name: "c",
      image: "x",
      livenessProbe: { httpGet: { port: 80, host: "1.2.3.4" } },
      securityContext: {
        runAsUser: 0,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ["ALL"], add: ["NET_BIND_SERVICE"] },
      },
    },
    {
      name: "d",
      image: "x",
      securityContext: {
        runAsNonRoot: false,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ["ALL"] },
      },
    },
  ],
};
const safe: JsonObject = {
  automountServiceAccountToken: false,
  securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
  containers: [
    {
      name: "c",
      image: "x",
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
    },
  ],
};
const judged = (suffix: string): Step[] => [
  ...[
    unsafe,
    rooted,
    safe,
    { containers: [{ name: "c", image: "x" }], volumes: [{ name: "n", nfs: { server: "s", path: "/" } }] },
  ].map((spec, index): Step => make(within(suffix), { metadata: { name: `p${index}` }, spec })),
  make(within(suffix).replace("/api/v1", "/apis/apps/v1").replace("/pods", "/deployments"), {
    metadata: { name: "d" },
    spec: {
      selector: { matchLabels: { a: "b" } },
      template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "x" }] } },
    },
  }),
];

export const admission: Story[] = [
  {
    name: "service account admission",
    at,
    steps: [
      make("/api/v1/namespaces/{ns}/serviceaccounts", {
        metadata: { name: "pull" },
        imagePullSecrets: [{ name: "ps" }],
        automountServiceAccountToken: false,
      }),
      { settleMs: 500 },
      { post: { spec: { serviceAccountName: "pull", containers: [{ name: "c", image: "x" }] } } },
      {
        post: {
          spec: {
            serviceAccountName: "pull",
            automountServiceAccountToken: true,
            containers: [{ name: "c", image: "x" }],
          },
        },
      },
      {
        post: {
          spec: {
            containers: [
              {
                name: "c",
                image: "x",
                volumeMounts: [{ name: "v", mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" }],
              },
              { name: "d", image: "x" },
            ],
            volumes: [{ name: "v", emptyDir: {} }],
          },
        },
      },
      {
        post: {
          metadata: { generateName: "gen-" },
          spec: { serviceAccountName: "none", containers: [{ name: "c", image: "x" }] },
        },
      },
    ],
  },
  {
    name: "limit ranger",
    at,
    steps: [
      make("/api/v1/namespaces/{ns}/limitranges", {
        metadata: { name: "bounds" },
        spec: {
          limits: [
            {
              type: "Container",
              default: { cpu: "1", memory: "1Gi" },
              defaultRequest: { cpu: "500m" },
              max: { cpu: "2" },
              min: { cpu: "100m" },
              maxLimitRequestRatio: { cpu: "3" },
            },
            { type: "Pod", max: { memory: "2Gi" }, min: { cpu: "100m" } },
            { type: "PersistentVolumeClaim", max: { storage: "10Gi" }, min: { storage: "1Gi" } },
          ],
        },
      }),
      { settleMs: 1500 },
      pod(),
      pod({ initContainers: [{ name: "i", image: "x" }] }),
      asking({ limits: { cpu: "3" } }),
      asking({ requests: { cpu: "50m" } }),
      asking({ limits: { cpu: "2" }, requests: { cpu: "100m" } }),
      asking({ limits: { memory: "3Gi" } }),
      claim("20Gi"),
      claim("1Mi"),
      claim("5Gi"),
      { send: ["DELETE", "/api/v1/namespaces/{ns}/limitranges/bounds"] },
      { settleMs: 1000 },
    ],
  },
  {
    name: "quota admission",
    at: within("quota"),
    steps: [
      ...own("quota"),
      make("/api/v1/namespaces/{ns}-quota/resourcequotas", {
        metadata: { name: "q" },
        spec: { hard: quota },
      }),
      {
        send: [
          "PATCH",
          "/api/v1/namespaces/{ns}-quota/resourcequotas/q/status",
          { status: { hard: quota, used: unused } },
          "merge",
        ],
      },
      { settleMs: 1500 },
      pod(),
      asking({ requests: { cpu: "2" } }),
      asking({ requests: { cpu: "200m" } }),
      asking({ requests: { cpu: "200m" } }),
      lease("a"),
      lease("b"),
      make("/api/v1/namespaces/{ns}-quota/services", {
        metadata: { name: "s" },
        spec: { type: "NodePort", ports: [{ port: 80 }] },
      }),
    ],
  },
  {
    name: "pod security",
    at: "/api/v1/namespaces",
    steps: [
      ...own("baseline", {
        "pod-security.kubernetes.io/enforce": "baseline",
        "pod-security.kubernetes.io/warn": "restricted",
      }),
      ...own("restricted", {
        "pod-security.kubernetes.io/enforce": "restricted",
        "pod-security.kubernetes.io/enforce-version": "latest",
      }),
      { settleMs: 1000 },
      ...judged("baseline"),
      ...judged("restricted"),
      ...patches("{ns}-baseline", [
        { metadata: { labels: { "pod-security.kubernetes.io/enforce": "nope" } } },
        { metadata: { labels: { "pod-security.kubernetes.io/warn-version": "x" } } },
      ]),
    ],
  },
  {
    name: "default classes",
    at,
    steps: [
      make("/apis/storage.k8s.io/v1/storageclasses", {
        metadata: { name: "{ns}-d", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
        provisioner: "a.example.com/b",
      }),
      make("/apis/networking.k8s.io/v1/ingressclasses", {
        metadata: { name: "{ns}-d", annotations: { "ingressclass.kubernetes.io/is-default-class": "true" } },
        spec: { controller: "a.example.com/c" },
      }),
      make("/apis/node.k8s.io/v1/runtimeclasses", {
        metadata: { name: "{ns}-d" },
        handler: "h",
        overhead: { podFixed: { cpu: "100m" } },
        scheduling: { nodeSelector: { r: "c" }, tolerations: [{ key: "t", operator: "Exists" }] },
      }),
      { settleMs: 1500 },
      claim("2Gi"),
      make("/apis/networking.k8s.io/v1/namespaces/{ns}/ingresses", {
        metadata: { name: "classless" },
        spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } } },
      }),
      pod({ runtimeClassName: "{ns}-d" }),
      pod({ runtimeClassName: "{ns}-d", nodeSelector: { r: "other" } }),
      pod({ runtimeClassName: "{ns}-d", overhead: { cpu: "1" } }),
      ...["2Gi"].flatMap((size): Step[] => {
        const path = `/api/v1/namespaces/{ns}/persistentvolumeclaims/sized-${size.toLowerCase()}`;
        return [
          {
            send: [
              "PATCH",
              `${path}/status`,
              { status: { phase: "Bound", capacity: { storage: size } } },
              "merge",
            ],
          },
          { send: ["PATCH", path, { spec: { resources: { requests: { storage: "3Gi" } } } }, "merge"] },
        ];
      }),
      { send: ["DELETE", "/apis/storage.k8s.io/v1/storageclasses/{ns}-d"] },
      { send: ["DELETE", "/apis/networking.k8s.io/v1/ingressclasses/{ns}-d"] },
      { send: ["DELETE", "/apis/node.k8s.io/v1/runtimeclasses/{ns}-d"] },
      { settleMs: 1000 },
    ],
  },
];
