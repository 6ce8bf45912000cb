import { isDeepStrictEqual, parseArgs } from "node:util";
import { openHooks, type Review } from "./hook-server.ts";
import { normal } from "./normal.ts";
import { openEmbedded, openReal, type Sending, type Server } from "./servers.ts";

/**
 * Plays custom resources with a conversion webhook against a real API server and the embedded one, and prints where their
 * answers, or what they send to the webhook, differ.
 *
 *   node tests/differential/admission/conversions.ts --kubeconfig FILE --host ADDRESS
 */
const { values } = parseArgs({ options: { kubeconfig: { type: "string" }, host: { type: "string" } } });
if (values.kubeconfig === undefined || values.host === undefined) {
  process.stderr.write("--kubeconfig FILE and --host ADDRESS are needed\n");
  process.exit(2);
}

type Converted = Record<string, unknown> & {
  metadata: Record<string, unknown>;
  spec: Record<string, unknown>;
};
type Answer = { result?: object; convertedObjects?: unknown; uid?: string };

const group = `conversion-${process.pid}.example.com`;
const base = `/apis/${group}`;
const hooks = await openHooks(values.host);
const servers: Server[] = [openReal(values.kubeconfig), await openEmbedded()];

/** `size` of v1 is `measure` in v2. */
function convert(review: Review): Converted[] {
  const { objects, desiredAPIVersion } = review.request as unknown as {
    objects: Converted[];
    desiredAPIVersion: string;
  };
  return objects.map((object) => {
    const { size, measure, ...rest } = object.spec;
    const value = size ?? measure;
    const spec = desiredAPIVersion.endsWith("v1") ? { ...rest, size: value } : { ...rest, measure: value };
    return { ...object, apiVersion: desiredAPIVersion, spec };
  });
}

const good = (review: Review): Answer => ({
  result: { status: "Success" },
  convertedObjects: convert(review),
});

function changed(change: (object: Converted) => unknown): (review: Review) => Answer {
  return (review) => ({ result: { status: "Success" }, convertedObjects: convert(review).map(change) });
}

const read: Sending = { method: "GET", path: `${base}/v2/namespaces/default/widgets/a` };
const list: Sending = { method: "GET", path: `${base}/v2/namespaces/default/widgets` };

const steps: readonly { name: string; behave: (review: Review) => Answer; sendings: readonly Sending[] }[] = [
  {
    name: "works",
    behave: good,
    sendings: [
      {
        method: "POST",
        path: `${base}/v1/namespaces/default/widgets`,
        body: {
          apiVersion: `${group}/v1`,
          kind: "Widget",
          metadata: { name: "a", labels: { l: "1" } },
          spec: { size: 1 },
        },
      },
      {
        method: "POST",
        path: `${base}/v2/namespaces/default/widgets`,
        body: { apiVersion: `${group}/v2`, kind: "Widget", metadata: { name: "b" }, spec: { measure: 2 } },
      },
      read,
      list,
      { method: "GET", path: `${base}/v1/namespaces/default/widgets` },
      {
        method: "PATCH",
        path: `${base}/v2/namespaces/default/widgets/a`,
        contentType: "application/merge-patch+json",
        body: { spec: { measure: 5 } },
      },
      {
        method: "PATCH",
        path: `${base}/v1/namespaces/default/widgets/a`,
        contentType: "application/merge-patch+json",
        body: { spec: { size: 6 } },
      },
    ],
  },
  {
    name: "labels",
    behave: changed((o) => ({
      ...o,
      metadata: {
        ...o.metadata,
        labels: { l: "2" },
        annotations: { a: "b" },
        finalizers: ["x.example.com/y"],
      },
    })),
    sendings: [read],
  },
  {
    name: "bad label",
    behave: changed((o) => ({ ...o, metadata: { ...o.metadata, labels: { l: "not valid!" } } })),
    sendings: [read],
  },
  {
    name: "label of a number",
    behave: changed((o) => ({ ...o, metadata: { ...o.metadata, labels: { l: 1 } } })),
    sendings: [read],
  },
  {
    name: "renamed",
    behave: changed((o) => ({ ...o, metadata: { ...o.metadata, name: "z" } })),
    sendings: [read],
  },
  {
    name: "moved",
    behave: changed((o) => ({ ...o, metadata: { ...o.metadata, namespace: "z" } })),
    sendings: [read],
  },
  {
    name: "other uid",
    behave: changed((o) => ({ ...o, metadata: { ...o.metadata, uid: "z" } })),
    sendings: [read],
  },
  { name: "no metadata", behave: changed(({ metadata: _metadata, ...o }) => o), sendings: [read] },
  {
    name: "other version",
    behave: changed((o) => ({ ...o, apiVersion: `${group}/v1` })),
    sendings: [read],
  },
  { name: "other kind", behave: changed((o) => ({ ...o, kind: "Gadget" })), sendings: [read] },
  {
    name: "failed",
    behave: () => ({ result: { status: "Failure", message: "cannot" } }),
    sendings: [read],
  },
  { name: "failed without a word", behave: () => ({ result: { status: "Failure" } }), sendings: [read] },
  { name: "no result", behave: () => ({}), sendings: [read] },
  {
    name: "too few",
    behave: () => ({ result: { status: "Success" }, convertedObjects: [] }),
    sendings: [read],
  },
  { name: "wrong uid", behave: (review) => ({ ...good(review), uid: "other" }), sendings: [read] },
  {
    name: "writes fail",
    behave: () => ({ result: { status: "Failure", message: "cannot" } }),
    sendings: [
      {
        method: "POST",
        path: `${base}/v2/namespaces/default/widgets`,
        body: { apiVersion: `${group}/v2`, kind: "Widget", metadata: { name: "c" }, spec: { measure: 2 } },
      },
      { method: "DELETE", path: `${base}/v2/namespaces/default/widgets/a` },
    ],
  },
];

