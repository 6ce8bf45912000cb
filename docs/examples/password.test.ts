import { isNotFound, manager } from "@windlass/runtime";
import { Namespace, Secret } from "@windlass/runtime/kinds";
import { existing, Simulation, testReconcile } from "@windlass/testing";
import { expect, test } from "vitest";
import { Password, password } from "./password.ts";

test("a fresh password is left alone until its time", async () => {
  const metadata = { name: "db", annotations: { "example.com/rotated-at": "2026-01-01T00:00:00Z" } };
  const given = { owned: [existing(Secret, { metadata })], now: new Date("2026-01-01T06:00:00Z") };
  const tried = await testReconcile(password, Password.make("db", {}), given);
  expect(tried).toMatchObject({ children: [], prunes: false, requeueAfter: 18 * 3_600_000, logs: [] });
});

test("passwords rotate, and the copies follow and go with their owner", async () => {
  await using world = await Simulation.start({ seed: 1 });
  const { client } = world;
  await client.create(Namespace, { metadata: { name: "other" } });
  await world.install(Password);
  await world.run("password", (options) => manager(options).add(password));
  const key = { namespace: "default", name: "db" };
  const copy = { namespace: "other", name: "db" };
  await client.create(Password, { metadata: key, spec: { rotateEvery: "1h", copyTo: "other" } });
  await world.advance("10s");
  const first = (await client.get(Secret, key)).data;
  expect((await client.get(Secret, copy)).data).toEqual(first);
  await world.advance("1h");
  const second = (await client.get(Secret, key)).data;
  expect(second).not.toEqual(first);
  expect((await client.get(Secret, copy)).data).toEqual(second);
  expect(world.operatorLog).toContain("rotating the password");
  await client.delete(Password, key);
  await world.advance("10s");
  await expect(client.get(Secret, copy)).rejects.toSatisfy(isNotFound);
});
