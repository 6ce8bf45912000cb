import { ManualClock } from "@windlass/clock";
import { type KubernetesObject, metadataOnly, type ResourceKind } from "@windlass/kinds";
import { expect, test } from "vitest";
import { Client } from "./client.ts";
import { isGone, isNotFound, isNotServed, TransportError } from "./errors.ts";
import { type Answer, failure, fakeTransport } from "./fake-transport.fixture.ts";
import { networkTransport } from "./network/transport.ts";
import { sendJson, startServer } from "./test-server.fixture.ts";
import type { TransportRequest } from "./transport.ts";

const ConfigMap: ResourceKind = {
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  scope: "Namespaced",
};
const Rollout: ResourceKind = {
  group: "argoproj.io",
  version: "v1alpha1",
  kind: "Rollout",
  plural: "rollouts",
  scope: "Namespaced",
};
const Node: ResourceKind = { group: "", version: "v1", kind: "Node", plural: "nodes", scope: "Cluster" };

function clientFor(answer: Answer | ((request: TransportRequest) => Answer) = {}) {
  const transport = fakeTransport((request) => (typeof answer === "function" ? answer(request) : answer));
  const warnings: string[] = [];
  const client = new Client({ transport, fieldManager: "me", onWarning: (text) => warnings.push(text) });
  const asked = () => {
    const { method, path, body, headers } = transport.requests[0] ?? {};
    return {
      line: `${method} ${path}`,
      body: typeof body === "string" ? JSON.parse(body) : body,
      type: headers?.["content-type"],
      accept: headers?.accept,
    };
  };
  return { client, transport, warnings, asked };
}

const key = { namespace: "ns", name: "a" };

test("objects are addressed by group, version, namespace and name", async () => {
  const { client, transport } = clientFor({ json: { metadata: {}, items: [] } });
  await client.get(ConfigMap, key);
  await client.get(Rollout, key, { subresource: "status", resourceVersion: "0" });
  await client.get(Node, { name: "n" });
  await client.get({ ...Node, kind: "ClusterRole" }, { name: "system:node" });
  await client.list(ConfigMap);
  await client.list(Rollout, { namespace: "ns", labelSelector: "a in (b)", limit: 5, continue: "x" });
  expect(transport.requests.map((it) => it.path)).toEqual([
    "/api/v1/namespaces/ns/configmaps/a",
    "/apis/argoproj.io/v1alpha1/namespaces/ns/rollouts/a/status?resourceVersion=0",
    "/api/v1/nodes/n",
    "/api/v1/nodes/system%3Anode",
    "/api/v1/configmaps",
    "/apis/argoproj.io/v1alpha1/namespaces/ns/rollouts?labelSelector=a%20in%20(b)&limit=5&continue=x",
  ]);
});

test.each(["", ".", "..", "a/b", "a%2fb"])(
  "a name like %j cannot lead the request elsewhere",
  async (name) => {
    const { client, transport } = clientFor();
    await expect(client.get(ConfigMap, { namespace: "ns", name })).rejects.toThrow(TypeError);
    await expect(client.delete(ConfigMap, { namespace: name || "..", name: "a" })).rejects.toThrow(TypeError);
    expect(transport.requests).toEqual([]);
  },
);

test("a namespaced object without a namespace is refused before anything is sent", async () => {
  const { client, transport } = clientFor();
  await expect(client.get(ConfigMap, { name: "a" })).rejects.toThrow('ConfigMap "a" needs a namespace');
  await expect(client.create(ConfigMap, { metadata: { name: "a" } })).rejects.toThrow(
    "metadata.namespace is missing",
  );
  await expect(client.update(ConfigMap, { metadata: { name: "", namespace: "ns" } })).rejects.toThrow(
    "metadata.name is missing",
  );
  expect(transport.requests).toEqual([]);
});

test("create fills in what the object is, and says who writes", async () => {
  const { client, asked } = clientFor();
  await client.create(
    ConfigMap,
    { metadata: key, data: { k: "v" } },
    { fieldValidation: "Strict", dryRun: true },
  );
  expect(asked()).toMatchObject({
    line: "POST /api/v1/namespaces/ns/configmaps?fieldManager=me&dryRun=All&fieldValidation=Strict",
    type: "application/json",
    body: { apiVersion: "v1", kind: "ConfigMap", metadata: key, data: { k: "v" } },
  });
});