const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget" },
    versions: ["v1", "v2"].map((name) => ({
      name,
      served: true,
      storage: name === "v1",
      schema: {
        openAPIV3Schema: {
          type: "object",
          properties: {
            spec: {
              type: "object",
              properties: {
                [name === "v1" ? "size" : "measure"]: { type: "integer" },
                extra: { type: "string", default: name },
              },
            },
          },
        },
      },
    })),
    conversion: {
      strategy: "Webhook",
      webhook: {
        conversionReviewVersions: ["v1"],
        clientConfig: {
          url: `${hooks.url}/convert`,
          caBundle: Buffer.from(hooks.authority).toString("base64"),
        },
      },
    },
  },
};

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
let differences = 0;
try {
  for (const server of servers) {
    const made = await server.send({ method: "POST", path: definitions, body: definition });
    if (made.status !== 201) throw new Error(`${server.name}: ${JSON.stringify(made.body)}`);
    await server.settle();
  }
  for (const step of steps) {
    hooks.behaviours.set("convert", (review) => ({ response: step.behave(review) }));
    for (const [index, sending] of step.sendings.entries()) {
      const [real, embedded] = [
        await play(servers[0] as Server, sending),
        await play(servers[1] as Server, sending),
      ];
      if (isDeepStrictEqual(real, embedded)) continue;
      differences++;
      process.stdout.write(`\n${step.name}, request ${index + 1}\n`);
      report(real, embedded, "");
    }
  }
  process.stdout.write(`\n${differences} requests differ\n`);
  process.exitCode = differences === 0 ? 0 : 1;
} finally {
  hooks.behaviours.set("convert", (review) => ({ response: good(review) }));
  for (const server of servers) {
    await server.send({ method: "DELETE", path: `${definitions}/widgets.${group}` });
    await server.close();
  }
  await hooks.close();
}

/**
 * The answer, and for the read of one object what the webhook was asked. The real server asks at other times too: its watch
 * caches hold each version apart. Who manages which fields is compared elsewhere.
 */
async function play(server: Server, sending: Sending): Promise<unknown> {
  hooks.seen.length = 0;
  const answer = withoutManagers(normal(await server.send(sending)));
  if (sending !== read) return answer;
  const [asked] = hooks.seen;
  const headers = { agent: asked?.headers["user-agent"], accept: asked?.headers.accept };
  return { answer, path: asked?.path, ...headers, review: withoutManagers(normal(asked?.review)) };
}

function withoutManagers(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, inner: unknown) =>
    key === "managedFields" ? undefined : inner,
  );
}

function report(real: unknown, embedded: unknown, path: string): void {
  if (isDeepStrictEqual(real, embedded)) return;
  const both = [real, embedded];
  if (both.every((value) => typeof value === "object" && value !== null)) {
    const [left, right] = both as Record<string, unknown>[];
    for (const key of new Set([...Object.keys(left ?? {}), ...Object.keys(right ?? {})])) {
      report(left?.[key], right?.[key], `${path}/${key}`);
    }
    return;
  }
  process.stdout.write(
    `  ${path}\n    real     ${JSON.stringify(real)}\n    embedded ${JSON.stringify(embedded)}\n`,
  );
}
