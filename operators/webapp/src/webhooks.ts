import { type Default, invalid, type Validate, webhookServer } from "@windlass/runtime";
import { z } from "zod";
import { WebApp } from "./webapp.ts";

/** What those who run the cluster allow, read from the environment. */
export const Policy = z.object({
  FLOATING_IMAGES: z
    .enum(["warn", "refuse"])
    .default("warn")
    .describe("What happens to images without a tag, or with the tag latest: warn of them, or refuse them"),
  MAX_REPLICAS: z.coerce
    .number()
    .int()
    .min(0)
    .default(100)
    .describe("The most pods that one WebApp may have, or begin with"),
});
export type Policy = z.output<typeof Policy>;

/** What the API server asks before it stores a WebApp, and to convert one between its versions. */
export function webhooks(policy: Policy, options: Partial<Parameters<typeof webhookServer>[0]> = {}) {
  return webhookServer({ name: "webapp-operator", ...options })
    .default(WebApp, complete)
    .validate(WebApp, validateBy(policy), { subresources: ["scale"] })
    .convert(WebApp);
}

/** Gives an app its standard labels, and the CPU request that an autoscaler measures by. */
const complete: Default<typeof WebApp> = (app) => {
  const { autoscaling, resources } = app.spec;
  const requests = { cpu: resources?.limits?.cpu ?? "100m", ...resources?.requests };
  const labels = { "app.kubernetes.io/name": app.metadata.name, "app.kubernetes.io/component": "web" };
  return {
    ...app,
    metadata: { ...app.metadata, labels: { ...labels, ...app.metadata.labels } },
    spec: { ...app.spec, ...(autoscaling && { resources: { ...resources, requests } }) },
  };
};

/** Without a tag or with `latest`, and not pinned by a digest. */
const floating = /^(?!.*@)(.*\/)?[^/:]+(:latest)?$/;

/**
 * Looks only at what changes: a policy that was made stricter must keep nobody, this operator
 * included, from finishing with the apps that are there. An autoscaled app begins with its
 * replicas. A change of the scale subresource has `spec.replicas` and nothing else.
 */
function validateBy({ FLOATING_IMAGES, MAX_REPLICAS }: Policy): Validate<typeof WebApp> {
  return (app, { old, warn, subresource }) => {
    const { image } = app.spec;
    const floats = subresource === undefined && image !== old?.spec.image && floating.test(image);
    const words = `${image} is another image tomorrow: name a version, such as nginx:1.25`;
    if (floats && FLOATING_IMAGES === "warn") warn(`spec.image: ${words}`);
    const limit = (field: string, pods = 0, before?: number) =>
      pods > MAX_REPLICAS &&
      pods !== before &&
      invalid(field, `${pods} is more than the ${MAX_REPLICAS} that are allowed here`);
    return [
      floats && FLOATING_IMAGES === "refuse" && invalid("spec.image", words),
      limit("spec.replicas", app.spec.replicas, old?.spec.replicas),
      limit("spec.autoscaling.max", app.spec.autoscaling?.max, old?.spec.autoscaling?.max),
    ];
  };
}
