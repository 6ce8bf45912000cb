import { controller, manager, webhookServer } from "@windlass/runtime";
import { ConfigMap } from "@windlass/runtime/kinds";

/**
 * A program as users write it, for tests of how a process starts and ends. HEALTH, METRICS and
 * WEBHOOKS are ports.
 */
const { HEALTH, METRICS, WEBHOOKS } = process.env;
const port = (text: string | undefined) =>
  text === undefined ? (false as const) : { port: Number(text), host: "127.0.0.1" };

const operator = manager({ health: port(HEALTH), metrics: port(METRICS) }).add(
  controller(ConfigMap, { reconcile: () => undefined }),
);
if (WEBHOOKS !== undefined)
  operator.add(
    webhookServer({
      name: "operator",
      service: { namespace: "default" },
      port: Number(WEBHOOKS),
      host: "127.0.0.1",
    }).validate(ConfigMap, () => undefined),
  );
await operator.run();
