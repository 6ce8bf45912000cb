/** A WebApp that must be refused, and the field that the refusal must name. */
export interface BadManifest {
  readonly why: string;
  readonly field: string;
  readonly version?: "v1" | "v2";
  readonly manifest: { readonly metadata: { readonly name: string }; readonly spec?: object };
}

const image = "nginx:1.25";
const bad = (why: string, field: string, spec: object, version: "v1" | "v2" = "v1"): BadManifest => ({
  why,
  field,
  version,
  manifest: { metadata: { name: "bad" }, spec },
});

/**
 * For the suites: every way of getting it wrong that the schema, its rules or the webhook should
 * catch.
 */
export const badManifests: readonly BadManifest[] = [
  { why: "no spec", field: "spec", manifest: { metadata: { name: "bad" } } },
  bad("no image", "spec.image", {}),
  bad("an empty image", "spec.image", { image: "" }),
  bad("replicas below zero", "spec.replicas", { image, replicas: -1 }),
  bad("replicas that are no number", "spec.replicas", { image, replicas: "three" }),
  bad("more replicas than the policy allows", "spec.replicas", { image, replicas: 101 }),
  bad("a port out of range", "spec.port", { image, port: 65_536 }),
  bad("an invalid host", "spec.host", { image, host: "not a host" }),
  bad("min above max", "spec.autoscaling", { image, autoscaling: { min: 5, max: 2 } }),
  bad("autoscaling past the policy", "spec.autoscaling.max", { image, autoscaling: { min: 1, max: 101 } }),
  bad("more replicas to begin with than the policy allows", "spec.replicas", {
    image,
    replicas: 1000,
    autoscaling: { min: 1, max: 1 },
  }),
  bad("the same variable twice", "spec.env[1]", {
    image,
    env: [
      { name: "A", value: "1" },
      { name: "A", value: "2" },
    ],
  }),
  bad("a variable with two values", "spec.env[0]", {
    image,
    env: [{ name: "A", value: "1", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }],
  }),
  bad("a value from nowhere", "spec.env[0].valueFrom", { image, env: [{ name: "A", valueFrom: {} }] }),
  bad("an invalid amount", "spec.resources.requests.cpu", {
    image,
    resources: { requests: { cpu: "much" } },
  }),
  bad("v2: min above max", "spec.scaling", { image, scaling: { min: 5, max: 2 } }, "v2"),
  {
    why: "a name that no Service can have",
    field: "metadata.name",
    manifest: { metadata: { name: "1st" }, spec: { image } },
  },
];
