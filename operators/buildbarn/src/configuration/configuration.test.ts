import fc from "fast-check";
import { expect, test } from "vitest";
import { parseMap, type ShardMap } from "../resharding/index.ts";
import { environment, everyConfiguration, type Written } from "./configuration.fixture.ts";
import { print } from "./document.ts";
import { type Checked, checkConfiguration, sorted, type Version, versions } from "./index.ts";
import { isExpression } from "./schema/check.ts";
import { schemaOf } from "./schema/schema.ts";

const check = (version: Version, written: Written, files = written.files): Checked =>
  checkConfiguration({ ...written, version, files, environment });

/** A shard map from its text, as pods are annotated with it. */
function mapOf(text: string): ShardMap {
  const map = parseMap(text);
  if (!map) throw new Error(`no map: ${text}`);
  return map;
}
const maps = ["1", "3", "2+3", "2-3", "3w2", "3w1.4.2", "3d1", "2m", "3w1.5d0m", "2+3w2d1m", "3w2d1m-2"];
const cases = versions.flatMap((version) =>
  maps.flatMap((map) =>
    everyConfiguration(version, mapOf(map)).map((written) => ({ version, map, written })),
  ),
);

/** One program's configuration with two shards. */
function written(version: Version, entry: string, overrides?: string): Written {
  const all = everyConfiguration(version, mapOf("2"), overrides);
  return all.find((one) => one.entry.startsWith(entry)) as Written;
}

function jsonOf(checked: Checked): unknown {
  if (checked.is !== "valid") throw new Error(JSON.stringify(checked));
  return checked.json;
}

test.for(cases)("$written.entry of $version with $map is what its program takes", ({ version, written }) => {
  expect(check(version, written)).toMatchObject({ is: "valid" });
});

test.for(versions)("every program of %s takes TLS between components", (version) => {
  const tls = { authorities: "-----BEGIN CERTIFICATE-----", serverName: "builds.team.svc" };
  for (const one of everyConfiguration(version, mapOf("2w3m"), undefined, tls)) {
    const json = JSON.stringify(jsonOf(check(version, one)));
    // A runner is asked by the worker of its pod alone, over a socket.
    // Metrics are for all to read, and nothing else of a program is.
    expect(json).not.toMatch(/"enable(Pprof|ActiveSpans)":true/);
    expect([one.entry, json.includes("builds.team.svc")]).toEqual([one.entry, one.program !== "bb_runner"]);
  }
});

test("a release takes its own configuration, and not that of the other", () => {
  const [old, now] = [written("2025-02", "frontend"), written("2026-08", "frontend")];
  expect(check("2026-08", old)).toMatchObject({
    is: "invalid",
    faults: [
      expect.stringMatching(/^common\.libsonnet:\d+:\d+: actionCache\..*hashInitialization is no field/),
      expect.stringContaining("shards must be an object"),
      expect.anything(),
      expect.anything(),
      expect.stringMatching(
        /^frontend\.jsonnet:\d+:\d+: schedulers\[""\]\.endpoint\.addMetadataJmespathExpression must be an object/,
      ),
    ],
  });
  expect(check("2025-02", now)).toMatchObject({ is: "invalid" });
});

/** The shards of the CAS in a frontend's configuration. */
function shardsOf(version: Version, map: string): object {
  const json = jsonOf(check(version, everyConfiguration(version, mapOf(map))[1] as Written));
  return (json as { contentAddressableStorage: { backend: { sharding: { shards: object } } } })
    .contentAddressableStorage.backend.sharding.shards;
}

test("shards keep their keys, and their places in the list, as more are added", () => {
  for (const version of versions)
    expect(Object.entries(shardsOf(version, "3")).slice(0, 2)).toEqual(
      Object.entries(shardsOf(version, "2")),
    );
  expect(Object.keys(shardsOf("2026-08", "3"))).toEqual(["0", "1", "2"]);
});

test("no client asks a drained shard, and the others keep their keys and places", () => {
  const backend = expect.anything();
  expect(shardsOf("2025-02", "3w2d1")).toEqual([
    { backend, weight: 2 },
    { weight: 1 },
    { backend, weight: 1 },
  ]);
  expect(shardsOf("2026-08", "3w2d1")).toEqual({ 0: { backend, weight: 2 }, 2: { backend, weight: 1 } });
});

test("a mirrored shard is a pair, each of which gets what it lacks from the other", () => {
  const at = (pod: string) => ({ grpc: { client: { address: `storage-${pod}.storage.builds:8981` } } });
  expect(shardsOf("2026-08", "2m")).toMatchObject({
    1: {
      backend: {
        mirrored: {
          backendA: at("a1"),
          backendB: at("b1"),
          replicatorAToB: { local: {} },
          replicatorBToA: { local: {} },
        },
      },
    },
  });
});

