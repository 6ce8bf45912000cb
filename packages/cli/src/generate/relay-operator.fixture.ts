import { controller, defineResource, webhookServer } from "@windlass/runtime";
import { ConfigMap, Service } from "@windlass/runtime/kinds";
import { z } from "zod";
import { defineOperator } from "./operator.ts";

const Relay = defineResource({
  group: "net.acme.io",
  version: "v1",
  kind: "Relay",
  spec: z.object({ port: z.int32().min(1).describe("May be written as {{ port }}") }),
  status: z.object({}),
});

/**
 * An operator with all that can be declared: a gateway and an API beside the manager, webhooks,
 * settings, alerts, graphs.
 */
export const relayOperator = defineOperator({
  name: "relay-operator",
  description: "Relays {{ anything }}",
  image: "registry.acme.io:5000/relay:1.2.3",
  kinds: [Relay],
  controllers: [controller(Relay, { owns: [Service], reconcile: () => undefined })],
  webhooks: webhookServer({ name: "relay-operator" }).validate(Relay, () => []),
  ports: { api: { port: 8443, service: 443 } },
  components: {
    gateway: {
      replicas: 3,
      args: ["gateway.js", "--verbose"],
      ports: {
        relay: 1235,
        lookup: { port: 5353, protocol: "UDP", service: 53 },
        peers: { port: 7000, service: false },
        media: { port: 20_000, endPort: 20_999 },
      },
      serviceType: "LoadBalancer",
      egress: [1234],
      metricsPort: 9090,
      healthPort: 9091,
      controllers: [controller(Relay, { name: "routes", reads: [ConfigMap], reconcile: () => undefined })],
      namespaceRules: [
        { apiGroups: [""], resources: ["secrets"], verbs: ["get"], resourceNames: ["relay-operator-keys"] },
      ],
      settings: {
        "limits.connections": {
          env: "MAX_CONNECTIONS",
          schema: z.coerce.number().int().min(1).default(1_000_000).describe("Connections at a time"),
        },
        allowed: {
          env: "ALLOWED",
          schema: z
            .string()
            .default("")
            .transform((text) => text.split(",")),
        },
        banner: { env: "BANNER", schema: z.string().default('say "hello"') },
      },
      env: { TOKEN: { secretKeyRef: { name: "relay-operator-keys", key: "token", optional: true } } },
      pod: { volumes: [{ name: "scratch", emptyDir: {} }] },
      container: { volumeMounts: [{ name: "scratch", mountPath: "/tmp" }] },
      twin: {
        metricsPort: 9092,
        healthPort: 9093,
        ports: { control: 7001 },
        env: { CONTROL_PORT: "7001" },
      },
    },
    "log-sink": { egress: "anywhere", metricsPort: false, healthPort: false, ports: { syslog: 6514 } },
  },
  commonSettings: {
    region: { env: "REGION", schema: z.string().default("eu").describe("Where everything is") },
  },
  podMonitors: { relays: { labels: { "net.acme.io/role": "relay" } } },
  alerts: [
    {
      name: "RelaysRefused",
      expr: (labels) => `rate(relay_refused_total{${labels}}[5m]) > 1`,
      summary: "{{ $labels.relay }} refuses connections",
      description: "It is full: raise gateway.limits.connections.",
    },
  ],
  panels: [
    {
      title: "Relayed",
      unit: "bytes",
      queries: [{ expr: (labels) => `relay_bytes{${labels}}`, legend: "{{relay}}" }],
    },
  ],
});
