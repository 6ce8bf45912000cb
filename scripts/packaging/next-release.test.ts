import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { changesIn, lockWithVersion, nextVersion, releasedChangelog, withVersion } from "./next-release.ts";
import { root } from "./source-packages.ts";

test.for([
  ["1.2.3", "patch", "1.2.4"],
  ["1.2.3", "minor", "1.3.0"],
  ["1.2.3", "major", "2.0.0"],
  ["1.2.3", "1.10.0", "1.10.0"],
  ["1.2.3", "1.2.4-rc.1", "1.2.4-rc.1"],
  ["1.2.4-rc.9", "1.2.4-rc.10", "1.2.4-rc.10"],
  ["1.2.4-rc.1", "patch", "1.2.4"],
] as const)("after %s, %s is %s", ([current, wanted, next]) => {
  expect(nextVersion(current, wanted)).toBe(next);
});

test.for([
  ["1.2.3", "1.2.3"],
  ["1.2.3", "1.2.3-rc.1"],
  ["1.10.0", "1.9.0"],
  ["1.2.3", "next"],
  ["1.2.3", "v1.3.0"],
] as const)("after %s there is no %s", ([current, wanted]) => {
  expect(() => nextVersion(current, wanted)).toThrow(TypeError);
});

const ours = new Set(["@windlass/client", "@windlass/runtime"]);

test("a manifest gets the version, and so do those of ours that it needs", () => {
  const before = {
    name: "@windlass/runtime",
    version: "1.0.0",
    exports: { ".": "./src/index.ts" },
    dependencies: { "@windlass/client": "1.0.0", pino: "1.0.0" },
  };
  expect(JSON.parse(withVersion(JSON.stringify(before), ours, "1.1.0"))).toEqual({
    ...before,
    version: "1.1.0",
    dependencies: { "@windlass/client": "1.1.0", pino: "1.0.0" },
  });
});

test("a lock file changes where it speaks of ours, and nowhere else", () => {
  const foreign = { version: "1.0.0", dependencies: { "@windlass/client": "1.0.0" } };
  const lock = {
    version: "1.0.0",
    lockfileVersion: 3,
    packages: {
      "": { version: "1.0.0" },
      "packages/runtime": { version: "1.0.0", dependencies: { "@windlass/client": "1.0.0" } },
      "node_modules/pino": foreign,
    },
  };
  expect(JSON.parse(lockWithVersion(JSON.stringify(lock), ours, "1.1.0"))).toEqual({
    version: "1.1.0",
    lockfileVersion: 3,
    packages: {
      "": { version: "1.1.0" },
      "packages/runtime": { version: "1.1.0", dependencies: { "@windlass/client": "1.1.0" } },
      "node_modules/pino": foreign,
    },
  });
});

const changelog = "# Changelog\n\n## Unreleased\n\n- New\n\n## 1.0.0 (2026-01-01)\n\n- Old\n";

test("what was unreleased is released, with its date", () => {
  expect(changesIn(changelog)).toBe("- New");
  const released = releasedChangelog(changelog, "1.1.0", "2026-02-03");
  expect(released).toBe(
    "# Changelog\n\n## Unreleased\n\n## 1.1.0 (2026-02-03)\n\n- New\n\n## 1.0.0 (2026-01-01)\n\n- Old\n",
  );
  expect(changesIn(released)).toBe("");
  expect(() => releasedChangelog(released, "1.2.0", "2026-02-04")).toThrow("nothing under Unreleased");
});

test.each([
  [["--help"], "Unknown option '--help'"],
  [["soon"], '"soon" is neither major, minor or patch'],
  [["0.0.1"], "0.0.1 is not above"],
  [[], "usage: npm run release"],
])("a release of %j is refused with how it is used", (args, why) => {
  const { status, stderr } = spawnSync(process.execPath, [join(root, "scripts/release.ts"), ...args], {
    encoding: "utf8",
  });
  expect({ status, isExplained: stderr.includes(why), hasStack: /^ +at /m.test(stderr) }).toEqual({
    status: 2,
    isExplained: true,
    hasStack: false,
  });
  expect(stderr).toContain("usage: npm run release -- major|minor|patch|VERSION [--dry-run]");
});

test("the release workflow publishes with the command that the tests of the packages try", async () => {
  const workflow = await readFile(join(root, ".github/workflows/release.yml"), "utf8");
  expect(workflow).toContain("npm run publish-packages -- --provenance\n");
  expect(workflow).not.toContain("npm publish");
});
