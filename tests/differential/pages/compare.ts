import { setTimeout as wait } from "node:timers/promises";
import { type Json, sorted } from "../../../packages/control-plane/src/json.ts";
import { openEmbedded, openReal, type ServerResponse } from "../servers.ts";
import { conclude } from "../tally.ts";

/**
 * Compares what the two servers say about themselves: the paths of `/`, and what is measured under
 * which names, labels and buckets.
 *
 *     node tests/differential/pages/compare.ts --kubeconfig FILE
 *
 * The real server must be bare. It measures more; what both measure must be called the same.
 */
const at = process.argv.indexOf("--kubeconfig");
const kubeconfig = process.argv[at + 1];
if (at < 0 || kubeconfig === undefined) throw new Error("--kubeconfig FILE is needed");
await using real = openReal(kubeconfig);
await using ours = await openEmbedded();

const differences: string[] = [];
let compared = 0;
const check = (what: string, theirs: unknown, own: unknown) => {
  compared++;
  const [left, right] = [JSON.stringify(theirs), JSON.stringify(own)];
  if (left !== right) differences.push(`${what}\n    real ${left}\n    ours ${right}`);
};

for (const path of [
  "/",
  "/index.html",
  "/metrics",
  "/metrics/slis",
  "/version",
  "/openid/v1/jwks",
  "/.well-known/openid-configuration",
]) {
  const [theirs, own] = [await ask(real, path), await ask(ours, path)];
  check(`${path}: status and type`, [theirs.status, theirs.contentType], [own.status, own.contentType]);
  if (path === "/" || path === "/index.html") check(path, theirs.body, own.body);
}

// Some families have no series before something has happened.
for (const server of [real, ours]) {
  const path = "/api/v1/namespaces/default/configmaps";
  const metadata = { name: "measured" };
  await server.send({ method: "POST", path, body: { metadata } });
  await server.send({ method: "POST", path, body: { metadata } });
  await server.send({ method: "GET", path });
  await server.send({ method: "PUT", path: `${path}/measured`, body: { metadata } });
  const type = "application/merge-patch+json";
  await server.send({ method: "PATCH", path: `${path}/measured`, contentType: type, body: {} });
  const query = "fieldManager=me&force=true";
  const applied = { apiVersion: "v1", kind: "ConfigMap", metadata };
  const apply = "application/apply-patch+yaml";
  await server.send({
    method: "PATCH",
    path: `${path}/measured?${query}`,
    contentType: apply,
    body: applied,
  });
  await server.send({ method: "GET", path: `${path}/missing` });
  await server.send({ method: "DELETE", path: `${path}/measured?dryRun=All` });
  await server.send({ method: "DELETE", path: `${path}/measured` });
  await server.send({ method: "DELETE", path });
  await server.send({ method: "GET", path: `${path}?watch=true&timeoutSeconds=1` });
}
for (const path of ["/metrics", "/metrics/slis"]) {
  const [theirs, own] = [families(await ask(real, path)), families(await ask(ours, path))];
  for (const [name, family] of own) check(`${path}: ${name}`, theirs.get(name), family);
}
const theirs = new Set(requests(await ask(real, "/metrics")));
for (const labels of requests(await ask(ours, "/metrics"))) check(labels, true, theirs.has(labels));

// What OpenAPI says of a definition: its own schema, and what every object has.
const group = "pages.example.com";
for (const server of [real, ours]) {
  const properties = {
    spec: { type: "object", description: "What is wanted.", properties: { size: { type: "integer" } } },
  };
  const definition = {
    metadata: { name: `pages.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "pages", kind: "Page" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          selectableFields: [{ jsonPath: ".spec.size" }],
          schema: { openAPIV3Schema: { type: "object", description: "A page.", properties } },
        },
      ],
    },
  };
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  await server.send({ method: "POST", path, body: definition });
}
const [published, own] = [await schemasOf(real), await schemasOf(ours)];
check("OpenAPI: the kinds of a definition", Object.keys(published).sort(), Object.keys(own).sort());
for (const name of Object.keys(published))
  check(`OpenAPI: ${name}`, inOrder(published[name]), inOrder(own[name]));
for (const server of [real, ours]) {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/pages.${group}`;
  await server.send({ method: "DELETE", path });
}

for (const difference of differences) console.log(difference);
conclude({ name: "pages", compared, differing: differences.length });

function ask(server: { send: typeof real.send }, path: string): Promise<ServerResponse> {
  return server.send({ method: "GET", path });
}

/**
 * The schemas of the definition's own kinds, once they are published: the real server takes a
 * second.
 */
async function schemasOf(server: { send: typeof real.send }): Promise<Record<string, unknown>> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const { status, body } = await ask(server, `/openapi/v3/apis/${group}/v1`);
    const { components } = (status === 200 ? body : {}) as { components?: { schemas?: object } };
    const own = Object.entries(components?.schemas ?? {}).filter(([name]) =>
      name.startsWith("com.example.pages"),
    );
    if (own.length > 0) return Object.fromEntries(own) as Record<string, unknown>;
    await wait(100);
  }
  throw new Error("the definition was not published within ten seconds");
}

/** The order of fields means nothing. */
function inOrder(value: unknown): unknown {
  return value === undefined ? undefined : sorted(value as Json);
}

interface FamilyShape {
  readonly help: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly buckets: readonly string[];
}

/** Families by name, without their values. */
function families({ body }: ServerResponse): Map<string, FamilyShape> {
  const found = new Map<string, FamilyShape>();
  const blocks = String(body).split(/^(?=# HELP )/m);
  for (const block of blocks) {
    const [, name = "", help = ""] = /^# HELP (\S+) (.*)$/m.exec(block) ?? [];
    const [, type = ""] = /^# TYPE \S+ (\w+)$/m.exec(block) ?? [];
    const labels = new Set([...block.matchAll(/[{,](\w+)="/g)].map(([, label = ""]) => label));
    const buckets = new Set(
      [...block.matchAll(/le="([^"]*)"/g)].map(([, bound = ""]) => String(Number(bound))),
    );
    if (name !== "") found.set(name, { help, type, labels: [...labels].sort(), buckets: [...buckets] });
  }
  return found;
}

/** By which labels requests were counted. How often is not told: others ask the real server too. */
function requests({ body }: ServerResponse): string[] {
  const lines = String(body).matchAll(/^(apiserver_request_total\{.*resource="configmaps".*\}) \d+$/gm);
  return Array.from(lines, ([, labels = ""]) => labels);
}
