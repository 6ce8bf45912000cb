import { expect, test } from "vitest";
import { everyConfiguration } from "../configuration/configuration.fixture.ts";
import { checkConfiguration } from "../configuration/index.ts";
import { flushOf, shardConfiguration } from "./geometry.ts";

const version = "2026-08";
const [{ files: plain } = { files: {} }] = everyConfiguration(version, { is: "single", at: { shards: 1 } });

/** What the default configuration becomes with jsonnet that is added to it. */
function checked(overrides?: string) {
  const [one] = everyConfiguration(version, { is: "single", at: { shards: 1 } }, overrides);
  return checkConfiguration(shardConfiguration(one?.files ?? plain, version));
}
const cas = (own: string) => `{ contentAddressableStorage+: { backend+: ${own} } }`;
const local = (own: string) => cas(`{ 'local'+: { ${own} } }`);

test.for([
  ["another number of blocks", local("oldBlocks: 9")],
  ["more spare blocks", local("blocksOnBlockDevice+: { spareBlocks: 4 }")],
  [
    "blocks in another file",
    local("blocksOnBlockDevice+: { source+: { file+: { path: '/storage-cas/other' } } }"),
  ],
  ["another index", local("keyLocationMapOnBlockDevice+: { file+: { sizeBytes: '1048576' } }")],
  ["another directory of state", local("persistent+: { stateDirectoryPath: '/storage-cas/other' }")],
  ["no directory of state", local("persistent:: null")],
  ["fields by their other names", local("oldBlocks:: null, old_blocks: 9")],
  [
    "a store behind another backend",
    "{ contentAddressableStorage+: { local backend = super.backend, backend: { existenceCaching: { backend: backend, existenceCache: { cacheSize: 100, cacheDuration: '60s', cacheReplacementPolicy: 'LEAST_RECENTLY_USED' } } } } }",
  ],
  ["a store that is gone", "{ contentAddressableStorage+: { backend: { 'error': { code: 5 } } } }"],
] as const)("%s empties the store", ([, overrides]) => {
  expect(flushOf(checked(), checked(overrides))).toEqual({
    is: "known",
    stores: ["contentAddressableStorage"],
  });
});

test.for([
  ["the same text", "{}"],
  ["another interval of state", local("persistent+: { minimumEpochInterval: '60s' }")],
  ["more attempts", local("keyLocationMapMaximumGetAttempts: 17")],
  ["a number as text", local("oldBlocks: 8, currentBlocks: 24")],
  [
    "a cache of what is intact",
    local(
      "blocksOnBlockDevice+: { dataIntegrityValidationCache: { cacheSize: 10, cacheDuration: '60s', cacheReplacementPolicy: 'LEAST_RECENTLY_USED' } }",
    ),
  ],
] as const)("%s keeps the store", ([, overrides]) => {
  expect(flushOf(checked(), checked(overrides))).toEqual({ is: "known", stores: [] });
});

test("what cannot be evaluated here is not known", () => {
  const native = checked("{ contentAddressableStorage+: std.parseYaml('{}') }");
  expect(flushOf(checked(), native)).toMatchObject({
    is: "unknown",
    why: expect.stringContaining("std.parseYaml cannot be evaluated here"),
  });
  expect(flushOf(native, checked())).toMatchObject({ is: "unknown" });
  expect(flushOf(checked("{ nonsense: 1 }"), checked())).toMatchObject({ is: "unknown" });
});
