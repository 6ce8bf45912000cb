import { expect, test } from "vitest";
import { startCluster, type TestCluster } from "../../controllers/cluster.fixture.ts";
import type { JsonObject } from "../../json.ts";
import { valueAt } from "../../json-fields.ts";

const secretFor = (account: string, name = "token"): JsonObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, annotations: { "kubernetes.io/service-account.name": account } },
  type: "kubernetes.io/service-account-token",
});
const bot: JsonObject = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "bot" } };
const tokenIn = (cluster: TestCluster, name = "token") =>
  Buffer.from(valueAt(cluster.get("secrets", name), "data", "token") as string, "base64").toString();

test("a Secret that asks for an account's token is given it, and the token proves who its bearer is", async () => {
  await using cluster = await startCluster();
  await cluster.create(bot, secretFor("bot"));
  expect(Object.keys(cluster.get("secrets", "token")?.data as JsonObject)).toEqual([
    "ca.crt",
    "namespace",
    "token",
  ]);
  const verdict = await cluster.plane.tokens.verify(tokenIn(cluster));
  expect(verdict.user).toMatchObject({
    name: "system:serviceaccount:default:bot",
    groups: ["system:serviceaccounts", "system:serviceaccounts:default"],
    uid: cluster.get("serviceaccounts", "bot")?.metadata.uid,
  });
  await cluster.plane.settle();
  expect(cluster.get("secrets", "token")?.metadata.labels).toEqual({
    "kubernetes.io/legacy-token-last-used": "2026-01-01",
  });
});

test("such a token is good for this API server alone, and as long as the Secret holds it", async () => {
  await using cluster = await startCluster();
  await cluster.create(bot, secretFor("bot"), secretFor("bot", "other"));
  const [token, other] = [tokenIn(cluster), tokenIn(cluster, "other")];
  const { tokens } = cluster.plane;
  expect(await tokens.verify(token, ["elsewhere"])).toEqual({
    error:
      '[invalid bearer token, token audiences ["https://kubernetes.default.svc.cluster.local"] is invalid for the target audiences ["elsewhere"]]',
  });
  await cluster.delete("secrets", "other");
  expect(await tokens.verify(other)).toEqual({ error: "[invalid bearer token, Token has been invalidated]" });
  await cluster.change("secrets", "token", (secret) => {
    (secret.data as JsonObject).token = Buffer.from("x").toString("base64");
  });
  expect(await tokens.verify(token)).toEqual({
    error: "[invalid bearer token, Token does not match server's copy]",
  });
});

test("what is missing of it is filled in again, and what else is there is left alone", async () => {
  await using cluster = await startCluster();
  await cluster.create(bot, secretFor("bot"));
  await cluster.change("secrets", "token", (secret) => {
    secret.data = { extra: "eA==", "ca.crt": "eA==" };
  });
  const data = cluster.get("secrets", "token")?.data as JsonObject;
  expect(Object.keys(data).toSorted()).toEqual(["ca.crt", "extra", "namespace", "token"]);
  expect(data["ca.crt"]).not.toBe("eA==");
  expect((await cluster.plane.tokens.verify(tokenIn(cluster))).user).toBeDefined();
});

test("it goes with its account, and at once if there is none", async () => {
  await using cluster = await startCluster();
  await cluster.create(bot, secretFor("bot"), secretFor("nobody", "orphan"));
  expect(cluster.get("secrets", "orphan")).toBeUndefined();
  await cluster.delete("serviceaccounts", "bot");
  expect(cluster.get("secrets", "token")).toBeUndefined();
});
