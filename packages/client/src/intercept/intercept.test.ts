import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { createAuthority } from "@windlass/certificates";
import { ManualClock } from "@windlass/clock";
import { expect, test } from "vitest";
import type { Credential } from "../credential.ts";
import { TransportError } from "../errors.ts";
import { fakeTransport } from "../fake-transport.fixture.ts";
import { readAll } from "../test-server.fixture.ts";
import { intercept, type TransportRequest } from "../transport.ts";
import { authenticate } from "./authenticate.ts";
import { impersonate } from "./impersonate.ts";
import { observe, REQUEST_CHANNEL, type RequestOutcome, type ResponseSize, trace } from "./observe.ts";
import { tellExpiry } from "./tell-expiry.ts";

const get: TransportRequest = { method: "GET", path: "/version", headers: { accept: "application/json" } };

/** Credentials that are replaced, `times` times, when the server refuses them. */
function renewable(times: number) {
  let issued = 0;
  let current: Credential = { authorization: "Bearer 0" };
  return {
    current: () => Promise.resolve(current),
    invalidate(refused: Credential) {
      if (refused !== current || issued >= times) return;
      issued++;
      current = { authorization: `Bearer ${issued}` };
    },
  };
}

test("refused credentials are renewed and the request made once more, writes too", async () => {
  const transport = fakeTransport((request) => ({
    status: request.headers.authorization === "Bearer 1" ? 200 : 401,
  }));
  const around = authenticate(renewable(9))(transport);
  expect((await around.request({ ...get, method: "POST", body: "x" })).status).toBe(200);
  expect(transport.requests.map((it) => it.headers.authorization)).toEqual(["Bearer 0", "Bearer 1"]);
  expect(transport.requests[1]).toMatchObject({ method: "POST", body: "x", headers: get.headers });
});

test("a request is not made a third time, nor a second with the same credentials", async () => {
  const transport = fakeTransport(() => ({ status: 401, json: { kind: "Status" } }));
  expect((await authenticate(renewable(9))(transport).request(get)).status).toBe(401);
  expect(transport.requests).toHaveLength(2);
  const response = await authenticate(renewable(0))(transport).request(get);
  expect(transport.requests).toHaveLength(3);
  expect(await Array.fromAsync(response.body)).toHaveLength(1);
});

test("an answer that cannot be passed on is let go: no connection waits for it to be read", async () => {
  const transport = fakeTransport(() => ({ status: 401, chunks: ["{", "}"] }));
  let asked = 0;
  const failing = {
    current: () =>
      asked++ === 0
        ? Promise.resolve({ authorization: "Bearer 0" })
        : Promise.reject(new Error("log in again")),
    invalidate: () => undefined,
  };
  await expect(authenticate(failing)(transport).request(get)).rejects.toThrow("log in again");
  expect(transport.open).toBe(0);
  const unreadable = () => Promise.reject(new Error("no such file"));
  const telling = tellExpiry(unreadable, "a file", new ManualClock())(transport);
  await expect(telling.request(get)).rejects.toThrow("no such file");
  expect(transport.open).toBe(0);
});

test("an abort does not wait for a certificate that is slow to come after a refusal", async () => {
  const controller = new AbortController();
  const transport = fakeTransport(() => ({ status: 401 }));
  const asked = Promise.withResolvers<void>();
  const never = () => {
    asked.resolve();
    return new Promise<{ cert?: string }>(() => undefined);
  };
  const telling = tellExpiry(never, "a plugin", new ManualClock())(transport);
  const answer = telling.request({ ...get, signal: controller.signal });
  await asked.promise;
  controller.abort(new Error("enough"));
  await expect(answer).rejects.toThrow("enough");
});

test("an abort does not wait for credentials that are slow to come", async () => {
  const transport = fakeTransport(() => ({}));
  const never = { current: () => new Promise<Credential>(() => undefined), invalidate: () => undefined };
  const controller = new AbortController();
  const asking = authenticate(never)(transport).request({ ...get, signal: controller.signal });
  controller.abort(new Error("enough"));
  await expect(asking).rejects.toThrow("enough");
  expect(transport.requests).toEqual([]);
});

test("impersonation sends user, uid, each group, and extras under encoded names", async () => {
  const transport = fakeTransport(() => ({}));
  const extra = new Map([["example.com/Team ü", ["a", "b"]]]);
  await impersonate({ user: "jane", uid: "7", groups: ["dev", "ops"], extra })(transport).request(get);
  expect(transport.requests[0]?.headers).toEqual({
    accept: "application/json",
    "impersonate-user": "jane",
    "impersonate-uid": "7",
    "impersonate-group": ["dev", "ops"],
    "impersonate-extra-example.com%2Fteam%20%C3%BC": ["a", "b"],
  });
});