test("a name may be left to the server", async () => {
  const { client, asked } = clientFor();
  const Job: ResourceKind<KubernetesObject, object> = { ...ConfigMap };
  await client.create(Job, { metadata: { generateName: "job-", namespace: "ns" } });
  expect(asked().line).toBe("POST /api/v1/namespaces/ns/configmaps?fieldManager=me");
});

test("update goes where the object says it lives", async () => {
  const { client, asked } = clientFor();
  await client.update(Rollout, { metadata: key }, { subresource: "status", fieldManager: "other" });
  expect(asked()).toMatchObject({
    line: "PUT /apis/argoproj.io/v1alpha1/namespaces/ns/rollouts/a/status?fieldManager=other",
    body: { apiVersion: "argoproj.io/v1alpha1", kind: "Rollout" },
  });
});

test.each([
  ["merge", "application/merge-patch+json"],
  ["strategic", "application/strategic-merge-patch+json"],
] as const)("a %s patch has its own media type", async (type, media) => {
  const { client, asked } = clientFor();
  await client.patch(ConfigMap, key, { type, patch: { data: null } });
  expect(asked()).toMatchObject({
    line: "PATCH /api/v1/namespaces/ns/configmaps/a?fieldManager=me",
    type: media,
    body: { data: null },
  });
});

test("a JSON patch is a list of operations", async () => {
  const { client, asked } = clientFor();
  await client.patch(ConfigMap, key, { type: "json", patch: [{ op: "remove", path: "/data" }] });
  expect(asked()).toMatchObject({
    type: "application/json-patch+json",
    body: [{ op: "remove", path: "/data" }],
  });
});

test("apply sends the object as an apply patch, with force only when asked", async () => {
  const { client, asked } = clientFor();
  await client.apply(ConfigMap, { metadata: key }, { force: true });
  expect(asked()).toMatchObject({
    line: "PATCH /api/v1/namespaces/ns/configmaps/a?fieldManager=me&force=true",
    type: "application/apply-patch+yaml",
    body: { apiVersion: "v1", kind: "ConfigMap", metadata: key },
  });
});

test("apply sends what YAML would read as something else as escapes, the other verbs as it is", async () => {
  const { client, transport } = clientFor();
  const object = { metadata: key, data: { text: "\x85" } };
  await client.apply(ConfigMap, object);
  await client.subresource(ConfigMap, key, "status").apply(object);
  await client.create(ConfigMap, object);
  const texts = transport.requests.map(({ body }) => /"text":"(.*?)"/.exec(String(body))?.[1]);
  expect(texts).toEqual(["\\u0085", "\\u0085", "\x85"]);
});

test("delete returns whether the object was deleted or still exists", async () => {
  const status = { kind: "Status", status: "Success", details: { name: "a", uid: "u" } };
  expect(await clientFor({ json: status }).client.delete(ConfigMap, key)).toEqual({ is: "gone", status });
  const object = { kind: "ConfigMap", metadata: { name: "a", uid: "u", finalizers: ["example.com/x"] } };
  expect(await clientFor({ json: object }).client.delete(ConfigMap, key)).toEqual({ is: "object", object });
});

test("delete sends its options in the body", async () => {
  const { client, asked } = clientFor({ json: { kind: "Status" } });
  const preconditions = { uid: "u" };
  await client.delete(ConfigMap, key, {
    propagationPolicy: "Foreground",
    gracePeriodSeconds: 0,
    preconditions,
    dryRun: true,
  });
  expect(asked()).toMatchObject({
    line: "DELETE /api/v1/namespaces/ns/configmaps/a",
    body: {
      kind: "DeleteOptions",
      propagationPolicy: "Foreground",
      gracePeriodSeconds: 0,
      preconditions,
      dryRun: ["All"],
    },
  });
});

test("the metadata of an object that was read is a precondition of its deletion", async () => {
  const { client, asked } = clientFor({ json: { kind: "Status" } });
  const metadata = { name: "a", namespace: "ns", uid: "u", resourceVersion: "7", labels: { a: "b" } };
  await client.delete(ConfigMap, metadata, { preconditions: metadata });
  expect(asked().body).toHaveProperty("preconditions", { uid: "u", resourceVersion: "7" });
});

test("a precondition that is undefined deletes nothing", async () => {
  const { client, transport } = clientFor({ json: { kind: "Status" } });
  const { uid }: { uid?: string } = {};
  await expect(client.delete(ConfigMap, key, { preconditions: { uid } })).rejects.toThrow(
    "preconditions.uid is undefined",
  );
  expect(transport.requests).toEqual([]);
});

