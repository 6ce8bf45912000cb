import type { KeyPair } from "@windlass/certificates";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Pki, pool, TestEnvironment } from "./environment.fixture.ts";
import { type Forgery, type ForgeryInit, forgeries, signedToken } from "./forgeries.fixture.ts";

/**
 * Certificates and tokens that must not open anything, all tried with a real handshake and a real
 * call.
 */

const hour = 3_600_000;
const pki = new Pki();
const issued = pki.token();
const from: ForgeryInit = {
  pool,
  clients: pki.clients.authority,
  workers: pki.workers.authority,
  clusterKeys: pki.clusterKeys,
  keys: pki.keys,
  worker: "ci-worker-1",
  token: issued.token,
  pair: pki.certificate(issued),
};
let environment: TestEnvironment;

beforeAll(async () => {
  environment = await TestEnvironment.start({ limits: { lookupLag: 0 } }, pki);
  const worker = await environment.worker();
  environment.table.set(issued.allocation, { at: "ready", worker: worker.address });
});

afterAll(async () => {
  await environment[Symbol.asyncDispose]();
});

test("the certificate that the forgeries are made from opens the way to the worker", async () => {
  expect(await environment.call(from.pair)).toMatchObject({ status: 0, worker: "ci-worker-1", body: "ping" });
  const same = pki.certificate({ token: signedToken(from, () => undefined), expiresAt: Date.now() + hour });
  expect(await environment.call(same)).toMatchObject({ status: 0, worker: "ci-worker-1" });
});

const routed: readonly Forgery[] = [
  {
    what: "one that was released",
    make: () => released(),
    status: 16,
    message: /has been released, or its worker is gone/,
  },
  {
    what: "one that was revoked",
    make: () => withRoute({ at: "revoked", reason: "quota" }),
    status: 16,
    message: /was revoked \(quota\)/,
  },
  {
    what: "one whose worker is lost",
    make: () => withRoute({ at: "lost", worker: "w", reason: "evicted" }),
    status: 9,
    message: /worker w is lost \(evicted\)/,
  },
];

function released(): KeyPair {
  const issued = environment.pki.token();
  const [worker] = environment.workers;
  if (!worker) throw new Error("a worker");
  environment.table.set(issued.allocation, { at: "ready", worker: worker.address });
  environment.table.set(issued.allocation, { at: "unknown" });
  return environment.certificate(issued);
}

function withRoute(route: Parameters<TestEnvironment["table"]["set"]>[1]): KeyPair {
  const issued = environment.pki.token();
  environment.table.set(issued.allocation, route);
  return environment.certificate(issued);
}

const all = [...forgeries(from), ...routed];

test.for(all)("$what is refused", async ({ make, status, message }) => {
  const successes = () =>
    environment.metric("buildkit_gateway_connections_total").filter((line) => line.includes("success"));
  const before = successes();
  const answer = await environment.call(make());
  expect(answer).toMatchObject({ status, worker: undefined });
  expect(answer.message).toMatch(message);
  expect(successes()).toEqual(before);
  expect(answer.message).not.toContain(from.token);
});

test("there are at least forty of them", () => {
  expect(all.length).toBeGreaterThanOrEqual(40);
});
