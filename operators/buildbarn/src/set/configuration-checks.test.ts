import { expect, test } from "vitest";
import { componentFiles } from "../configuration/index.ts";
import { type ComponentConfiguration, ConfigurationChecks } from "./index.ts";

const configurationOf = (overrides: string): ComponentConfiguration => ({
  version: "2025-02",
  programs: [{ program: "bb_storage", entry: "storage.jsonnet" }],
  shardMap: undefined,
  files: componentFiles({ common: {}, documents: { "storage.jsonnet": { global: {} } }, overrides }),
});
const endless = "local f(a, n) = if n == 0 then a else f(a + a, n - 1); { a: f([1, 2, 3], 60) }";

test("the same text is evaluated once, however often it is asked for", { timeout: 60_000 }, async () => {
  const checks = new ConfigurationChecks({ milliseconds: 1_000, megabytes: 48 });
  const first = await checks.check(configurationOf(endless), "user");
  expect(first).toMatchObject({ is: "invalid" });
  const began = performance.now();
  for (let time = 0; time < 100; time++)
    expect(await checks.check(configurationOf(endless), "user")).toEqual(first);
  expect(performance.now() - began).toBeLessThan(500);
});

test("text that is in order does not wait for all that is not", { timeout: 60_000 }, async () => {
  const checks = new ConfigurationChecks({ milliseconds: 1_000, megabytes: 48 });
  const bad = [1, 2, 3].map((n) => checks.check(configurationOf(`${endless} + { b: ${n} }`), "user"));
  const good = checks.check(configurationOf("{ nonsense: 1 }"), "user");
  expect(await good).toMatchObject({
    is: "invalid",
    faults: [expect.stringContaining("nonsense is no field"), expect.anything()],
  });
  for (const one of await Promise.all(bad)) expect(one).toMatchObject({ is: "invalid" });
});

test("what the operator has written needs no process", async () => {
  const checked = await new ConfigurationChecks({ milliseconds: 0, megabytes: 1 }).check(
    configurationOf("{ nonsense: 1 }"),
    "operator",
  );
  expect(checked).toMatchObject({
    is: "invalid",
    faults: [expect.stringContaining("nonsense"), expect.anything()],
  });
});