test("every request is observed with its method, host, code and duration, and without its headers", async () => {
  const clock = new ManualClock();
  const outcomes: RequestOutcome[] = [];
  const published: unknown[] = [];
  const listen = (message: unknown) => published.push(message);
  subscribe(REQUEST_CHANNEL, listen);
  const failing = new TransportError("CONNECTION_REFUSED", "refused");
  const transport = fakeTransport(async (request) => {
    await clock.advance(5);
    if (request.method === "POST") throw failing;
    return { status: 404 };
  });
  const around = observe({ host: "k8s:6443", clock, onOutcome: (it) => outcomes.push(it) })(transport);
  await around.request(get);
  await expect(around.request({ ...get, method: "POST", body: "ü" })).rejects.toBe(failing);
  unsubscribe(REQUEST_CHANNEL, listen);
  const common = { path: "/version", host: "k8s:6443", durationMs: 5 };
  expect(outcomes).toEqual([
    { ...common, method: "GET", code: "404", requestBytes: 0 },
    { ...common, method: "POST", code: "<error>", error: "CONNECTION_REFUSED", requestBytes: 2 },
  ]);
  expect(published).toEqual(outcomes);
});

test("a span carries its headers to the server, and ends with the outcome", async () => {
  const ends: unknown[] = [];
  const transport = fakeTransport((request) => {
    if (request.method === "PUT") throw new Error("no");
    return { status: 200 };
  });
  const around = trace(() => ({ headers: { traceparent: "00-1-2-01" }, end: (it) => ends.push(it) }))(
    transport,
  );
  await around.request(get);
  await expect(around.request({ ...get, method: "PUT" })).rejects.toThrow("no");
  expect(transport.requests[0]?.headers).toEqual({ accept: "application/json", traceparent: "00-1-2-01" });
  expect(ends).toEqual([{ status: 200 }, { error: new Error("no") }]);
});

test("the first interceptor is the outermost", async () => {
  const order: string[] = [];
  const named = (name: string) =>
    trace(() => {
      order.push(name);
      return { end: () => order.push(`end ${name}`) };
    });
  await intercept(
    fakeTransport(() => ({})),
    [named("a"), named("b")],
  ).request(get);
  expect(order).toEqual(["a", "b", "end b", "end a"]);
});

test("the size of a response is reported when it was read to its end, and not of one left early", async () => {
  const transport = fakeTransport(() => ({ chunks: ["abc", "de"] }));
  const sizes: ResponseSize[] = [];
  const around = observe({ host: "h:1", onResponseSize: (size) => sizes.push(size) })(transport);
  expect((await readAll((await around.request(get)).body)).toString()).toBe("abcde");
  for await (const _ of (await around.request(get)).body) break;
  expect(sizes).toEqual([{ method: "GET", path: "/version", host: "h:1", responseBytes: 5 }]);
  expect(transport.left).toBe(1);
});

test("an answer whose size is counted can be left before its first piece", async () => {
  const transport = fakeTransport(() => ({ chunks: ["abc"] }));
  const around = observe({ host: "h:1", onResponseSize: () => undefined })(transport);
  const { body } = await around.request(get);
  await body[Symbol.asyncIterator]().return?.();
  expect(transport.open).toBe(0);
});

test("a 401 is reported as an expired client certificate if it is one, and otherwise left as it is", async () => {
  const day = 86_400_000;
  const clock = new ManualClock(Date.now());
  const authority = createAuthority({ commonName: "ca", validFor: 9 * day, clock });
  const { certificate: cert } = authority.issue({ commonName: "me", usages: ["client"], validFor: day });
  const server = fakeTransport(() => ({ status: 401 }));
  const ask = (material: object) =>
    tellExpiry(() => Promise.resolve(material), "~/.kube/config", clock)(server).request(get);
  expect((await ask({ cert })).status).toBe(401);
  await clock.advance(2 * day);
  await expect(ask({ cert })).rejects.toMatchObject({
    code: "CLIENT_CERTIFICATE_REJECTED",
    mayHaveBeenSent: false,
    configuredBy: "~/.kube/config",
    message: expect.stringMatching(
      /^GET \/version: the server does not accept the client certificate of ~\/\.kube\/config, which expired at \d{4}-\S+Z; renew it$/,
    ),
  });
  expect((await ask({})).status).toBe(401);
  expect((await ask({ cert: "not PEM" })).status).toBe(401);
});
