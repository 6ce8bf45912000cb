import { defineOperator } from "@windlass/cli";
import { controller } from "@windlass/runtime";
import { z } from "zod";
import { Shop, shop } from "./shop.ts";

const Limits = z.object({ MAX_CONNECTIONS: z.coerce.number().int().min(1).default(1_000) });
const routes = controller(Shop, { name: "routes", reconcile: () => undefined });

export const operator = defineOperator({
  name: "shop-operator",
  description: "Runs a shop for each Shop, behind a gateway",
  kinds: [Shop],
  controllers: [shop],
  components: {
    gateway: {
      args: ["gateway.js"], // of Node in /app; the manager runs main.js
      // Of a range, the NetworkPolicy alone knows.
      ports: { https: { port: 8443, service: 443 }, media: { port: 20_000, endPort: 20_999 } },
      serviceType: "LoadBalancer",
      egress: [5432],
      controllers: [routes], // its roles, and no others
      settings: { "limits.connections": { env: "MAX_CONNECTIONS", schema: Limits.shape.MAX_CONNECTIONS } },
      pod: { volumes: [{ name: "keys", secret: { secretName: "shop-operator-keys" } }] },
      container: { volumeMounts: [{ name: "keys", mountPath: "/etc/keys" }] },
    },
  },
  alerts: [
    {
      name: "ShopsUnpaid",
      expr: (labels) => `shop_unpaid{${labels}} > 0`,
      summary: "{{ $labels.shop }} is not paid for",
      description: "Ask its owner.",
    },
  ],
});
