import type { HookServer, Review } from "./hook-server.ts";
import { normal } from "./normal.ts";
import type { Sending, Server } from "./servers.ts";

type Converted = Record<string, unknown> & {
  metadata: Record<string, unknown>;
  spec: Record<string, unknown>;
};
type ConversionResponse = { result?: object; convertedObjects?: unknown; uid?: string };

const group = `conversion-${process.pid}.example.com`;
const base = `/apis/${group}`;
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

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

const good = (review: Review): ConversionResponse => ({
  result: { status: "Success" },
  convertedObjects: convert(review),
});

function changed(change: (object: Converted) => unknown): (review: Review) => ConversionResponse {
  return (review) => ({ result: { status: "Success" }, convertedObjects: convert(review).map(change) });
}

const read: Sending = { method: "GET", path: `${base}/v2/namespaces/default/widgets/a` };
const list: Sending = { method: "GET", path: `${base}/v2/namespaces/default/widgets` };

/** How a conversion webhook behaves, and what is sent meanwhile. */
export interface ConversionCase {
  readonly name: string;
  readonly behave: (review: Review) => ConversionResponse;
  readonly sendings: readonly Sending[];
}

/** They build on each other: the first makes the objects that the others read. */
export const conversionCases: readonly ConversionCase[] = [
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

const definition = (hooks: HookServer) => ({
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
});

/** Serves a kind whose versions a webhook converts. */
export async function prepareConversions(server: Server, hooks: HookServer): Promise<void> {
  const made = await server.send({ method: "POST", path: definitions, body: definition(hooks) });
  if (made.status !== 201) throw new Error(`${server.name}: ${JSON.stringify(made.body)}`);
}

export async function cleanConversions(server: Server, hooks: HookServer): Promise<void> {
  hooks.behaviours.set("convert", (review) => ({ response: good(review) }));
  await server.send({ method: "DELETE", path: `${definitions}/widgets.${group}` });
}

/**
 * The answers, and for the read of one object what the webhook was asked. The real server asks at
 * other times too: its watch caches hold each version apart.
 */
export async function playConversion(
  server: Server,
  hooks: HookServer,
  one: ConversionCase,
): Promise<unknown[]> {
  hooks.behaviours.set("convert", (review) => ({ response: one.behave(review) }));
  const played: unknown[] = [];
  for (const sending of one.sendings) {
    await server.catchUp();
    hooks.seen.length = 0;
    const answer = normal(await server.send(sending));
    const [asked] = sending === read ? hooks.seen : [];
    played.push({
      answer,
      path: asked?.path,
      agent: asked?.headers["user-agent"],
      accept: asked?.headers.accept,
      review: normal(asked?.review),
    });
  }
  return played;
}