test("deleteCollection selects as list does", async () => {
  const { client, asked } = clientFor();
  await client.deleteCollection(ConfigMap, { namespace: "ns", labelSelector: "a=b" });
  expect(asked().line).toBe("DELETE /api/v1/namespaces/ns/configmaps?labelSelector=a%3Db");
});

test("deleteCollection refuses a namespace of a kind that is in none", async () => {
  const { client } = clientFor();
  const Namespace = { ...ConfigMap, kind: "Namespace", plural: "namespaces", scope: "Cluster" as const };
  await expect(client.deleteCollection(Namespace, { namespace: "ns" })).rejects.toThrow(
    "Namespace is cluster-scoped: its objects are in no namespace, ns neither",
  );
});

test("a subresource with a type of its own is sent as it is", async () => {
  const { client, asked } = clientFor({ json: { spec: { replicas: 3 } } });
  const scale = await client
    .subresource<{ spec: { replicas: number } }>(Rollout, key, "scale")
    .patch({ type: "merge", patch: { spec: { replicas: 3 } } });
  expect(scale.spec.replicas).toBe(3);
  expect(asked()).toMatchObject({
    line: "PATCH /apis/argoproj.io/v1alpha1/namespaces/ns/rollouts/a/scale?fieldManager=me",
    body: { spec: { replicas: 3 } },
  });
});

