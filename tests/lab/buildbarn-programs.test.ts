import { createAuthority } from "@windlass/certificates";
import { systemClock } from "@windlass/clock";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { shownBy as certificateShownBy } from "../../operators/buildbarn/src/certificates/shown.ts";
import {
  checkConfiguration,
  commonDocument,
  componentFiles,
  type Document,
  frontendDocument,
  type InternalTls,
  schedulerDocument,
  storageDocument,
  type Version,
  workerDocument,
} from "../../operators/buildbarn/src/configuration/index.ts";
import { layout, mapText, versions } from "../../operators/buildbarn/src/index.ts";
import { smoke } from "../../operators/buildbarn/src/probe/smoke.ts";
import { BuildQueue } from "../../operators/buildbarn/src/queue/index.ts";
import { flushOf, shardConfiguration } from "../../operators/buildbarn/src/storage/geometry.ts";
import {
  fingerprintOf,
  foreignPairsOf,
  pairOf,
  shownBy,
} from "../../operators/buildbarn/testing/certificates.ts";
import { Programs, platform, smallStores } from "../../operators/buildbarn/testing/programs.ts";
import { RemoteCache } from "../../operators/buildbarn/testing/remote-cache.ts";

/**
 * Shard maps on the real programs: processes of this machine, without a cluster. What the model of
 * `resharding/` takes for granted is seen here: where blobs are, and what a mirror does.
 */
const actions = Array.from({ length: 40 }, (_, index) => `action ${index}`);

async function written(frontend: string, names: readonly string[] = actions): Promise<void> {
  using cache = new RemoteCache(frontend);
  for (const action of names) await cache.write(action);
}

/** Those of the actions whose result, and its output, are found. */
async function hits(frontend: string, names: readonly string[] = actions): Promise<readonly string[]> {
  using cache = new RemoteCache(frontend);
  const found: string[] = [];
  for (const action of names) if ((await cache.read(action)) === "hit") found.push(action);
  return found;
}

/** Those of the actions whose result a shard has, and those whose output. */
async function keptBy(shard: string) {
  using cache = new RemoteCache(shard);
  const [results, outputs] = [new Set<string>(), new Set<string>()];
  for (const action of actions) {
    if (await cache.hasResult(action)) results.add(action);
    if (await cache.hasBlob(`output of ${action}`)) outputs.add(action);
  }
  return { results, outputs };
}

