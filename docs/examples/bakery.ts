import { defineResource, type WebhookServerOptions, webhookServer } from "@windlass/runtime";
import { z } from "zod";

const kind = { group: "example.com", kind: "Bakery", plural: "bakeries" } as const;

/** As it was at first: one oven, described by a text. */
export const BakeryV1Beta1 = defineResource({
  ...kind,
  version: "v1beta1",
  spec: z.object({ oven: z.string().min(1), loaves: z.int32().min(0).default(10) }),
});

const ovensAnnotation = "example.com/more-ovens";

/** As it is now, and as it is stored: any number of ovens. */
export const Bakery = defineResource({
  ...kind,
  version: "v1",
  spec: z.object({
    ovens: z.array(z.string().min(1)).min(1).max(10),
    loaves: z.int32().min(0).default(10),
  }),
}).withVersion(BakeryV1Beta1, {
  to: ({ spec: { ovens, loaves }, metadata }) => {
    const [oven = "", ...more] = ovens;
    const { [ovensAnnotation]: _old, ...annotations } = metadata.annotations ?? {};
    // What the other version has no field for must not be lost when somebody reads, changes and writes it.
    const kept = more.length === 0 ? annotations : { ...annotations, [ovensAnnotation]: more.join(",") };
    return { spec: { oven, loaves }, metadata: { annotations: kept } };
  },
  from: ({ spec: { oven, loaves }, metadata }) => {
    const { [ovensAnnotation]: more, ...annotations } = metadata.annotations ?? {};
    const ovens = [oven, ...(more === undefined ? [] : more.split(","))];
    return { spec: { ovens, loaves }, metadata: { annotations } };
  },
});

export function conversions(options: Partial<WebhookServerOptions> = {}) {
  return webhookServer({ name: "bakery-operator", ...options }).convert(Bakery);
}
