import { expect, test } from "vitest";
import type { JsonObject } from "../json.ts";
import { field } from "../storage/store.ts";
import { type Stage, stage } from "./stage.ts";

const secretFor = (account: string, name = "token"): JsonObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, annotations: { "kubernetes.io/service-account.name": account } },
  type: "kubernetes.io/service-account-token",
});
const bot: JsonObject = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "bot" } };
const tokenIn = (world: Stage, name = "token") =>
  Buffer.from(field(world.get("secrets", name), "data", "token") as string, "base64").toString();

test("a Secret that asks for an account's token is given it, and the token proves who its bearer is", async () => {
  await using world = await stage();
  await world.create(bot, secretFor("bot"));
  expect(Object.keys(world.get("secrets", "token")?.data as JsonObject)).toEqual([
    "ca.crt",
    "namespace",
    "token",
  ]);
  const verdict = await world.plane.tokens.verify(tokenIn(world));
  expect(verdict.user).toMatchObject({
    name: "system:serviceaccount:default:bot",
    groups: ["system:serviceaccounts", "system:serviceaccounts:default"],
    uid: world.get("serviceaccounts", "bot")?.metadata.uid,
  });
  await world.plane.settle();
  expect(world.get("secrets", "token")?.metadata.labels).toEqual({
    "kubernetes.io/legacy-token-last-used": "2026-01-01",
  });
});

test("such a token is good for this API server alone, and as long as the Secret holds it", async () => {
  await using world = await stage();
  await world.create(bot, secretFor("bot"), secretFor("bot", "other"));
  const [token, other] = [tokenIn(world), tokenIn(world, "other")];
  const { tokens } = world.plane;
  expect(await tokens.verify(token, ["elsewhere"])).toEqual({
    error:
      '[invalid bearer token, token audiences ["https://kubernetes.default.svc.cluster.local"] is invalid for the target audiences ["elsewhere"]]',
  });
  await world.delete("secrets", "other");
  expect(await tokens.verify(other)).toEqual({ error: "[invalid bearer token, Token has been invalidated]" });
  await world.change("secrets", "token", (secret) => {
    (secret.data as JsonObject).token = Buffer.from("x").toString("base64");
  });
  expect(await tokens.verify(token)).toEqual({
    error: "[invalid bearer token, Token does not match server's copy]",
  });
});

test("what is missing of it is filled in again, and what else is there is left alone", async () => {
  await using world = await stage();
  await world.create(bot, secretFor("bot"));
  await world.change("secrets", "token", (secret) => {
    secret.data = { extra: "eA==", "ca.crt": "eA==" };
  });
  const data = world.get("secrets", "token")?.data as JsonObject;
  expect(Object.keys(data).toSorted()).toEqual(["ca.crt", "extra", "namespace", "token"]);
  expect(data["ca.crt"]).not.toBe("eA==");
  expect((await world.plane.tokens.verify(tokenIn(world))).user).toBeDefined();
});

test("it goes with its account, and at once if there is none", async () => {
  await using world = await stage();
  await world.create(bot, secretFor("bot"), secretFor("nobody", "orphan"));
  expect(world.get("secrets", "orphan")).toBeUndefined();
  await world.delete("serviceaccounts", "bot");
  expect(world.get("secrets", "token")).toBeUndefined();
});