describe.each(versions)("bb_storage of %s", (version) => {
  test("places by weight, and nothing on a drained shard", async () => {
    await using programs = new Programs(version);
    await programs.startShards("a0", "a1", "a2");
    const frontend = await programs.startFrontend("3w1.9d2");
    await written(frontend);
    expect(await hits(frontend)).toEqual(actions);
    const [light, heavy, drained] = await Promise.all(
      ["a0", "a1", "a2"].map((name) => keptBy(programs.shard(name))),
    );
    expect(drained).toEqual({ results: new Set(), outputs: new Set() });
    expect((light?.results.size ?? 0) + (heavy?.results.size ?? 0)).toBe(actions.length);
    // 4 of 40 are expected on the one, 36 on the other.
    expect(light?.results.size).toBeLessThan(15);
    expect(heavy?.results.size).toBeGreaterThan(25);
  });

  test("draining a shard moves nothing but what it keeps", async () => {
    await using programs = new Programs(version);
    await programs.startShards("a0", "a1", "a2");
    await written(await programs.startFrontend("3"));
    const lost = await keptBy(programs.shard("a1"));
    const kept = actions.filter((action) => !lost.results.has(action) && !lost.outputs.has(action));
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.length).toBeLessThan(actions.length);
    await programs.loseShard("a1");
    const drained = await programs.startFrontend("3d1");
    expect(await hits(drained)).toEqual(kept);
    await written(drained);
    expect(await hits(drained)).toEqual(actions);
  });

  test("an empty mirror gets what is used, and then stands in for a volume that is lost", async () => {
    await using programs = new Programs(version);
    await programs.startShards("a0", "a1");
    const single = await programs.startFrontend("2");
    await written(single);
    await programs.startShards("b0", "b1");
    const mirrored = await programs.startFrontend("2m");
    // Clients of both kinds work side by side.
    await written(mirrored, ["by a pair"]);
    await written(single, ["by one"]);
    for (const frontend of [single, mirrored])
      expect(await hits(frontend, ["by a pair", "by one"])).toEqual(["by a pair", "by one"]);
    // Results are read from either side in turn, so the second round finds those that the first has
    // not copied.
    for (const _ of [1, 2]) expect(await hits(mirrored)).toEqual(actions);
    const pair = await Promise.all(["b0", "b1"].map((name) => keptBy(programs.shard(name))));
    // FindMissing, which every hit takes, refills the content-addressable storage.
    expect(pair.reduce((sum, { outputs }) => sum + outputs.size, 0)).toBe(actions.length);
    await programs.loseShard("a0");
    await programs.startShards("a0");
    const after = await programs.startFrontend("2m");
    const found = await hits(after);
    const results = pair.flatMap((one) => [...one.results]);
    expect(results.length).toBeGreaterThan(actions.length / 3);
    // No result that the mirror has is lost with the volume of its pair.
    expect(found).toEqual(expect.arrayContaining(results));
  });

  test("is emptied by another number of blocks, as it is said to be, and by nothing less", async () => {
    await using programs = new Programs(version);
    await programs.startShards("a0");
    await written(await programs.startFrontend("1"));
    const evaluated = (stores: typeof smallStores) => {
      const common = commonDocument({ version });
      const documents = { "storage.jsonnet": storageDocument(version, stores) };
      return checkConfiguration(
        shardConfiguration(componentFiles({ common, documents, overrides: undefined }), version),
      );
    };
    const { cas } = smallStores;
    for (const [stores, flushed, left] of [
      [smallStores, [], actions],
      [
        { ...smallStores, cas: { ...cas, blocks: { ...cas.blocks, old: 9 } } },
        ["contentAddressableStorage"],
        [],
      ],
    ] as const) {
      expect(flushOf(evaluated(smallStores), evaluated(stores))).toEqual({ is: "known", stores: flushed });
      await programs.stopShard("a0");
      programs.stores = stores;
      await programs.startShards("a0");
      expect(await hits(await programs.startFrontend("1"))).toEqual(left);
    }
  });

  test("every two maps that clients have at the same time find what the other one wrote", async () => {
    await using programs = new Programs(version);
    await programs.startShards("a0", "a1", "a2", "b0", "b1", "b2");
    for (const [from, to] of [
      ["2", "3w2m"],
      ["3w2m", "2d0"],
    ] as const) {
      const maps = [from, `${from}+${to}`, `${from}-${to}`, to];
      const frontends = await Promise.all(maps.map((map) => programs.startFrontend(map)));
      for (const [index, frontend] of frontends.entries()) {
        // Readers of results are rolled in this order, one step after the other.
        const beside = frontends[index + 1];
        if (beside === undefined) continue;
        const names = [`${from} ${to} ${index} a`, `${from} ${to} ${index} b`] as const;
        await written(frontend, [names[0]]);
        await written(beside, [names[1]]);
        expect(await hits(beside, names)).toEqual(names);
        // Those that know one map alone write results there, and are not asked for others' before
        // all know both.
        if (index > 0 && index < 2) expect(await hits(frontend, names)).toEqual(names);
      }
    }
  });
});

const authority = createAuthority({ commonName: "the set's", validFor: "1h" });
const tls = { authorities: authority.certificate, serverName: "builds.team.svc" };
const member = pairOf(authority, tls.serverName);
const foreignPairs = foreignPairsOf(authority, tls.serverName);

