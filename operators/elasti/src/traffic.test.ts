import { startCluster } from "@windlass/testing";
import { inProcessEnvironment } from "../testing/in-process-environment.ts";
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
const environment = trafficSuite(async () =>
  inProcessEnvironment(await startCluster({ flavour: "embedded", embedded: { processes: {} } }), {
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

protocolSuite(() => ({ ...environment(), node: { image: "node:1", command: [process.execPath, "-e"] } }));
