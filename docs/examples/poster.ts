import { condition, controller, defineResource, type ObjectKey, terminal } from "@windlass/runtime";
import { z } from "zod";

export const Poster = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Poster",
  spec: z.object({ text: z.string().min(1), copies: z.int32().min(1).default(1) }),
  status: z.object({ delivered: z.int32().optional() }),
});

/** A print shop outside Kubernetes. */
export interface PrintShop {
  /** Orders, unless that was done before. Resolves to how many copies have been delivered. */
  print(order: ObjectKey, text: string, copies: number, signal: AbortSignal): Promise<number>;
  /** Takes an order back, if there is one. */
  cancel(order: ObjectKey): Promise<void>;
  /** Reports deliveries. Returns the way to stop listening. */
  onDelivery(listener: (order: ObjectKey) => void): () => void;
}

export function poster(shop: PrintShop) {
  return controller(Poster, {
    sources: [({ enqueue }) => shop.onDelivery(enqueue)],
    reconcile: async ({ spec, status }, { key, signal }) => {
      if (spec.text.includes("\n")) throw terminal(new Error("a poster has one line"), "TextInvalid");
      const delivered = await shop.print(key, spec.text, spec.copies, signal);
      const isDone = delivered >= spec.copies;
      const isNews = isDone && status?.delivered !== delivered;
      return {
        status: { delivered, conditions: [condition("Ready", isDone, isDone ? "Delivered" : "Printing")] },
        events: isNews ? [{ reason: "Delivered", message: `${delivered} copies arrived` }] : [],
      };
    },
    finalize: (_poster, { key }) => shop.cancel(key),
  });
}