test("platform properties are sorted, as a worker needs them to get work", () => {
  const properties = [
    { name: "b", value: "1" },
    { name: "a", value: "2" },
    { name: "a", value: "1" },
  ];
  expect(sorted(properties).map(({ name, value }) => name + value)).toEqual(["a1", "a2", "b1"]);
  // By code points: in JavaScript's order the first would come last.
  const names = (all: readonly string[]) => all.map((name) => ({ name, value: "" }));
  expect(sorted(names(["\u{1f9dc}", "\uff3a", "cpu count", "cpu"]))).toEqual(
    names(["cpu", "cpu count", "\uff3a", "\u{1f9dc}"]),
  );
  const json = jsonOf(check("2026-08", written("2026-08", "worker")));
  expect(json).toMatchObject({
    buildDirectories: [
      { runners: [{ platform: { properties: [{ name: "OSFamily" }, { name: "container-image" }] } }] },
    ],
  });
});

test.for(versions)("a runner of %s waits for its command when it is terminated", (version) => {
  expect(jsonOf(check(version, written(version, "runner")))).toMatchObject({
    grpcServers: [{ listenPaths: ["/worker/runner"], stopGracefully: true }],
  });
});

test("what a user adds takes the place of what is generated", () => {
  const overrides = "{ maximumMessageSizeBytes: 4 * 1024 * 1024, global+: { mutexProfileFraction: 5 } }";
  expect(jsonOf(check("2026-08", written("2026-08", "frontend", overrides)))).toMatchObject({
    maximumMessageSizeBytes: 4_194_304,
    global: { mutexProfileFraction: 5, diagnosticsHttpServer: { enablePrometheus: true } },
  });
});

test.for([
  {
    of: "a virtual build directory",
    entry: "worker",
    overrides: `{
      local generated = super.buildDirectories[0],
      buildDirectories: [{
        virtual: { mount: { mountPath: '/worker/build', fuse: { allowOther: true } } },
        runners: generated.runners,
      }],
    }`,
    expected: {
      buildDirectories: [
        { virtual: { mount: { fuse: { allowOther: true } } }, runners: [{ concurrency: 8 }] },
      ],
    },
  },
  {
    of: "prefetching",
    entry: "worker",
    overrides: `{
      prefetching: {
        fileSystemAccessCache: { grpc: { client: { address: 'fsac:8980' } } },
        bloomFilterBitsPerPath: 14,
        bloomFilterMaximumSizeBytes: 65536,
      },
    }`,
    expected: { prefetching: { bloomFilterBitsPerPath: 14 } },
  },
  {
    of: "size class analysis",
    entry: "scheduler",
    overrides: `{
      actionRouter+: { simple+: { initialSizeClassAnalyzer+: { feedbackDriven: { historySize: 32 } } } },
    }`,
    expected: {
      actionRouter: {
        simple: {
          initialSizeClassAnalyzer: {
            defaultExecutionTimeout: "1800s",
            feedbackDriven: { historySize: 32 },
          },
        },
      },
    },
  },
])("a user adds $of, which has no field of its own", ({ entry, overrides, expected }) => {
  expect(jsonOf(check("2026-08", written("2026-08", entry, overrides)))).toMatchObject(expected);
});

const mistakes: readonly (readonly [overrides: string, fault: string])[] = [
  [
    "{\n  maximumMessageSizeByte: 1,\n}",
    "overrides.libsonnet:2:3: maximumMessageSizeByte is no field of this release",
  ],
  [
    "{\n  grpcservers: [] }",
    "overrides.libsonnet:2:3: grpcservers is no field of this release; grpcServers is",
  ],
  [
    "{ maximumMessageSizeBytes: '2Mi' }",
    "overrides.libsonnet:1:3: maximumMessageSizeBytes must be a whole number (int64)",
  ],
  [
    "{ executeAuthorizer+: { deny: {} } }",
    "overrides.libsonnet:1:25: executeAuthorizer.deny cannot be set beside allow",
  ],
  ["{ a: ", "overrides.libsonnet:1:6: expected a value, found end of file"],
  [
    "{ global+: { logPaths: [std.extVar('LOGS')] } }",
    "overrides.libsonnet:1:35: std.extVar: there is no environment variable LOGS in this container",
  ],
  [
    "{ global: {} }",
    "overrides.libsonnet:1:3: global.diagnosticsHttpServer.httpServers must listen on :9980, where the probes ask",
  ],
  ["{ global+: { logPaths: 'x' } }", "overrides.libsonnet:1:14: global.logPaths must be an array"],
  [
    "{ executeAuthorizer: { jmespathExpression: { expression: 'a ||' } } }",
    "overrides.libsonnet:1:46: executeAuthorizer.jmespathExpression.expression is no JMESPath that can be answered: line 1, column 5: expected an expression, found the end",
  ],
];

test.for(mistakes)("%s is refused, with its place", ([overrides, fault]) => {
  const checked = check("2026-08", written("2026-08", "frontend", overrides));
  expect(checked).toMatchObject({ is: "invalid" });
  expect(checked.is === "invalid" ? checked.faults : []).toContain(fault);
});

