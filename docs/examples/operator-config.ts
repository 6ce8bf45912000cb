import { defineOperator } from "@windlass/cli";
import { z } from "zod";
import { Shop, shop } from "./shop.ts";

/** What those who run the cluster may choose, read from the environment. */
const Policy = z.object({
  MAX_SHOPS: z.coerce.number().int().min(1).default(100).describe("The most shops in a namespace"),
});

export const operator = defineOperator({
  name: "shop-operator",
  description: "Runs a shop for each Shop",
  kinds: [Shop],
  controllers: [shop],
  settings: {
    // A value of the chart, which reaches the program as a variable.
    "policy.maxShops": { env: "MAX_SHOPS", schema: Policy.shape.MAX_SHOPS },
  },
});