describe.each(versions)("TLS between programs of %s", (version) => {
  test("shards and the frontend's internal way admit members of the set, and no other client", async () => {
    await using programs = new Programs(version, tls);
    programs.certify(member);
    await programs.startShards("a0", "a1");
    const frontend = await programs.startFrontend("2");
    await written(frontend);
    expect(await hits(frontend)).toEqual(actions);
    for (const address of [programs.shard("a0"), programs.internalWay]) {
      using cache = new RemoteCache(address, { ...tls, pair: member });
      await cache.write("by a member");
      expect(await cache.read("by a member")).toBe("hit");
      for (const [, pair] of foreignPairs) {
        using foreignClient = new RemoteCache(address, { ...tls, ...(pair && { pair }) });
        // UNAUTHENTICATED, PERMISSION_DENIED, or no connection at all.
        await expect(foreignClient.read("by a member")).rejects.toMatchObject({ name: "CallError" });
        await expect(foreignClient.read("by a member")).rejects.not.toMatchObject({ code: 5 });
      }
      using plain = new RemoteCache(address);
      await expect(plain.read("by a member")).rejects.toMatchObject({ code: 14 });
    }
  });

  test("a frontend talks to no shard of another authority or another set", async () => {
    for (const [, pair] of foreignPairs.slice(1)) {
      await using programs = new Programs(version, tls);
      programs.certify(pair ?? member);
      await programs.startShards("a0");
      // The shard goes on showing what it has.
      programs.certifyNext(member);
      const frontend = await programs.startFrontend("1");
      using cache = new RemoteCache(frontend);
      await expect(cache.write("secret")).rejects.toMatchObject({ name: "CallError" });
    }
  });

  test("the operator sees what a program shows, without a certificate of its own", async () => {
    await using programs = new Programs(version, tls);
    programs.certify(member);
    await programs.startShards("a0");
    const server = { address: programs.shard("a0"), ...tls };
    const { certificate, refusal } = await certificateShownBy(server, AbortSignal.timeout(10_000));
    expect(certificate.fingerprint256).toBe(fingerprintOf(member));
    expect(refusal).toBeUndefined();
    const named = { ...server, serverName: "another.team.svc" };
    expect(await certificateShownBy(named, AbortSignal.timeout(10_000))).toMatchObject({
      refusal: expect.stringContaining("ERR_TLS_CERT_ALTNAME_INVALID"),
    });
  });

  test("a certificate that is renewed is shown by programs that run on", async () => {
    await using programs = new Programs(version, tls);
    programs.certify(member);
    await programs.startShards("a0");
    const frontend = await programs.startFrontend("1");
    await written(frontend, ["before"]);
    const renewed = pairOf(authority, tls.serverName);
    programs.certify(renewed);
    await expect
      .poll(() => shownBy(programs.shard("a0"), tls), { timeout: 30_000 })
      .toBe(fingerprintOf(renewed));
    expect(await hits(frontend, ["before"])).toEqual(["before"]);
  });
});

test.for([
  ["without TLS", undefined, "2"],
  ["with TLS", tls, "2"],
  ["with TLS, mirrored", tls, "2w1.2m"],
] as const)("a whole set runs an action, and finds it in the cache: %s", async ([, own, map]) => {
  await using programs = new Programs("2025-02", own);
  programs.certify(member);
  await programs.startShards("a0", "a1", "b0", "b1");
  const address = await programs.startSet(map);
  const tried = () =>
    smoke(
      { address, instanceName: "", platform, nonce: `n${Date.now()}`, timeoutSeconds: 30 },
      systemClock,
      AbortSignal.timeout(30_000),
    );
  // A worker that comes before its runner or its scheduler tries again after some seconds.
  await expect
    .poll(tried, { timeout: 60_000 })
    .toMatchObject({ ok: true, cacheHit: true, message: "ran, and was found in the cache" });
});