test.for(versions)("every field of %s that is an expression is read as one", (version) => {
  const named = [...schemaOf(version)].flatMap(([message, fields]) =>
    [...fields].map(([field, { type }]) => ({ message, field, type })),
  );
  const isText = ({ type }: (typeof named)[number]) => type.is === "scalar" && type.name === "string";
  const expressions = named.filter((one) => isText(one) && isExpression(one.message, one.field));
  // What is called after the language is one, or a message that has one.
  for (const { message, field, type } of named.filter((one) => /jmespath/i.test(one.field)))
    expect([message, field, type]).toEqual([
      message,
      field,
      version === "2025-02"
        ? { is: "scalar", name: "string" }
        : { is: "message", name: "jmespath.Expression" },
    ]);
  expect(expressions.map(({ message, field }) => `${message}.${field}`)).toHaveLength(
    version === "2025-02" ? 11 : 1,
  );
});

test("an expression of February 2025, which is a text, is read as one", () => {
  const overrides = "{ executeAuthorizer: { jmespathExpression: 'length(a, b)' } }";
  expect(check("2025-02", written("2025-02", "frontend", overrides))).toEqual({
    is: "invalid",
    faults: [
      "overrides.libsonnet:1:24: executeAuthorizer.jmespathExpression is no JMESPath that can be answered: line 1, column 1: length takes 1 argument, not 2",
    ],
  });
});

test("what programs take and then do not work with is refused", () => {
  const own = (program: Written["program"], text: string) =>
    checkConfiguration({
      program,
      version: "2026-08",
      files: { "a.jsonnet": text },
      entry: "a.jsonnet",
      environment,
    });
  expect(own("bb_storage", "{}")).toMatchObject({
    faults: ["a.jsonnet:1:1: the configuration is empty: the program would end at once"],
  });
  const global = "global: { diagnosticsHttpServer: { httpServers: [{ listenAddresses: [':9980'] }] } }";
  const unsorted = `{ ${global}, buildDirectories: [{ runners: [{ platform: { properties: [{ name: 'b' }, { name: 'a' }] } }] }] }`;
  expect(own("bb_worker", unsorted)).toMatchObject({ faults: [expect.stringContaining("must be sorted")] });
  const right = unsorted.replace("'b'", "'cpu'").replace("'a'", "'cpu count'");
  expect(own("bb_worker", right)).toMatchObject({ is: "valid" });
  const blocks = `{ ${global}, actionCache: { backend: { 'local': { newBlocks: 3 } } } }`;
  expect(own("bb_storage", blocks)).toMatchObject({
    faults: [expect.stringContaining("newBlocks must be 1")],
  });
});

test("a configuration that cannot be evaluated here may be right", () => {
  const overrides = "{ global+: { logPaths: [std.manifestIni({})] } }";
  expect(check("2026-08", written("2026-08", "frontend", overrides))).toMatchObject({ is: "unknown" });
});

test("a field that is renamed, anywhere in a generated configuration, is found", () => {
  fc.assert(
    fc.property(fc.constantFrom(...cases), fc.nat(), ({ version, written }, choice) => {
      const text = written.files[written.entry] ?? "";
      // Names of maps are anybody's: the prefixes of instance names, the parts of a worker's id.
      const names = [...text.matchAll(/^ +([a-z]\w*):/gm)].filter(
        ([, name]) => name !== "pod" && name !== "node",
      );
      const found = names[choice % names.length];
      const at = (found?.index ?? 0) + (found?.[0].length ?? 1) - 1;
      const renamed = `${text.slice(0, at)}Typo${text.slice(at)}`;
      expect(check(version, written, { ...written.files, [written.entry]: renamed }).is).toBe("invalid");
    }),
  );
});

test("a document is printed as jsonnet that comes to the same", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (json) => {
      const document = JSON.parse(JSON.stringify(json).replaceAll("-0", "0"));
      const text = `{ global: { diagnosticsHttpServer: { httpServers: [{ listenAddresses: [':9980'] }] } }, value:: ${print(document)}, schedulers: { [std.manifestJsonMinified(self.value)]: {} } }`;
      const checked = checkConfiguration({
        program: "bb_storage",
        version: "2026-08",
        files: { "a.jsonnet": text },
        entry: "a.jsonnet",
        environment,
      });
      const [printed = ""] = Object.keys((jsonOf(checked) as { schedulers: object }).schedulers);
      expect(JSON.parse(printed)).toEqual(document);
    }),
  );
});

test.for([
  ["[0, 4]", "must all be above 0 if there are several"],
  ["[4, 1]", "must be in ascending order, without repetition"],
  ["[2, 2]", "must be in ascending order, without repetition"],
  ["[]", "must have at least one entry"],
] as const)(
  "a queue with size classes %s, with which no scheduler starts, is refused",
  ([classes, fault]) => {
    const overrides = `{ predeclaredPlatformQueues: [{ platform: {}, sizeClasses: ${classes} }] }`;
    expect(check("2026-08", written("2026-08", "scheduler", overrides))).toEqual({
      is: "invalid",
      faults: [
        expect.stringMatching(/^overrides\.libsonnet:1:\d+: predeclaredPlatformQueues\[0\]\.sizeClasses /),
      ],
    });
    expect(check("2026-08", written("2026-08", "scheduler", overrides))).toMatchObject({
      faults: [expect.stringContaining(fault)],
    });
  },
);
