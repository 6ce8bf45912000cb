import { expect, test } from "vitest";
import { type Configuration, checkBounded, componentFiles } from "./index.ts";

const listener = "[{ listenAddresses: [':9980'], authenticationPolicy: { allow: {} } }]";
const configurationOf = (overrides: string): Configuration => ({
  program: "bb_storage",
  version: "2025-02",
  entry: "storage.jsonnet",
  environment: { POD_NAME: "pod-0" },
  files: componentFiles({
    common: {},
    documents: { "storage.jsonnet": { global: {} } },
    overrides,
  }),
});
const double = "local f(a, n) = if n == 0 then a else f(a + a, n - 1);";
const shared = ["a", "b", "c", "d", "e", "f", "g", "h"]
  .map(
    (name, index, all) =>
      `local ${name} = [${Array(10)
        .fill(all[index - 1] ?? 1)
        .join(", ")}];`,
  )
  .join(" ");

test("what is right is valid in a process of its own too, with what it evaluates to", async () => {
  const overrides = `{ global: { diagnosticsHttpServer: { httpServers: ${listener} } } }`;
  expect(await checkBounded(configurationOf(overrides))).toMatchObject({
    is: "valid",
    json: { global: { diagnosticsHttpServer: {} } },
  });
});

test("a fault keeps its place, and the environment of the operator is not seen", async () => {
  const overrides = "{\n  global: { logPaths: [std.extVar('PATH')] } }";
  expect(await checkBounded(configurationOf(overrides))).toEqual({
    is: "invalid",
    faults: [expect.stringContaining("overrides.libsonnet:2:34: std.extVar: there is no environment")],
  });
});

test.for([
  ["text that doubles", `${double} { global: { logPaths: [std.length(f('xxxxxxxxxx', 25))] } }`],
  ["text beyond what there can be", `${double} { global: { logPaths: [f('xxxxxxxxxx', 60)] } }`],
  ["arrays that double", `${double} { global: { logPaths: f([1, 2, 3], 60) } }`],
  [
    "text that is replaced by more text",
    `${double} local s = f('xxxxxxxxxx', 20); [std.strReplace(s, 'x', s)]`,
  ],
  ["a value that is written out often", `${shared} { global: { logPaths: [h, h, h, h] } }`],
  ["a value that is made text", `${shared} { global: { logPaths: [std.toString(h)] } }`],
  ["objects upon objects", "std.foldl(function(o, i) o + { a: super.a + 1 }, std.range(1, 20000), { a: 1 })"],
  ["a format of great width", "{ global: { logPaths: ['%1000000000d' % 5] } }"],
  ["a format of great precision", "{ global: { logPaths: ['%.999999999f' % 5] } }"],
  ["signs upon signs", `{ a: ${"-".repeat(60_000)}1 }`],
  [
    "slices of slices",
    "local s = std.repeat('x', 900000); [std.substr(s, i, 900000) for i in std.range(1, 900)]",
  ],
  ["an endless recursion", "local f(x) = f(x + 1); { a: f(1) }"],
] as const)("%s is refused, and nothing else waits for it", { timeout: 60_000 }, async ([, overrides]) => {
  const limits = { milliseconds: 2_000, megabytes: 48 };
  const before = process.memoryUsage().heapUsed;
  const used = process.cpuUsage();
  const checked = await checkBounded(configurationOf(overrides), limits);
  const { user, system } = process.cpuUsage(used);
  expect(checked).toMatchObject({
    is: "invalid",
    faults: [expect.stringMatching(/^[\w-]+\.(jsonnet|libsonnet):/)],
  });
  // That process may take as long as it is given. This one goes on.
  expect((user + system) / 1_000).toBeLessThan(limits.milliseconds / 2);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * 1024 * 1024);
});
