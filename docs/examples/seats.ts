import { condition, controller, controllerReference, defineResource } from "@windlass/runtime";
import { ConfigMap } from "@windlass/runtime/kinds";
import { z } from "zod";

export const Hall = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Hall",
  spec: z.object({ seats: z.int32().min(0).max(100).describe("How many seats there are") }),
  status: z.object({ seats: z.int32().optional() }),
});

/** Makes one ConfigMap for each seat. The names come from the server, so that only counting says how many are missing. */
export const hall = controller(Hall, {
  owns: [ConfigMap],
  async reconcile(object, { client, ownedAll }) {
    const { namespace, name } = object.metadata;
    const ownerReferences = [controllerReference(Hall, object)];
    const seat = { metadata: { namespace, generateName: `${name}-`, ownerReferences } };
    while (ownedAll(ConfigMap).length < object.spec.seats) await client.create(ConfigMap, seat);
    return {
      status: {
        seats: ownedAll(ConfigMap).length,
        conditions: [condition("Ready", true, "SeatsMade")],
      },
    };
  },
});
