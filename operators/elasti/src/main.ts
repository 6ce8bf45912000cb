/**
 * The operator: puts services to sleep and wakes them. Every replica takes wake requests; one
 * leads.
 */
import { connect } from "@windlass/client";
import { ignoreNotFound, manager } from "@windlass/runtime";
import { Secret } from "@windlass/runtime/kinds";
import { operator } from "./operator.ts";
import { reportingLogger } from "./sentry.ts";
import { OperatorSettings, settingsOfProcess } from "./settings.ts";

const settings = settingsOfProcess(OperatorSettings);
const log = await reportingLogger(settings, "elasti-operator");
await using client = await connect({ fieldManager: "elasti-operator" });
const { controller, everywhere } = operator(settings, client.discovery, async (key, signal) => {
  const secret = await ignoreNotFound(client.get(Secret, key, { signal }));
  const values = Object.entries(secret?.data ?? {});
  return secret && new Map(values.map(([name, value]) => [name, Buffer.from(value, "base64").toString()]));
});
const running = manager({
  client,
  ...(log && { log }),
  ...(settings.WATCH_NAMESPACES.length > 0 && {
    // The resolver's own EndpointSlices are watched too.
    namespaces: [
      ...new Set([
        ...settings.WATCH_NAMESPACES,
        settings.ELASTI_RESOLVER_NAMESPACE ?? settings.POD_NAMESPACE,
      ]),
    ],
  }),
  leaderElection: {
    name: "elasti-operator",
    namespace: settings.POD_NAMESPACE,
    // Requests wait for the next leader when one is killed: sooner than by default.
    leaseDuration: "8s",
    renewDeadline: "5s",
    retryPeriod: "1s",
  },
}).add(controller);
for (const part of everywhere) running.add(part);
await running.run();
