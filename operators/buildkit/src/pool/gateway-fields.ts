import { cel, quantity } from "@windlass/runtime";
import { z } from "zod";
import {
  annotations,
  cidr,
  filled,
  namespaceName,
  objectName,
  outerName,
  port,
  positiveSpan,
  span,
} from "../fields.ts";

const serviceType = z.enum(["ClusterIP", "NodePort", "LoadBalancer"]);
const tokenTtl = positiveSpan.check(cel("duration(self) <= duration('24h')", "must be at most 24h"));

const gatewayApi = z
  .object({
    enabled: z.boolean().default(false).describe("Makes a TLSRoute, and a Gateway unless gatewayRef is set"),
    gatewayRef: z
      .object({ name: objectName, namespace: namespaceName.optional() })
      .exactOptional()
      .describe("A Gateway that exists, to attach the route to"),
    gatewayClassName: objectName.default("envoy").describe("Of the Gateway to make"),
    gatewayName: objectName.optional().describe("Of the Gateway to make. Default: <pool>-gateway"),
    hostname: outerName.optional().describe("What clients call: TLS routes differ by it"),
    tls: z
      .object({
        mode: z
          .enum(["passthrough", "terminate"])
          .default("passthrough")
          .describe("terminate is refused: the gateway must see the client's certificate"),
      })
      .apply(filled)
      .check(
        cel("self.mode == 'passthrough'", {
          message: "must be passthrough: the pool's gateway must see the client's certificate",
          fieldPath: ".mode",
        }),
      ),
    annotations: annotations.default({}),
  })
  .check(
    cel("!self.enabled || has(self.hostname)", {
      message: "must be set if gatewayAPI is enabled",
      fieldPath: ".hostname",
    }),
  );

const ingress = z
  .object({
    enabled: z.boolean().default(false).describe("Makes an Ingress. Its controller must pass TLS through"),
    ingressClassName: objectName.optional(),
    hostname: outerName.optional(),
    annotations: annotations.default({}).describe("Such as the one that has the controller pass TLS through"),
  })
  .check(
    cel("!self.enabled || has(self.hostname)", {
      message: "must be set if ingress is enabled",
      fieldPath: ".hostname",
    }),
  );

const amount = quantity().exactOptional();

/** The way into a pool. */
export const gateway = z
  .object({
    enabled: z
      .boolean()
      .default(true)
      .describe("Whether there is a gateway. Without, the workers cannot be reached"),
    replicas: z.int32().min(1).max(50).default(1),
    resources: z
      .object({ cpu: amount, memory: amount })
      .apply(filled)
      .describe("What a replica may use. Default: 200m and 256Mi"),
    tokenTTL: tokenTtl
      .default("1h")
      .describe("How long an allocation lasts unless the client says otherwise"),
    maxTokenTTL: tokenTtl.default("24h").describe("The longest that a client may ask for"),
    idleTimeout: span
      .default("0s")
      .describe(
        "An allocation without a build for so long is released early. Default: never, it lasts until its end",
      ),
    drainTimeout: positiveSpan
      .default("1h")
      .describe("How long a replica that stops goes on with the connections it has"),
    serviceType: serviceType.optional().describe("Default: networking.serviceType"),
    port: port.optional().describe("Of the Service. Default: networking.port"),
    nodePort: z.int32().min(30_000).max(32_767).optional(),
    loadBalancerClass: z.string().min(1).max(253).optional(),
    gatewayAPI: gatewayApi.apply(filled),
    ingress: ingress.apply(filled),
  })
  .check(
    cel("duration(self.tokenTTL) <= duration(self.maxTokenTTL)", {
      message: "must not exceed maxTokenTTL",
      fieldPath: ".tokenTTL",
    }),
  );

/** Where a pool is reached. */
export const networking = z.object({
  serviceType: serviceType.default("ClusterIP"),
  port: port.default(1235).describe("Of the Service"),
  annotations: annotations.default({}).describe("Of the Service"),
  allowedCIDRs: z
    .array(cidr)
    .max(64)
    .default([])
    .describe(
      "Where clients may connect from. A NodePort or LoadBalancer Service then sets `externalTrafficPolicy: Local`, so that their addresses are seen, and leads to nodes that run a gateway. Default: anywhere",
    ),
  deniedEgressCIDRs: z
    .array(cidr)
    .max(64)
    .default([])
    .describe(
      "Where builds may not connect to, such as 169.254.169.254/32, 10.0.0.0/8. DNS (port 53) stays possible. Default: anywhere is allowed",
    ),
  external: z
    .object({
      enabled: z.boolean().default(false).describe("Publishes `hostname` as the pool's external endpoint"),
      hostname: outerName.optional().describe("A name that leads to the Service"),
      annotations: annotations.default({}).describe("Of the Service, while enabled"),
    })
    .apply(filled)
    .check(
      cel("!self.enabled || has(self.hostname)", {
        message: "must be set if external is enabled",
        fieldPath: ".hostname",
      }),
    ),
});

/** The certificates of a pool. */
export const tls = z
  .object({
    enabled: z
      .boolean()
      .default(true)
      .describe("Has no effect: clients are known by their certificates, so TLS is always on"),
    mode: z
      .enum(["auto", "manual"])
      .default("auto")
      .describe("Who makes the certificate that clients are shown"),
    auto: z
      .object({
        serverCertDuration: positiveSpan
          .check(
            cel(
              "duration(self) >= duration('5m') && duration(self) <= duration('8784h')",
              "must be from 5m to 8784h",
            ),
          )
          .default("8760h")
          .describe(
            "How long the certificates of its gateway hold. A worker's hold for as long as it may live",
          ),
        rotateBeforeExpiry: positiveSpan
          .optional()
          .describe(
            "How long before their end they are replaced, never before half of their life. Default: a third of it, 720h at most",
          ),
        organization: z
          .string()
          .min(1)
          .max(64)
          .optional()
          .describe("In the subject of the gateway's certificate"),
      })
      .apply(filled)
      .check(
        cel(
          "!has(self.rotateBeforeExpiry) || duration(self.rotateBeforeExpiry) < duration(self.serverCertDuration)",
          {
            message: "must be less than serverCertDuration",
            fieldPath: ".rotateBeforeExpiry",
          },
        ),
      ),
    manual: z
      .object({
        serverCertSecret: objectName.describe("A Secret with tls.crt and tls.key"),
        caSecret: objectName.describe("A Secret whose ca.crt clients trust"),
      })
      .exactOptional(),
  })
  .check(
    cel("has(self.manual) || self.mode != 'manual'", {
      message: "must be set if mode is manual",
      fieldPath: ".manual",
    }),
  );

/** What is reported about a pool. */
export const observability = z.object({
  metrics: z
    .object({
      enabled: z
        .boolean()
        .default(true)
        .describe("Whether Prometheus' annotations are on the gateway's pods"),
      port: port.default(9090).describe("Where gateways serve metrics and probes"),
      allowedNamespaces: z
        .array(namespaceName)
        .max(64)
        .default([])
        .describe("Namespaces whose pods may read the gateways' metrics, such as monitoring. Default: any"),
    })
    .apply(filled),
  logging: z
    .object({
      level: z.enum(["debug", "info", "warn", "error"]).default("info").describe("Of gateways and workers"),
      format: z.enum(["json", "text"]).default("json").describe("Of gateways and workers"),
    })
    .apply(filled),
});