test("the operator reads the queue of a scheduler that takes members of the set alone", async () => {
  await using programs = new Programs("2025-02", tls);
  programs.certify(member);
  const address = await programs.startScheduler();
  const look = async (pair?: typeof member) => {
    using queue = new BuildQueue({ address, ...tls, ...pair });
    const name = { instanceNamePrefix: "", platform, sizeClass: 0 };
    return await queue.look(name, 10, AbortSignal.timeout(10_000));
  };
  expect(await look(member)).toMatchObject({ exists: true, queued: 0 });
  for (const [, pair] of foreignPairs) await expect(look(pair)).rejects.toMatchObject({ name: "GrpcError" });
});

test("the operator refuses the size classes of a queue that bb_scheduler refuses, and no others", async () => {
  await using programs = new Programs("2025-02");
  for (const sizeClasses of [[0], [4], [1, 4], [0, 4], [4, 1], [2, 2], []]) {
    const document = schedulerDocument({
      version: "2025-02",
      storageAddress: "127.0.0.1:9",
      queues: [{ instanceNamePrefix: "", platform, sizeClasses: [1] }],
      defaultTimeout: "60s",
      maximumTimeout: "60s",
      noWorkersTimeout: "60s",
    });
    const json = programs.evaluated("scheduler.jsonnet", document) as {
      predeclaredPlatformQueues: { sizeClasses: number[] }[];
    };
    for (const queue of json.predeclaredPlatformQueues) queue.sizeClasses = sizeClasses;
    const refusal = await programs.refusal("scheduler.jsonnet", json);
    process.stdout.write(
      `sizeClasses ${JSON.stringify(sizeClasses)}: ${refusal?.trim().split("\n").at(-1) ?? "taken"}\n`,
    );
    expect({ sizeClasses, is: programs.check("scheduler.jsonnet", json).is }).toEqual({
      sizeClasses,
      is: refusal === undefined ? "valid" : "invalid",
    });
  }
});

const layouts = fc
  .record({
    shards: fc.integer({ min: 1, max: 5 }),
    weights: fc.array(fc.integer({ min: 1, max: 1_000 }), { maxLength: 5 }),
    drained: fc.uniqueArray(fc.integer({ min: 0, max: 4 }), { maxLength: 4 }),
    isMirrored: fc.boolean(),
  })
  .map(({ drained, ...own }) =>
    layout({ ...own, drained: drained.filter((number) => number < own.shards - 1) }),
  );
const maps = fc.oneof(
  layouts.map((at) => mapText({ is: "single", at })),
  fc
    .record({ from: layouts, to: layouts, results: fc.constantFrom("from" as const, "to" as const) })
    .map((own) => mapText({ is: "bridge", ...own })),
);
const instanceNames = fc.stringMatching(/^([a-z0-9]{1,8}(\/[a-z0-9]{1,8}){0,2})?$/);
const platforms = fc.uniqueArray(
  fc.record({ name: fc.string({ unit: "grapheme", minLength: 1 }), value: fc.string({ unit: "grapheme" }) }),
  { minLength: 1, maxLength: 6, selector: ({ name, value }) => JSON.stringify([name, value]) },
);
const spans = fc.integer({ min: 1, max: 100_000 }).map((number) => `${number}s`);
const counts = fc.integer({ min: 1, max: 24 });
const stores = (newest: number) =>
  fc.record({
    blocks: fc.record({
      size: fc.constantFrom("64Mi", "32Mi", "48Mi"),
      old: counts,
      current: counts,
      new: fc.integer({ min: 1, max: newest }),
      spare: counts,
    }),
    index: fc.record({ size: fc.constantFrom("1Mi", "3Mi", "500Ki") }),
  });

