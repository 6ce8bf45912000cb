import { WorkCounter } from "./work-between-turns.fixture.ts";

/**
 * A program that sends large requests, and prints the status of each and the most work between two
 * turns of the event loop while it was answered. A process of its own: nothing may have been loaded
 * before the counter starts.
 */
const counter = new WorkCounter();
const { administrator } = await import("./authority.ts");
const { ControlPlane } = await import("./control-plane.ts");

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const group = "/apis/large.example.com/v1/namespaces/default/things";
const maps = "/api/v1/namespaces/default/configmaps";
const pods = "/api/v1/namespaces/default/pods";
const deployments = "/apis/apps/v1/namespaces/default/deployments";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const apply = "application/apply-patch+yaml";
const strategic = "application/strategic-merge-patch+json";

const items = { type: "object", required: ["k"], properties: { k: { type: "string" } } };
const properties = {
  list: { type: "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], items },
  numbers: { type: "array", items: { type: "integer" } },
};
const openAPIV3Schema = { type: "object", properties: { spec: { type: "object", properties } } };
const definition = (plural: string, kind: string, schema: object) => ({
  metadata: { name: `${plural}.large.example.com` },
  spec: {
    group: "large.example.com",
    scope: "Namespaced",
    names: { plural, kind },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
  },
});
const deployment = (name: string, spec: object) => ({
  metadata: { name },
  spec: {
    selector: { matchLabels: { a: "b" } },
    template: {
      metadata: { labels: { a: "b" } },
      spec: { containers: [{ name: "c", image: "i" }], ...spec },
    },
  },
});
const thing = (name: string, spec: object) => ({
  apiVersion: "large.example.com/v1",
  kind: "Thing",
  metadata: { name },
  spec,
});
const containers = (count: number) => many(count, (index) => ({ name: `c${index}`, image: "i" }));
const fields = many(30_000, (index) => [`p${index}`, { type: "string" }]);
const data = Object.fromEntries(many(50_000, (index) => [`k${index}`, "v"]));
const list = many(50_000, (index) => ({ k: `k${index}` }));

const requests: Record<string, readonly [method: string, url: string, body: object, type?: string]> = {
  containers: ["POST", deployments, deployment("containers", { containers: containers(15_000) })],
  "containers of a pod": [
    "POST",
    pods,
    { metadata: { name: "containers" }, spec: { containers: containers(40_000) } },
  ],
  "containers, patched": [
    "PATCH",
    `${deployments}/patched`,
    { spec: { template: { spec: { containers: containers(60_000) } } } },
    strategic,
  ],
  definition: [
    "POST",
    definitions,
    definition("wides", "Wide", { type: "object", properties: Object.fromEntries(fields) }),
  ],
  volumes: [
    "POST",
    deployments,
    deployment("volumes", { volumes: many(20_000, (index) => ({ name: `v${index}`, emptyDir: {} })) }),
  ],
  data: ["POST", maps, { metadata: { name: "posted" }, data }],
  "data, applied": [
    "PATCH",
    `${maps}/applied?fieldManager=a`,
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "applied" }, data },
    apply,
  ],
  list: ["POST", group, thing("list", { list })],
  "list, applied": ["PATCH", `${group}/applied?fieldManager=a`, thing("applied", { list }), apply],
  numbers: ["POST", group, thing("numbers", { numbers: many(200_000, () => 1) })],
};

await using plane = await ControlPlane.start({ controllers: "none" });
const send = async (method: string, url: string, object: object, type = "application/json") => {
  const headers = { "content-type": type };
  const body = Buffer.from(JSON.stringify(object));
  const { signal } = new AbortController();
  return (await plane.handle({ method, url, headers, body, peer: administrator, signal })).status;
};
await send("POST", definitions, definition("things", "Thing", openAPIV3Schema));
await send("POST", deployments, deployment("patched", {}));
await send("POST", "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } });
for (const [name, [method, url, object, type]] of Object.entries(requests)) {
  // Some are larger than what can be stored, once they have their defaults.
  const dryRun = `${url}${url.includes("?") ? "&" : "?"}dryRun=All`;
  let status = 0;
  const work = await counter.most(async () => {
    status = await send(method, dryRun, object, type);
  });
  process.stdout.write(`${JSON.stringify({ name, status, work })}\n`);
}
