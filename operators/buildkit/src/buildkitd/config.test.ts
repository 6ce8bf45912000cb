import { describe, expect, test } from "vitest";
import { BuildKitPool } from "../pool/pool.ts";
import { buildkitdToml } from "./config.ts";

const tomlOf = (spec: Parameters<typeof BuildKitPool.make>[1], diskBytes?: number) =>
  buildkitdToml({ spec: BuildKitPool.make("ci", spec).spec, diskBytes });
const policiesIn = (toml: string) =>
  toml
    .split("[[worker.oci.gcpolicy]]\n")
    .slice(1)
    .map((part) => part.split("\n\n")[0]?.split("\n[")[0]?.trim());

describe("garbage collection", () => {
  test("ends with a policy that counts everything and knows no age", () => {
    expect(policiesIn(tomlOf({})).at(-1)).toBe(
      'all = true\nreservedSpace = "10%"\nmaxUsedSpace = "60%"\nminFreeSpace = "20%"',
    );
  });

  test("is sized from the volume, in bytes", () => {
    expect(policiesIn(tomlOf({}, 1_000_000)).at(-1)).toBe(
      "all = true\nreservedSpace = 100000\nmaxUsedSpace = 750000\nminFreeSpace = 200000",
    );
  });

  test("takes quantities as Kubernetes means them, and the original's keepStorage", () => {
    const gc = { keepStorage: "20Gi", reservedSpace: "1G", minFreeSpace: "5%", keepDuration: "72h" };
    const policies = policiesIn(tomlOf({ cache: { gc } }));
    expect(policies.at(-1)).toBe(
      'all = true\nreservedSpace = 1000000000\nmaxUsedSpace = 21474836480\nminFreeSpace = "5%"',
    );
    expect(policies[1]).toContain("keepDuration = 259200");
  });

  test("takes policies as they are, and adds the last one if it is missing", () => {
    const own = { keepDuration: "1h", maxUsedSpace: "1Gi", filters: ["type==source.local"] };
    const policies = policiesIn(tomlOf({ cache: { gc: { policies: [own] } } }));
    expect(policies).toHaveLength(2);
    expect(policies[0]).toBe(
      'filters = ["type==source.local"]\nkeepDuration = 3600\nmaxUsedSpace = 1073741824',
    );
    expect(policies[1]).toContain("all = true");
    const last = { all: true, maxUsedSpace: "5Gi" };
    expect(policiesIn(tomlOf({ cache: { gc: { policies: [own, last] } } }))).toHaveLength(2);
  });

  test("can be turned off", () => {
    const toml = tomlOf({ cache: { gc: { enabled: false } } });
    expect(toml).toContain("gc = false");
    expect(policiesIn(toml)).toEqual([]);
  });
});

test("registries have mirrors, authorities and plain HTTP", () => {
  const toml = tomlOf({
    registries: [{ host: "docker.io", mirrors: ["mirror.example.com"], caSecret: "mirror-ca" }],
    cache: {
      backends: [
        { type: "registry", registry: { endpoint: "cache.example.com:5000/cache", insecure: true } },
      ],
    },
  });
  expect(toml).toContain(
    '[registry."docker.io"]\nmirrors = ["mirror.example.com"]\nca = ["/etc/buildkit/registries/docker.io/ca.crt"]',
  );
  expect(toml).toContain('[registry."cache.example.com:5000"]\nhttp = true');
});

describe("what a person writes", () => {
  test("takes the place of what is generated, key by key, and everything else stays", () => {
    const toml = tomlOf({
      buildkitConfig: `debug = true
[worker.oci] # ours
  max-parallelism = 7
[registry . "docker.io"]
  mirrors = ["m"]
`,
      maxParallelism: 2,
    });
    expect(toml).toMatch(/^debug = true$/m);
    expect(toml).not.toMatch(/debug = false/);
    expect(toml.match(/\[worker\.oci\]/g)).toHaveLength(1);
    expect(toml).toContain("max-parallelism = 7");
    expect(toml).not.toContain("max-parallelism = 2");
    expect(toml).toContain("gc = true");
    expect(policiesIn(toml).at(-1)).toContain("all = true");
    expect(toml.match(/\[registry\."docker\.io"\]/g)).toHaveLength(1);
  });

  test("replaces a list of tables as a whole", () => {
    const toml = tomlOf({ buildkitConfig: "[[worker.oci.gcpolicy]]\nall = true\nmaxUsedSpace = 5\n" });
    expect(policiesIn(toml)).toEqual(["all = true\nmaxUsedSpace = 5"]);
  });

  test("is not cut inside of a multi-line string", () => {
    const toml = tomlOf({
      buildkitConfig: 'note = """\n[worker.oci]\n"""\n[dns]\nnameservers = ["1.1.1.1"]\n',
    });
    expect(toml).toContain('note = """\n[worker.oci]\n"""');
    expect(toml.match(/^\[worker\.oci\]$/gm)).toHaveLength(2);
    expect(toml.indexOf("debug = false")).toBeLessThan(toml.indexOf("[dns]"));
  });
});
