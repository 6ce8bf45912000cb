import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../scripts/packaging/source-packages.ts";
import { startBuilder } from "../packages/dockerfile.ts";

// The others differ in the operator's name alone: scripts/packaging/dockerfiles.test.ts.
test("the Dockerfile of an operator of this repository builds to Node and the operator's programs", {
  timeout: 300_000,
}, async () => {
  await using builder = await startBuilder("node:24-slim");
  const built = await builder.build(root, "operators/elasti/Dockerfile");
  console.log(`the image of Elasti's Dockerfile: ${(built.unpackedBytes / 1e6).toFixed(1)} MB`);
  expect(built.unpackedBytes).toBeLessThan(130e6);
  expect(built.config).toMatchObject({
    User: "65532:65532",
    Entrypoint: ["/usr/bin/node"],
    Cmd: ["main.js"],
  });
  expect((await readdir(join(built.root, "app"))).toSorted()).toEqual([
    "main.js",
    "package.json",
    "resolver-main.js",
  ]);
  expect((await readdir(join(built.root, "usr/bin"))).toSorted()).toEqual(["node"]);
});
