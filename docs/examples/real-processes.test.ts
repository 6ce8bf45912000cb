import { Deployment, Service } from "@windlass/runtime/kinds";
import { startCluster, waitFor } from "@windlass/testing";
import { expect, test } from "vitest";

const program = `
  const { createServer } = require("node:http");
  createServer((_, answer) => answer.end(process.env.HOSTNAME)).listen(8080);
`;

test("requests to a Service are answered by all of its pods in turn", async () => {
  await using cluster = await startCluster({
    flavour: "embedded",
    embedded: { processes: { images: { "shop:*": { command: ["node", "-e", program] } } } },
  });
  const labels = { app: "shop" };
  const key = { namespace: "default", name: "shop" };
  await cluster.client.create(Deployment, {
    metadata: key,
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: "shop",
              image: "shop:1",
              ports: [{ containerPort: 8080 }],
              readinessProbe: { httpGet: { port: 8080 } },
            },
          ],
        },
      },
    },
  });
  const service = await cluster.client.create(Service, {
    metadata: key,
    spec: { selector: labels, ports: [{ port: 8080 }] },
  });
  await waitFor(cluster.client, Deployment, key, (shop) => shop?.status?.readyReplicas === 2);
  await cluster.controlPlane?.settle();
  const url = `http://${service.spec?.clusterIP}:8080`;
  const ask = async () => (await fetch(url, { headers: { connection: "close" } })).text();
  const answers = new Set([await ask(), await ask()]);
  expect(answers.size).toBe(2);
}, 30_000);
