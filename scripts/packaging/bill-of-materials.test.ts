import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { billOfMaterials, type Lock } from "./bill-of-materials.ts";
import { root, sourcePackages } from "./source-packages.ts";

const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as Lock;
const bill = billOfMaterials(lock, "1.2.3");
const references = new Set(bill.components.map((component) => component["bom-ref"]));

test("everything that our packages ask for is on the bill", async () => {
  const names = new Set(
    bill.components.map(({ group, name }) => (group === undefined ? name : `${group}/${name}`)),
  );
  for (const { manifest } of await sourcePackages())
    for (const name of [
      manifest.name,
      ...Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }),
    ])
      expect(names).toContain(name);
});

test("tools of development are not", () => {
  expect(
    bill.components.filter(({ name }) => /^(?:vitest|typescript|rolldown|node-linux.*)$/.test(name)),
  ).toEqual([]);
});

test("what comes from a registry has a licence and a hash", () => {
  const foreign = bill.components.filter(
    ({ group, name }) => group !== "@windlass" && name !== "create-windlass",
  );
  expect(foreign.length).toBeGreaterThan(10);
  for (const component of foreign)
    expect(component).toMatchObject({
      licenses: [expect.anything()],
      hashes: [{ alg: "SHA-512", content: expect.stringMatching(/^[0-9a-f]{128}$/) }],
    });
});

test("whatever depends on something names something that is there", () => {
  const [, ...dependencies] = bill.dependencies;
  expect(new Set(dependencies.map(({ ref }) => ref))).toEqual(references);
  for (const { dependsOn } of bill.dependencies)
    for (const ref of dependsOn) expect(references).toContain(ref);
});

test("a dependency that is nested is found before the one above it", () => {
  const nested = billOfMaterials(
    {
      packages: {
        "packages/a": { name: "a", version: "1.0.0", dependencies: { b: "1" } },
        "node_modules/b": { version: "1.0.0", dependencies: { c: "2" } },
        "node_modules/b/node_modules/c": { version: "2.0.0" },
        "node_modules/c": { version: "1.0.0" },
      },
    },
    "1.0.0",
  );
  expect(nested.components.map(({ purl }) => purl)).toEqual([
    "pkg:npm/a@1.0.0",
    "pkg:npm/b@1.0.0",
    "pkg:npm/c@2.0.0",
  ]);
});

test("the same lock gives the same bill, a lock with a hole none", () => {
  expect(billOfMaterials(lock, "1.2.3")).toEqual(bill);
  const holed = { packages: { "packages/a": { name: "a", version: "1.0.0", dependencies: { b: "1" } } } };
  expect(() => billOfMaterials(holed, "1.0.0")).toThrow("does not have b, which packages/a needs");
});
