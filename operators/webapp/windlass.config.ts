import { defineOperator } from "@windlass/cli";
import { Policy, WebApp, webapp, webhooks } from "./src/index.ts";

export const operator = defineOperator({
  name: "webapp-operator",
  description:
    "Runs web applications: an image becomes a Deployment, a Service, an Ingress and an autoscaler",
  image: "windlass/webapp:dev",
  kinds: [WebApp],
  controllers: [webapp],
  webhooks: webhooks(Policy.parse({})),
  replicas: 3,
  settings: {
    "policy.floatingImages": { env: "FLOATING_IMAGES", schema: Policy.shape.FLOATING_IMAGES },
    "policy.maxReplicas": { env: "MAX_REPLICAS", schema: Policy.shape.MAX_REPLICAS },
  },
});
