import type { PodTemplateSpecInput } from "@windlass/runtime/kinds";

/** A template that uses most of what people write into one. */
export const fullTemplate: PodTemplateSpecInput = {
  metadata: {
    name: "web",
    labels: { app: "web" },
    annotations: { "example.com/note": "x" },
    finalizers: ["example.com/a"],
  },
  spec: {
    serviceAccountName: "web",
    automountServiceAccountToken: false,
    priorityClassName: "system-node-critical",
    terminationGracePeriodSeconds: 20,
    nodeSelector: { "kubernetes.io/os": "linux" },
    imagePullSecrets: [{ name: "registry" }],
    hostAliases: [{ ip: "10.0.0.1", hostnames: ["a", "b"] }],
    dnsConfig: { nameservers: ["10.0.0.2"], options: [{ name: "ndots", value: "2" }] },
    readinessGates: [{ conditionType: "example.com/ready" }],
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 1000,
      fsGroup: 2000,
      supplementalGroups: [1, 1],
      seccompProfile: { type: "RuntimeDefault" },
      sysctls: [{ name: "net.core.somaxconn", value: "1024" }],
    },
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            {
              matchExpressions: [
                { key: "zone", operator: "In", values: ["a", "b"] },
                { key: "gpu", operator: "Exists" },
              ],
            },
          ],
        },
      },
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 10,
            podAffinityTerm: {
              topologyKey: "kubernetes.io/hostname",
              labelSelector: { matchLabels: { app: "web" } },
            },
          },
        ],
      },
    },
    tolerations: [
      { key: "dedicated", operator: "Equal", value: "web", effect: "NoSchedule" },
      { operator: "Exists" },
    ],
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: "topology.kubernetes.io/zone",
        whenUnsatisfiable: "ScheduleAnyway",
        labelSelector: { matchLabels: { app: "web" } },
      },
    ],
    initContainers: [
      { name: "init", image: "busybox:1.35", command: ["sh", "-c", "true"], restartPolicy: "Always" },
    ],
    containers: [
      {
        name: "web",
        image: "nginx:1.29",
        imagePullPolicy: "IfNotPresent",
        args: ["--port", "80", "--port", "81"],
        workingDir: "/srv",
        env: [
          { name: "PLAIN", value: "a" },
          { name: "SECRET", valueFrom: { secretKeyRef: { name: "s", key: "k", optional: true } } },
          { name: "IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
          { name: "CPU", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "1m" } } },
        ],
        envFrom: [{ prefix: "X_", configMapRef: { name: "settings" } }],
        ports: [
          { name: "http", containerPort: 80, protocol: "TCP" },
          { name: "dns", containerPort: 53, protocol: "UDP" },
        ],
        resources: { requests: { cpu: "100m", memory: "64Mi" }, limits: { cpu: "1", memory: "1Gi" } },
        livenessProbe: { tcpSocket: { port: 80 }, periodSeconds: 5 },
        readinessProbe: {
          httpGet: { path: "/ready", port: "http", httpHeaders: [{ name: "A", value: "b" }] },
          failureThreshold: 2,
        },
        startupProbe: { exec: { command: ["true"] } },
        lifecycle: { preStop: { sleep: { seconds: 1 } } },
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"], add: ["NET_BIND_SERVICE"] },
        },
        volumeMounts: [
          { name: "config", mountPath: "/etc/web", readOnly: true },
          { name: "data", mountPath: "/data", subPath: "web" },
        ],
        volumeDevices: [{ name: "disk", devicePath: "/dev/x" }],
      },
    ],
    volumes: [
      { name: "config", configMap: { name: "settings", items: [{ key: "a", path: "a.conf", mode: 420 }] } },
      { name: "data", emptyDir: { medium: "Memory", sizeLimit: "64Mi" } },
      {
        name: "all",
        projected: {
          sources: [
            { secret: { name: "s" } },
            { serviceAccountToken: { path: "token", audience: "x", expirationSeconds: 3600 } },
            { downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] } },
          ],
        },
      },
      {
        name: "disk",
        ephemeral: {
          volumeClaimTemplate: {
            metadata: { labels: { app: "web" } },
            spec: {
              accessModes: ["ReadWriteOnce"],
              volumeMode: "Block",
              resources: { requests: { storage: "1Gi" } },
            },
          },
        },
      },
      { name: "host", hostPath: { path: "/var/log", type: "" } },
    ],
  },
};
