import { cel, listSet } from "@windlass/runtime";
import { z } from "zod";
import { filled, objectName, positiveSpan } from "../fields.ts";

/** How claims of an identity provider become an identity. */
export const claimsMapping = z.object({
  user: z.string().min(1).max(128).default("sub").describe("The claim that names the user"),
  pools: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe("The claim that lists the pools the user may use, as name or namespace/name"),
});

const noEffect = "Has no effect; accepted from manifests of the original";
const mtls = z
  .object({
    required: z.boolean().default(true).describe(noEffect),
    clientCASecret: objectName.optional().describe(noEffect),
  })
  .describe("Certificates of POST /api/v1/certs/request are always taken");

const token = z.object({
  secretRef: objectName.describe(
    "A Secret whose keys are identities, and whose values are their bearer tokens",
  ),
});

const oidc = z.object({
  issuer: z
    .string()
    .max(512)
    .regex(/^https?:\/\/[^ ?#]+$/),
  audience: z.string().min(1).max(512),
  claimsMapping: claimsMapping.apply(filled),
});

const method = z
  .object({
    type: z.enum(["mtls", "token", "oidc"]),
    mtls: mtls.exactOptional(),
    token: token.exactOptional(),
    oidc: oidc.exactOptional(),
  })
  .check(
    cel("self.type == 'mtls' || !has(self.mtls)", "mtls must not be set unless type is mtls"),
    cel("has(self.token) == (self.type == 'token')", "token must be set if type is token, and only then"),
    cel("has(self.oidc) == (self.type == 'oidc')", "oidc must be set if type is oidc, and only then"),
  );

/** A word in which `*` stands for any characters. */
const glob = z.string().min(1).max(512);
const globs = z.array(glob).min(1).max(64);

const rule = z.object({
  users: globs.describe("Identities it is about; `*` stands for any characters"),
  pools: globs
    .default(["*"])
    .describe("Pools it is about. Only a rule that names this pool, as name or namespace/name, counts here"),
  claims: z
    .record(z.string(), globs)
    .default({})
    .describe("Claims the identity must have, each with the values that are accepted"),
  verbs: z
    .array(z.enum(["allocate", "certs", "view", "admin"]))
    .min(1)
    .max(4)
    .default(["allocate", "certs", "view"])
    .check(listSet())
    .describe("What it allows. admin may renew and release what others allocated"),
  maxConcurrent: z
    .int32()
    .min(1)
    .max(1_000)
    .optional()
    .describe("Workers that one identity may hold at a time"),
  maxTTL: positiveSpan
    .check(cel("duration(self) <= duration('24h')", "must be at most 24h"))
    .optional()
    .describe("The longest that an allocation may last. Default: gateway.maxTokenTTL"),
});

/** Who may use a pool. */
export const auth = z.object({
  methods: z
    .array(method)
    .max(16)
    .default([])
    .describe("How clients of this pool prove who they are, beside those that the whole cluster has"),
  rbac: z
    .object({
      enabled: z
        .boolean()
        .default(true)
        .describe("Whether `rules` count. Without, every identity may use the pool"),
      rules: z
        .array(rule)
        .max(64)
        .default([])
        .describe("Who may do what. Without any, identities of the pool's namespace may use it"),
    })
    .apply(filled),
});
