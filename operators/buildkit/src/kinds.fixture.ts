import { BuildKitOIDCConfig, BuildKitPool, BuildKitRequest, BuildKitWorker } from "./index.ts";

/** The kinds of this operator, in the order in which they are installed. */
export const kinds = [BuildKitPool, BuildKitWorker, BuildKitRequest, BuildKitOIDCConfig] as const;

/** The sample of the original's architecture document, to the letter. */
export const originalSample = {
  apiVersion: "buildkit.smrt-devops.net/v1alpha1",
  kind: "BuildKitPool",
  metadata: { name: "my-pool" },
  spec: {
    scaling: { mode: "auto", min: 0, max: 10 },
    gateway: { enabled: true },
    tls: { enabled: true },
  },
} as const;

/** The original's identity provider for GitHub Actions. */
export const originalOidcSample = {
  apiVersion: "buildkit.smrt-devops.net/v1alpha1",
  kind: "BuildKitOIDCConfig",
  metadata: { name: "github-actions-oidc" },
  spec: {
    issuer: "https://token.actions.githubusercontent.com",
    audience: "buildkit-controller",
    enabled: true,
    claimsMapping: { user: "actor" },
  },
} as const;

/** A pool that must be refused, and the field that the refusal must name. */
export interface BadPool {
  readonly why: string;
  readonly field: string;
  readonly name?: string;
  readonly spec?: object;
}

const backend = (own: object) => ({ cache: { backends: [own] } });
const method = (own: object) => ({ auth: { methods: [own] } });

