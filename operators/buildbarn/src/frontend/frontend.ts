import { cel, defineResource, type ObjectOf } from "@windlass/runtime";
import { z } from "zod";
import {
  annotations,
  common,
  componentColumns,
  componentName,
  componentStatus,
  escapeHatches,
  filled,
  membership,
  objectName,
  oneHatch,
  pods,
  serviceType,
  span,
} from "../fields.ts";

/** An expression that takes all, unless it is given. */
const expression = z.string().min(1).max(4_096).default("`true`");

/** What must be true of a client for it to be allowed something. */
const rule = z.string().min(1).max(4_096).exactOptional();

/** The rules of frontends, wherever their fields are. */
export const frontendRules = [
  oneHatch,
  cel("!has(self.authentication) || !has(self.authentication.clientCertificates) || has(self.tls)", {
    message: "is needed for clientCertificates",
    fieldPath: ".tls",
  }),
] as const;

/** What a BuildbarnFrontend, or the frontend of a BuildbarnCluster, may set. */
export const frontendFields = {
  ...pods,
  replicas: z.int32().min(0).max(1_000).default(3),
  ...escapeHatches,
  serviceType: serviceType.default("LoadBalancer").describe("How Bazel reaches it"),
  serviceAnnotations: annotations.default({}),
  tls: z
    .object({
      secretName: objectName.describe(
        "A Secret with tls.crt and tls.key. A new certificate is used within some two minutes, and restarts nothing",
      ),
    })
    .exactOptional()
    .describe("Has Bazel connect by grpcs://"),
  authentication: z
    .object({
      jwt: z
        .object({
          configMapName: objectName.describe(
            "A ConfigMap with jwks.json: the keys that sign tokens. They are read again every five minutes",
          ),
          claimsValidation: expression.describe(
            "JMESPath on the claims of a token that must be true, such as `iss == 'https://ci.example.com'`",
          ),
        })
        .exactOptional()
        .describe("Accepts clients with a token: bazel --remote_header=authorization='Bearer …'"),
      clientCertificates: z
        .object({
          configMapName: objectName.describe("A ConfigMap with ca.crt: the authorities that sign them"),
          validation: expression.describe("JMESPath on a certificate that must be true"),
        })
        .exactOptional()
        .describe("Accepts clients with a certificate: bazel --tls_client_certificate. Needs tls"),
    })
    .check(cel("has(self.jwt) || has(self.clientCertificates)", "must have jwt or clientCertificates"))
    .exactOptional()
    .describe("Who may use it. Default: any client that reaches it"),
  authorization: z
    .object({
      read: rule.describe("To read blobs and results"),
      writeBlobs: rule.describe("To write blobs. Who may execute needs it too, for inputs"),
      writeResults: rule.describe("To write results of actions that were run elsewhere"),
      execute: rule.describe("To have actions run"),
    })
    .check(
      cel(
        "has(self.read) || has(self.writeBlobs) || has(self.writeResults) || has(self.execute)",
        "must have read, writeBlobs, writeResults or execute",
      ),
    )
    .exactOptional()
    .describe(
      "What those who are let in may do, by JMESPath that must be true, on `claims` of a token, `certificate` of a client and `instanceName`. Default of each: everyone",
    ),
  probe: z
    .object({
      interval: span
        .check(cel("duration(self) >= duration('10s')", "must be at least 10s"))
        .default("10m")
        .describe("How often"),
      timeout: span.default("1m").describe("After how long it has failed"),
    })
    .exactOptional()
    .describe(
      "Has the operator run a small action through the frontend, as Bazel would, and report the result in status.lastProbe. The image of the workers' runners must have a shell",
    ),
};

/** What the frontend of a BuildbarnCluster may set. */
export const frontendFieldsOfCluster = {
  ...frontendFields,
  replicas: z
    .int32()
    .min(0)
    .max(1_000)
    .exactOptional()
    .describe("Pods. Default: 3, which kubectl scale, HPA and KEDA may change on the BuildbarnFrontend"),
};

/** What Bazel talks to. */
export const BuildbarnFrontend = defineResource({
  ...common,
  kind: "BuildbarnFrontend",
  shortNames: ["bbf"],
  description: "The way into a Buildbarn set: what Bazel talks to",
  spec: z
    .object({ ...membership, ...frontendFields })
    .check(...frontendRules)
    .apply(filled),
  status: z.object({
    ...componentStatus,
    endpoint: z.string().optional().describe("What to give Bazel as --remote_executor within the cluster"),
    lastProbe: z
      .object({
        time: z.string(),
        ok: z.boolean(),
        latencyMs: z.int32().min(0),
        cacheHit: z.boolean().describe("Whether the action's result was found again"),
        message: z.string(),
        worker: z.string().describe("The BuildbarnWorker whose platform was asked for"),
        request: z
          .string()
          .optional()
          .describe("The annotation buildbarn.io/probe-now that it was asked for by"),
      })
      .optional(),
  }),
  scale: { labelSelectorPath: ".status.selector" },
  validations: [componentName],
  printerColumns: [
    ...componentColumns.slice(0, 3),
    { name: "Endpoint", jsonPath: ".status.endpoint" },
    ...componentColumns.slice(3),
  ],
});

/** A frontend, as it is read. */
export type Frontend = ObjectOf<typeof BuildbarnFrontend>;
