import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./source-packages.ts";

const read = (file: string) => readFileSync(join(root, file), "utf8");
const finalStage = (dockerfile: string) => dockerfile.slice(dockerfile.lastIndexOf("\nFROM "));

test.for(readdirSync(join(root, "operators")))("%s has a Dockerfile that builds its own programs", (name) => {
  const dockerfile = read(`operators/${name}/Dockerfile`);
  expect(dockerfile).toContain(`docker build -f operators/${name}/Dockerfile -t windlass/${name}:dev .`);
  expect(dockerfile).toContain(`RUN npm ci && npm run image -- ${name} --files /image\n`);
  expect(finalStage(dockerfile)).toContain("\nUSER 65532:65532\n");
});

test("all Dockerfiles stand on the same bases", () => {
  const files = readdirSync(join(root, "operators")).map((name) => `operators/${name}/Dockerfile`);
  const bases = [...files, "packages/cli/templates/operator/Dockerfile"].map((file) =>
    [...read(file).matchAll(/^FROM (\S+)/gm)].map(([, base]) => base),
  );
  expect(new Set(bases.map(String)).size).toBe(1);
});