test("metadata alone is asked for by the kind's representation", async () => {
  const { client, asked } = clientFor({ json: { metadata: {}, items: [] } });
  await client.list(metadataOnly(ConfigMap));
  expect(asked().accept).toBe("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
});

test("pages follow the continue token, without the resource version", async () => {
  const { client, transport } = clientFor((request) =>
    request.path.includes("continue=next")
      ? { json: { metadata: {}, items: [{ metadata: { name: "b" } }] } }
      : { json: { metadata: { continue: "next" }, items: [{ metadata: { name: "a" } }] } },
  );
  const names: string[] = [];
  for await (const page of client.pages(ConfigMap, {
    limit: 1,
    resourceVersion: "5",
    resourceVersionMatch: "NotOlderThan",
  }))
    names.push(...page.items.map((item) => item.metadata.name));
  expect(names).toEqual(["a", "b"]);
  expect(transport.requests[1]?.path).toBe("/api/v1/configmaps?limit=1&continue=next");
});

test("a list with null for its items is empty", async () => {
  const { client } = clientFor({ json: { metadata: { resourceVersion: "1" }, items: null } });
  expect((await client.list(ConfigMap)).items).toEqual([]);
});

test("an answer larger than what is read into memory is left, and told with the way out", async () => {
  const chunks = ["x".repeat(600), "x".repeat(600), "never read"];
  const transport = fakeTransport(() => ({ chunks }));
  const client = new Client({ transport, maxResponseBytes: 1_000 });
  await expect(client.list(ConfigMap, { namespace: "ns" })).rejects.toMatchObject({
    code: "RESPONSE_TOO_LARGE",
    message:
      "GET /api/v1/namespaces/ns/configmaps: the answer is larger than the 1000 bytes that are read into memory; ask for pages (limit), or raise maxResponseBytes",
  });
  expect(transport).toMatchObject({ left: 1, open: 0 });
  for await (const chunk of client.listBytes(ConfigMap)) expect(chunk.length).toBeGreaterThan(0);
  expect(transport, "a list that is streamed is not bound by it").toMatchObject({ left: 1, open: 0 });
});

test("a refusal with an overlong body is still a refusal", async () => {
  const chunks = Array.from({ length: 40 }, () => "too long ".repeat(10_000));
  const { client, transport } = clientFor({ status: 403, chunks, headers: { "content-type": "text/plain" } });
  await expect(client.get(ConfigMap, key)).rejects.toMatchObject({ code: "API_FORBIDDEN", statusCode: 403 });
  expect(transport.left).toBe(1);
});

test("a guard goes with every call that changes something, and refuses it before it is sent", async () => {
  const { client, transport } = clientFor({ json: { metadata: {}, items: [] } });
  let asked = 0;
  const guard = () => {
    asked++;
    throw new Error("not now");
  };
  const object = { metadata: key };
  const calls = [
    () => client.create(ConfigMap, object, { guard }),
    () => client.update(ConfigMap, object, { guard }),
    () => client.patch(ConfigMap, key, { type: "merge", patch: {} }, { guard }),
    () => client.apply(ConfigMap, object, { guard }),
    () => client.delete(ConfigMap, key, { guard }),
    () => client.deleteCollection(ConfigMap, { namespace: "ns", guard }),
    () => client.subresource(ConfigMap, key, "scale").update({}, { guard }),
    () => client.raw({ method: "POST", path: "/", guard }),
  ];
  for (const call of calls) await expect(call()).rejects.toThrow("not now");
  expect(asked).toBe(calls.length);
  expect(transport.requests).toEqual([]);
});

test.each(["head", "body"])(
  "a version whose %s never comes is abandoned in ten seconds, and requested again",
  async (what) => {
    const clock = new ManualClock();
    const arrived = Promise.withResolvers<void>();
    let asked = 0;
    await using server = await startServer((_, response) => {
      asked++;
      arrived.resolve();
      if (asked > 1) sendJson(response, 200, { major: "1", minor: "35+" });
      else if (what === "body") response.writeHead(200).write("{");
    });
    const transport = networkTransport({ server: server.url, clock });
    const { protobuf } = new Client({ transport, clock, protobuf: true });
    const versions = [protobuf?.serverVersion(), protobuf?.serverVersion()];
    const rejected = Promise.all(
      versions.map((version) =>
        expect(version).rejects.toMatchObject({ message: "GET /version: no answer within 10000 ms" }),
      ),
    );
    await arrived.promise;
    await clock.advance(10_000);
    await rejected;
    expect(asked).toBe(1);
    expect(await protobuf?.serverVersion()).toEqual({ major: 1, minor: 35 });
    expect(clock.pending).toBe(0);
    await transport.close();
  },
);

test("an answer that is not JSON is reported without repeating it", async () => {
  const { client } = clientFor({ chunks: ["<html>hunter2</html>"] });
  await expect(client.get(ConfigMap, key)).rejects.toMatchObject({
    code: "RESPONSE_MALFORMED",
    message: expect.not.stringContaining("hunter2"),
  });
});

test("a refusal carries the server's Status, and its message what was asked", async () => {
  const { client } = clientFor(
    failure(404, "NotFound", { message: 'configmaps "a" not found', details: { name: "a" } }),
  );
  const error = await client.get(ConfigMap, key, { resourceVersion: "0" }).catch((it: unknown) => it);
  expect(isNotFound(error)).toBe(true);
  expect(error).toMatchObject({
    message: 'GET /api/v1/namespaces/ns/configmaps/a: configmaps "a" not found',
    statusCode: 404,
    reason: "NotFound",
  });
});

test.each([
  { status: 404, headers: { "content-type": "text/plain" }, chunks: ["404 page not found\n"] },
  failure(404, "NotFound", { message: "the server could not find the requested resource", details: {} }),
])("a kind that is not served is distinguished from a missing object", async (answer) => {
  const { client } = clientFor(answer);
  const error = await client.list(Rollout).catch((it: unknown) => it);
  expect(isNotServed(error)).toBe(true);
  expect(error).toMatchObject({
    message:
      "GET /apis/argoproj.io/v1alpha1/rollouts: the server serves no such resource; are group, version and plural right, and its CustomResourceDefinition installed?",
  });
  const missing = clientFor(failure(404, "NotFound", { details: { name: "a", kind: "rollouts" } }));
  await expect(missing.client.get(Rollout, key)).rejects.not.toSatisfy(isNotServed);
});

test("a refusal in plain text, as of a proxy, becomes a Status too", async () => {
  const { client } = clientFor({
    status: 503,
    headers: { "content-type": "text/plain", "retry-after": "7" },
    chunks: ["no\nbackends"],
  });
  await expect(client.get(ConfigMap, key)).rejects.toMatchObject({
    code: "API_UNAVAILABLE",
    message: "GET /api/v1/namespaces/ns/configmaps/a: no backends",
    retryAfterSeconds: 7,
  });
});

test("a redirect is an error: following it would hand the credentials to someone else", async () => {
  const { client } = clientFor({ status: 302, headers: { location: "https://elsewhere" } });
  await expect(client.get(ConfigMap, key)).rejects.toThrow("redirected (302)");
});

test("warnings reach the handler", async () => {
  const { client, warnings } = clientFor({ headers: { warning: '299 - "deprecated"' } });
  await client.get(ConfigMap, key);
  expect(warnings).toEqual(["deprecated"]);
});

test("without a handler each warning is logged once", async () => {
  const transport = fakeTransport(() => ({ headers: { warning: '299 - "deprecated"' } }));
  const logged: object[] = [];
  const ignore = (fields: object) => expect(fields).toBeUndefined();
  const log = { debug: ignore, info: ignore, error: ignore, warn: (fields: object) => logged.push(fields) };
  const client = new Client({ transport, log });
  await client.get(ConfigMap, key);
  await client.get(ConfigMap, key);
  expect(logged).toEqual([{ warning: "deprecated" }]);
});

const event = (type: string, name: string) => `${JSON.stringify({ type, object: { metadata: { name } } })}\n`;

test("a watch gives its events, ERROR among them, and ends with the stream", async () => {
  const gone = { type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired" } };
  const { client, transport } = clientFor({
    chunks: [
      event("ADDED", "ä").slice(0, 30),
      event("ADDED", "ä").slice(30),
      event("DELETED", "b"),
      JSON.stringify(gone),
    ],
  });
  const seen: string[] = [];
  for await (const it of client.watch(ConfigMap, {
    resourceVersion: "7",
    allowWatchBookmarks: true,
    idleTimeout: 5,
  }))
    seen.push(it.type === "ERROR" ? `gone ${isGone(it.object)}` : `${it.type} ${it.object.metadata.name}`);
  expect(seen).toEqual(["ADDED ä", "DELETED b", "gone true"]);
  expect(transport.requests[0]).toMatchObject({
    path: "/api/v1/configmaps?watch=true&resourceVersion=7&allowWatchBookmarks=true",
    idleTimeout: 5,
    retry: "never",
  });
});

test("a watch that the server refuses throws the refusal", async () => {
  const { client } = clientFor(failure(410, "Gone"));
  await expect(client.watch(ConfigMap).next()).rejects.toSatisfy(isGone);
});

test.each(["{", "[]", '{"type":"ADDED"}', "null"])("a line like %j in a watch throws", async (line) => {
  const { client } = clientFor({ chunks: [`${line}\n`] });
  await expect(client.watch(ConfigMap).next()).rejects.toBeInstanceOf(TransportError);
});

test("leaving a watch early leaves its request", async () => {
  const { client, transport } = clientFor({ chunks: [event("ADDED", "a"), event("ADDED", "b")] });
  for await (const it of client.watch(ConfigMap)) {
    expect(it.type).toBe("ADDED");
    break;
  }
  expect(transport.left).toBe(1);
});

test("a watch that is left before the server has answered still leaves its request", async () => {
  const answered = Promise.withResolvers<void>();
  const transport = fakeTransport(async () => {
    await answered.promise;
    return { chunks: [event("ADDED", "a"), event("ADDED", "b")] };
  });
  const lines = new Client({ transport }).watchLines(ConfigMap);
  const first = lines.next();
  await lines.return?.();
  answered.resolve();
  expect(await first).toEqual({ done: true, value: undefined });
  expect(transport.open).toBe(0);
});

test("lists and watches are given as bytes too", async () => {
  const { client } = clientFor({ chunks: [event("ADDED", "a"), event("ADDED", "b")] });
  const lines: string[] = [];
  for await (const line of client.watchLines(ConfigMap)) lines.push(line.toString());
  expect(lines).toEqual([event("ADDED", "a").trim(), event("ADDED", "b").trim()]);
  let text = "";
  for await (const chunk of client.listBytes(ConfigMap)) text += Buffer.from(chunk).toString();
  expect(text).toBe(event("ADDED", "a") + event("ADDED", "b"));
});

test("a field called __proto__ is data like any other", async () => {
  const { client } = clientFor({ chunks: ['{"metadata":{"name":"a"},"__proto__":{"polluted":true}}'] });
  const object = await client.get(ConfigMap, key);
  expect(Object.hasOwn(object, "__proto__")).toBe(true);
  expect("polluted" in {}).toBe(false);
});

test("an aborted call rejects with the signal's reason and sends nothing", async () => {
  const { client, transport } = clientFor();
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(client.get(ConfigMap, key, { signal })).rejects.toThrow("enough");
  expect(transport.requests).toEqual([]);
});

test("a client through an interceptor is the same except for what the interceptor does", async () => {
  const { client, transport, warnings } = clientFor({
    json: {},
    headers: { warning: '299 - "old"' },
  });
  const through = client.through((next) => ({
    request: (request) => next.request({ ...request, headers: { ...request.headers, "x-extra": "1" } }),
    close: () => next.close(),
  }));
  await through.create(ConfigMap, { metadata: key });
  expect(transport.requests[0]?.path).toContain("fieldManager=me");
  expect(transport.requests[0]?.headers).toMatchObject({ "x-extra": "1" });
  expect(warnings).toEqual(["old"]);
});
