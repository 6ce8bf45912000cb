import { systemClock } from "@windlass/clock";
import { ServiceAccount } from "@windlass/runtime/kinds";
import { startCluster, type TestCluster } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tokenCheck } from "./token-check.ts";

let cluster: TestCluster;
let namespace: string;
const audience = "elasti-operator";

beforeAll(async () => {
  cluster = await startCluster();
  namespace = await cluster.createNamespace("elasti");
  for (const name of ["resolver", "other"])
    await cluster.client.create(ServiceAccount, { metadata: { namespace, name } });
});
afterAll(() => cluster.close());

async function tokenOf(name: string, audiences: readonly string[]): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { audiences } };
  const made = (await cluster.client.json({ method: "POST", path, body })) as { status: { token: string } };
  return made.status.token;
}

const context = () => ({
  client: cluster.client,
  clock: systemClock,
  signal: AbortSignal.timeout(10_000),
});

test("a token of a service account that is meant for the operator may wake", async () => {
  const check = tokenCheck(audience);
  const token = await tokenOf("other", [audience]);
  expect(await check(token, context())).toBe(true);
  expect(await check(token, context())).toBe(true);
});

test("where one account is named, no other may", async () => {
  const check = tokenCheck(audience, `${namespace}:resolver`);
  expect(await check(await tokenOf("resolver", [audience]), context())).toBe(true);
  expect(await check(await tokenOf("other", [audience]), context())).toBe(false);
});

test("no token, a token for another audience and an invalid one are refused", async () => {
  const check = tokenCheck(audience);
  expect(await check(undefined, context())).toBe(false);
  expect(await check(await tokenOf("resolver", ["https://kubernetes.default.svc"]), context())).toBe(false);
  expect(await check("nonsense", context())).toBe(false);
});