/** Any configuration that the operator may write. */
function configurations(version: Version, own: InternalTls | undefined) {
  const tlsOfSet = own && { tls: own };
  const at = "127.0.0.1:9";
  return {
    "storage.jsonnet": fc
      .record({ cas: stores(24), ac: stores(1) })
      .map((kept) => ({ document: storageDocument(version, kept, own), map: undefined })),
    "frontend.jsonnet": fc.record({
      map: maps,
      document: fc
        .uniqueArray(instanceNames, { minLength: 1, maxLength: 4 })
        .map((names) => names.map((instanceNamePrefix) => ({ instanceNamePrefix, address: at })))
        .map((routes) => frontendDocument(version, routes, undefined, own)),
    }),
    "scheduler.jsonnet": fc
      .record({
        queues: fc.uniqueArray(
          fc.record({
            instanceNamePrefix: instanceNames,
            platform: platforms,
            sizeClasses: fc
              .uniqueArray(fc.integer({ min: 1, max: 64 }), { maxLength: 3 })
              .map((sizes) => sizes.toSorted((a, b) => a - b)),
          }),
          { maxLength: 4, selector: ({ instanceNamePrefix }) => instanceNamePrefix },
        ),
        defaultTimeout: spans,
        noWorkersTimeout: spans,
      })
      .map((input) => ({
        document: schedulerDocument({
          version: "2025-02",
          storageAddress: at,
          maximumTimeout: "200000s",
          ...input,
          ...tlsOfSet,
        }),
        map: undefined,
      })),
    "worker.jsonnet": fc.record({
      map: maps,
      document: fc
        .record({
          instanceNamePrefix: instanceNames,
          platform: platforms,
          sizeClass: fc.integer({ min: 0, max: 64 }),
          concurrency: fc.integer({ min: 1, max: 32 }),
          inputCache: fc.record({
            size: fc.constantFrom("1Mi", "20Gi"),
            files: fc.integer({ min: 1, max: 100_000 }),
          }),
        })
        .map((input) => workerDocument({ schedulerAddress: at, ...input, ...tlsOfSet })),
    }),
  };
}

type Json = null | string | number | boolean | Json[] | { [field: string]: Json };

/** Names of their own, and not of fields. */
const named = ["schedulers", "shards"];

/** Every way to spoil a configuration by one name, or by one value of another type. */
function* spoiled(json: Json, isNamed = false): Generator<() => () => void> {
  if (typeof json !== "object" || json === null) return;
  for (const [name, value] of Object.entries(json)) {
    const parent = json as Record<string, Json>;
    if (!Array.isArray(json) && !isNamed)
      yield () => {
        delete parent[name];
        parent[`${name}X`] = value;
        return () => {
          delete parent[`${name}X`];
          parent[name] = value;
        };
      };
    if (typeof value !== "object")
      yield () => {
        parent[name] = { of: "another type" };
        return () => {
          parent[name] = value;
        };
      };
    yield* spoiled(value, named.includes(name));
  }
}

test.for(versions.flatMap((version) => [undefined, tls].map((own) => [version, own] as const)))(
  "any configuration that the operator may write is taken by the programs, and what is spoiled by both refused: %s, TLS %o",
  { timeout: 400_000 },
  async ([version, own]) => {
    await using programs = new Programs(version, own);
    programs.certify(member);
    const seed = 20_261_118;
    let [taken, refused] = [0, 0];
    for (const [name, arbitrary] of Object.entries(configurations(version, own))) {
      const entry = name as keyof ReturnType<typeof configurations>;
      // Of the programs that run actions there is one release.
      if (programs.versionOf(entry) !== version) continue;
      const samples = fc.sample<{ document: Document; map: string | undefined }>(arbitrary, {
        seed,
        numRuns: 36,
      });
      for (const [index, { document, map }] of samples.entries()) {
        const json = programs.evaluated(entry, document, map) as Json;
        expect(await programs.refusal(entry, json), JSON.stringify(json)).toBeUndefined();
        taken += 1;
        const ways = [...spoiled(json)];
        const restore = ways[(index * 7_919) % ways.length]?.();
        const text = JSON.stringify(json);
        expect(programs.check(entry, json).is, text).toBe("invalid");
        expect(await programs.refusal(entry, json), text).toMatch(/Failed to unmarshal configuration/);
        refused += 1;
        restore?.();
      }
    }
    process.stdout.write(`${version}: ${taken} configurations were taken, ${refused} spoiled ones refused\n`);
  },
);
