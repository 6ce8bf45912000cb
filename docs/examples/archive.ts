import { child, condition, controller, defineResource } from "@windlass/runtime";
import { PersistentVolumeClaim, ServiceAccount } from "@windlass/runtime/kinds";
import { z } from "zod";

export const Archive = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Archive",
  spec: z.object({ size: z.string().default("1Gi").describe("How much it may hold") }),
  status: z.object({ claim: z.string().optional() }),
});

/** Gives each archive a volume, which somebody may have made for it before there was an operator, and an account. */
export const archive = controller(Archive, {
  owns: [PersistentVolumeClaim, ServiceAccount],
  reconcile({ metadata: { name }, spec: { size } }) {
    const resources = { requests: { storage: size } };
    const claim = child(
      PersistentVolumeClaim,
      { metadata: { name }, spec: { accessModes: ["ReadWriteOnce"], resources } },
      { adopt: true },
    );
    return {
      children: [claim, child(ServiceAccount, { metadata: { name } })],
      status: { claim: name, conditions: [condition("Ready", true, "Claimed")] },
    };
  },
  // The archive stays until its volume has been given back.
  async finalize(_archive, context) {
    const claim = context.owned(PersistentVolumeClaim);
    if (claim === undefined) return undefined;
    await context.delete(PersistentVolumeClaim, claim);
    return { requeueAfter: 10_000 };
  },
});
