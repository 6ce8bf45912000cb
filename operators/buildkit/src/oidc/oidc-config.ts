import { defineResource, listSet, type ObjectOf } from "@windlass/runtime";
import { z } from "zod";
import { common, filled, namespaceName, objectName } from "../fields.ts";
import { claimsMapping } from "../pool/auth-fields.ts";

/** An identity provider whose tokens the allocation API takes. */
export const BuildKitOIDCConfig = defineResource({
  ...common,
  kind: "BuildKitOIDCConfig",
  plural: "buildkitoidcconfigs",
  shortNames: ["bkoidc"],
  description: "An OpenID Connect provider whose tokens the allocation API takes",
  spec: z.object({
    issuer: z
      .string()
      .max(512)
      .regex(/^https?:\/\/[^ ?#]+$/)
      .describe(
        "As it is in tokens. Its discovery document is at /.well-known/openid-configuration under it",
      ),
    audience: z.string().min(1).max(512).describe("Tokens must be meant for it"),
    additionalAudiences: z.array(z.string().min(1).max(512)).max(16).default([]).check(listSet()),
    enabled: z.boolean().default(true).describe("Whether its tokens are taken"),
    claimsMapping: claimsMapping.apply(filled).describe("How claims become an identity"),
    identityPrefix: z
      .string()
      .max(128)
      .default("")
      .describe("Put before the user, so that users of two providers are never the same"),
    requiredClaims: z
      .record(z.string(), z.string().min(1).max(512))
      .default({})
      .describe("Claims that a token must have; `*` stands for any characters"),
    algorithms: z
      .array(
        z.enum(["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]),
      )
      .min(1)
      .max(10)
      .default(["RS256", "ES256"])
      .check(listSet())
      .describe("Signatures that are taken"),
    caBundle: z.string().max(65_536).optional().describe("PEM: who signs the provider's own certificate"),
    clientID: z
      .string()
      .min(1)
      .max(512)
      .optional()
      .describe("Taken as an audience too, as ID tokens carry it"),
    clientSecretRef: z
      .object({
        name: objectName,
        namespace: namespaceName.optional(),
        key: z.string().min(1).max(253).default("client-secret"),
      })
      .exactOptional()
      .describe("Has no effect: tokens are verified by public keys. Accepted from manifests of the original"),
  }),
  status: z.object({
    ready: z.boolean().optional(),
    message: z.string().optional(),
    jwksURI: z.string().optional().describe("Where its keys are"),
    keys: z.int32().min(0).optional().describe("How many keys it has that can be used"),
  }),
  printerColumns: [
    { name: "Issuer", jsonPath: ".spec.issuer" },
    { name: "Audience", jsonPath: ".spec.audience" },
    { name: "Enabled", jsonPath: ".spec.enabled", type: "boolean" },
    { name: "Ready", jsonPath: ".status.ready", type: "boolean" },
    { name: "Why", jsonPath: ".status.message", priority: 1 },
    { name: "Age", jsonPath: ".metadata.creationTimestamp", type: "date" },
  ],
});

/** A provider as it is read. */
export type OIDCConfig = ObjectOf<typeof BuildKitOIDCConfig>;
