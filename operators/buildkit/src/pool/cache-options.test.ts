import { expect, test } from "vitest";
import { cacheOptions } from "./cache-options.ts";
import { BuildKitPool } from "./pool.ts";

type PoolSpec = NonNullable<Parameters<typeof BuildKitPool.make>[1]>;
type Backend = NonNullable<NonNullable<PoolSpec["cache"]>["backends"]>[number];

function optionsOf(backend: Backend, project?: string): string {
  const { spec } = BuildKitPool.make({ namespace: "builds", name: "ci" }, { cache: { backends: [backend] } });
  return cacheOptions(spec, project).import.join("\n");
}
const registry = (endpoint: string): Backend => ({ type: "registry", registry: { endpoint } });

test("a registry without a repository is not mistaken for one of Docker Hub", () => {
  expect(optionsOf(registry("r.example.com:5000"))).toBe(
    "type=registry,ref=r.example.com:5000/buildkit-cache",
  );
});

test("projects do not overwrite each other's cache, and a tag that is given stands", () => {
  const endpoint = "r.example.com:5000/cache";
  const names = ["acme/shop", "acme-shop", "acme/blog", "../..", "ä".repeat(300)].map((project) => {
    const options = optionsOf(registry(endpoint), project);
    // What a registry takes for a tag.
    expect(options).toMatch(
      /^type=registry,ref=r\.example\.com:5000\/cache:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/,
    );
    return options;
  });
  expect(new Set(names).size).toBe(names.length);
  expect(optionsOf(registry(`${endpoint}:main`), "acme/shop")).toBe(`type=registry,ref=${endpoint}:main`);
  const s3 = { bucket: "cache", region: "eu-west-1" };
  expect(optionsOf({ type: "s3", s3 }, "acme/shop")).toMatch(/^type=s3,.*,name=acme-shop-[0-9a-f]{12}$/);
});

test("what would be more than one attribute is quoted", () => {
  const s3 = { bucket: "cache", region: "eu-west-1", prefix: 'a,access_key_id=b"c' };
  expect(optionsOf({ type: "s3", s3 })).toBe(
    'type=s3,bucket=cache,region=eu-west-1,"prefix=a,access_key_id=b""c"',
  );
});
