import type { AnyKind } from "@windlass/client";
import { BuildKitOIDCConfig, BuildKitPool, BuildKitRequest, BuildKitWorker } from "../src/index.ts";
import { badPools } from "../src/kinds.fixture.ts";

/** An object that must be refused, and the field that the refusal must name. */
export interface BadManifest {
  readonly why: string;
  readonly field: string;
  readonly kind: AnyKind;
  readonly name: string;
  readonly spec: object;
}

const issuer = "https://issuer.example.com";
const hash = "0".repeat(64);
const time = "2026-11-16T10:00:00Z";
const allocation = { jobId: "1", tokenHash: hash, requestedBy: "a", allocatedAt: time, expiresAt: time };
const request = {
  poolRef: { name: "ci" },
  jobId: "1",
  requestedBy: "a",
  requestedAt: time,
  waitUntil: time,
};

const provider = (why: string, field: string, own: object): BadManifest => ({
  why: `a provider with ${why}`,
  field,
  kind: BuildKitOIDCConfig,
  name: "bad",
  spec: { issuer, audience: "builds", ...own },
});
const worker = (why: string, field: string, spec: object, name = "bad"): BadManifest => ({
  why: `a worker with ${why}`,
  field,
  kind: BuildKitWorker,
  name,
  spec,
});
const waiting = (why: string, field: string, own: object): BadManifest => ({
  why: `a request with ${why}`,
  field,
  kind: BuildKitRequest,
  name: "bad",
  spec: { ...request, ...own },
});

/** Every way of getting it wrong that the definitions should catch. */
export const badManifests: readonly BadManifest[] = [
  ...badPools.map(({ why, field, name = "bad", spec = {} }) => ({
    why: `a pool with ${why}`,
    field,
    kind: BuildKitPool,
    name,
    spec,
  })),
  provider("an issuer that is no URL", "spec.issuer", { issuer: "accounts.example.com" }),
  provider("a query in its issuer", "spec.issuer", { issuer: `${issuer}?a=b` }),
  provider("an empty audience", "spec.audience", { audience: "" }),
  provider("no audience", "spec.audience", { audience: undefined }),
  provider("an algorithm of shared secrets", "spec.algorithms[0]", { algorithms: ["HS256"] }),
  provider("no algorithm", "spec.algorithms", { algorithms: [] }),
  provider("one algorithm twice", "spec.algorithms[1]", { algorithms: ["RS256", "RS256"] }),
  provider("an empty claim", "spec.requiredClaims", { requiredClaims: { repository: "" } }),
  provider("an empty mapping of users", "spec.claimsMapping.user", { claimsMapping: { user: "" } }),
  worker("no pool", "spec.poolRef", {}),
  worker("a slot below zero", "spec.slot", { poolRef: { name: "ci" }, slot: -1 }),
  worker("a token in clear text", "spec.allocation.tokenHash", {
    poolRef: { name: "ci" },
    allocation: { ...allocation, tokenHash: "secret" },
  }),
  worker("an end that is no time", "spec.allocation.expiresAt", {
    poolRef: { name: "ci" },
    allocation: { ...allocation, expiresAt: "tomorrow" },
  }),
  worker("a dot in its name", "metadata.name", { poolRef: { name: "ci" } }, "a.b"),
  waiting("a lifetime of more than a day", "spec.ttl", { ttl: "25h" }),
  waiting("a priority beyond all", "spec.priority", { priority: 1_001 }),
  waiting("no end of its wait", "spec.waitUntil", { waitUntil: undefined }),
];