/** Every way of getting it wrong that the definition should catch. */
export const badPools: readonly BadPool[] = [
  { why: "min above max", field: "spec.scaling.min", spec: { scaling: { min: 20, max: 5 } } },
  { why: "min below zero", field: "spec.scaling.min", spec: { scaling: { min: -1 } } },
  { why: "max of zero", field: "spec.scaling.max", spec: { scaling: { max: 0 } } },
  { why: "an unknown mode", field: "spec.scaling.mode", spec: { scaling: { mode: "turbo" } } },
  {
    why: "a delay that is no span of time",
    field: "spec.scaling.scaleDownDelay",
    spec: { scaling: { scaleDownDelay: "banana" } },
  },
  {
    why: "a schedule that is no cron",
    field: "spec.scaling.scaleDownSchedule",
    spec: { scaling: { scaleDownSchedule: "not cron" } },
  },
  {
    why: "a schedule at hour 24",
    field: "spec.scaling.scaleDownSchedule",
    spec: { scaling: { scaleDownSchedule: "0 24 * * *" } },
  },
  {
    why: "a time zone that does not exist",
    field: "spec.scaling.timeZone",
    spec: { scaling: { timeZone: "Atlantis/Capital" } },
  },
  {
    why: "a window with more warm workers than max",
    field: "spec.scaling.windows",
    spec: { scaling: { max: 3, windows: [{ name: "day", start: "0 8 * * 1-5", duration: "10h", min: 4 }] } },
  },
  {
    why: "two windows of one name",
    field: "spec.scaling.windows[1]",
    spec: {
      scaling: {
        windows: [
          { name: "day", start: "0 8 * * *", duration: "1h", min: 1 },
          { name: "day", start: "0 9 * * *", duration: "1h", min: 1 },
        ],
      },
    },
  },
  {
    why: "a window that lasts no time",
    field: "spec.scaling.windows[0].duration",
    spec: { scaling: { windows: [{ name: "day", start: "0 8 * * *", duration: "0s", min: 1 }] } },
  },
  { why: "a port out of range", field: "spec.networking.port", spec: { networking: { port: 999_999 } } },
  { why: "a gateway port of zero", field: "spec.gateway.port", spec: { gateway: { port: 0 } } },
  { why: "no replicas of the gateway", field: "spec.gateway.replicas", spec: { gateway: { replicas: 0 } } },
  {
    why: "a node port out of range",
    field: "spec.gateway.nodePort",
    spec: { gateway: { serviceType: "NodePort", nodePort: 80 } },
  },
  {
    why: "a node port of a ClusterIP",
    field: "spec.gateway.nodePort",
    spec: { gateway: { nodePort: 30_100 } },
  },
  {
    why: "a load balancer class of a NodePort",
    field: "spec.gateway.loadBalancerClass",
    spec: { gateway: { serviceType: "NodePort", loadBalancerClass: "example.com/lb" } },
  },
  {
    why: "tokens that hold for longer than a day",
    field: "spec.gateway.maxTokenTTL",
    spec: { gateway: { maxTokenTTL: "25h" } },
  },
  {
    why: "tokens that hold for longer than the most",
    field: "spec.gateway.tokenTTL",
    spec: { gateway: { tokenTTL: "2h", maxTokenTTL: "1h" } },
  },
  {
    why: "a route without a host name",
    field: "spec.gateway.gatewayAPI.hostname",
    spec: { gateway: { gatewayAPI: { enabled: true } } },
  },
  {
    why: "a route that terminates TLS",
    field: "spec.gateway.gatewayAPI.tls.mode",
    spec: {
      gateway: { gatewayAPI: { enabled: true, hostname: "b.example.com", tls: { mode: "terminate" } } },
    },
  },
  ...["buildkit-controller-api", "ci.builds", "ci.builds.svc", "ci.builds.svc.cluster.local"].map(
    (hostname) => ({
      why: `a Service's name (${hostname}) for clients outside`,
      field: "spec.networking.external.hostname",
      spec: { networking: { external: { enabled: true, hostname } } },
    }),
  ),
  {
    why: "a Service's name in a route",
    field: "spec.gateway.gatewayAPI.hostname",
    spec: { gateway: { gatewayAPI: { enabled: true, hostname: "ci.builds.svc" } } },
  },
  {
    why: "a Service's name in an Ingress",
    field: "spec.gateway.ingress.hostname",
    spec: { gateway: { ingress: { enabled: true, hostname: "ci.builds.svc" } } },
  },
  { why: "an unknown size", field: "spec.size", spec: { size: "xxl" } },
  { why: "an unknown profile", field: "spec.profile", spec: { profile: "root" } },
  { why: "a backend without its block", field: "spec.cache.backends[0]", spec: backend({ type: "s3" }) },
  {
    why: "a backend with the block of another",
    field: "spec.cache.backends[0]",
    spec: backend({ type: "registry", s3: { bucket: "abc", region: "eu-west-1" } }),
  },
  {
    why: "space that is no amount",
    field: "spec.cache.gc.maxUsedSpace",
    spec: { cache: { gc: { maxUsedSpace: "a lot" } } },
  },
  {
    why: "a policy without a limit",
    field: "spec.cache.gc.policies[0]",
    spec: { cache: { gc: { policies: [{ all: true }] } } },
  },
  {
    why: "two ways to keep cache on volumes",
    field: "spec.cache",
    spec: {
      cache: {
        persistent: {},
        backends: [{ type: "local", local: { storageClass: "fast", size: "10Gi" } }],
      },
    },
  },
  { why: "oidc without its block", field: "spec.auth.methods[0]", spec: method({ type: "oidc" }) },
  { why: "tokens without their Secret", field: "spec.auth.methods[0]", spec: method({ type: "token" }) },
  {
    why: "a rule without users",
    field: "spec.auth.rbac.rules[0].users",
    spec: { auth: { rbac: { rules: [{}] } } },
  },
  {
    why: "certificates by hand without Secrets",
    field: "spec.tls.manual",
    spec: { tls: { mode: "manual" } },
  },
  {
    why: "rotation as long as the certificate's life",
    field: "spec.tls.auto.rotateBeforeExpiry",
    spec: { tls: { auto: { serverCertDuration: "1h", rotateBeforeExpiry: "1h" } } },
  },
  {
    why: "an invalid address range",
    field: "spec.networking.allowedCIDRs[0]",
    spec: { networking: { allowedCIDRs: ["10.0.0.0/33"] } },
  },
  {
    why: "an image with a space",
    field: "spec.buildkitImage",
    spec: { buildkitImage: "moby/buildkit latest" },
  },
  { why: "a platform that no worker can have", field: "spec.platform", spec: { platform: "windows/amd64" } },
  {
    why: "workers of other platforms, and none of its own",
    field: "spec.platform",
    spec: { otherPlatforms: [{ platform: "linux/arm64", poolName: "arm" }] },
  },
  {
    why: "another pool for its own platform",
    field: "spec.otherPlatforms",
    spec: { platform: "linux/arm64", otherPlatforms: [{ platform: "linux/arm64", poolName: "arm" }] },
  },
  { why: "a dot in the name", field: "metadata.name", name: "my.pool" },
  { why: "a digit first in the name", field: "metadata.name", name: "1pool" },
  { why: "a name of 46 characters", field: "metadata.name", name: "p".repeat(46) },
];
