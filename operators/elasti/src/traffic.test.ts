import { startCluster } from "@windlass/testing";
import { inProcessWorld } from "../testing/in-process-world.ts";
import { protocolSuite } from "../testing/protocol-suite.ts";
import { trafficSuite } from "../testing/traffic-suite.ts";

const server = `
  const server = require("node:http").createServer((asked, answer) => asked.resume().on("end", () => answer.end("ok")));
  server.listen(8080);
  process.on("SIGTERM", () => process.exit());
`;

/**
 * Pods are processes of this machine, and Services lead to them: the embedded control plane has
 * both.
 */
const world = trafficSuite(async () =>
  inProcessWorld(await startCluster({ flavour: "embedded", embedded: { processes: {} } }), {
    container: {
      name: "web",
      image: "web:1",
      command: [process.execPath, "-e", server],
      readinessProbe: { httpGet: { path: "/", port: 8080 }, periodSeconds: 1 },
    },
    cycles: 2,
    perSecond: 100,
  }),
);

protocolSuite(() => ({ ...world(), node: { image: "node:1", command: [process.execPath, "-e"] } }));
