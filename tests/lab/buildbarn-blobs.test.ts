import { expect, test } from "vitest";
import { versions } from "../../operators/buildbarn/src/index.ts";
import { lostOf, writeAll } from "../../operators/buildbarn/testing/many-blobs.ts";
import { Programs, smallStores } from "../../operators/buildbarn/testing/programs.ts";

/**
 * Ten thousand blobs on real programs, as processes of this machine, while their clients get the
 * maps of each phase of a change of shards, as `resharding/` has them.
 */
const actions = Array.from({ length: 5_000 }, (_, number) => `action ${number}`);
const index = { size: "4Mi" };

test.for(versions)(
  "bb_storage of %s: 10,000 blobs are moved from 2 to 3 shards and back, and none is lost or wrong",
  { timeout: 600_000 },
  async (version) => {
    await using programs = new Programs(version);
    programs.stores = { cas: { ...smallStores.cas, index }, ac: { ...smallStores.ac, index } };
    await programs.startShards("a0", "a1");
    const before = await programs.startFrontend("2");
    await writeAll([before], actions);
    expect(await lostOf([before], actions)).toEqual([]);
    await programs.startShards("a2");
    const counts: Record<string, number> = {};
    for (const [from, to] of [
      ["2", "3"],
      ["3", "2"],
    ] as const) {
      // A client that asks the new shards at once.
      counts[`${from} to ${to} at once`] = (await lostOf([await programs.startFrontend(to)], actions)).length;
      // Some clients still have the one map, and others have the next.
      const bridging = await programs.startFrontend(`${from}+${to}`);
      expect(await lostOf([bridging], actions)).toEqual([]);
      const copying = await programs.startFrontend(`${from}-${to}`);
      // What is used while both maps are there is copied.
      expect(await lostOf([bridging, copying], actions)).toEqual([]);
      expect(await lostOf([copying], actions)).toEqual([]);
      counts[`${from} to ${to} in order`] = (
        await lostOf([await programs.startFrontend(to)], actions)
      ).length;
    }
    process.stdout.write(
      `${version}: of ${actions.length} results, each with two blobs, lost: ${JSON.stringify(counts)}\n`,
    );
    expect(counts["2 to 3 in order"]).toBe(0);
    expect(counts["3 to 2 in order"]).toBe(0);
    // It is the order that keeps them.
    expect(counts["2 to 3 at once"]).toBeGreaterThan(actions.length / 4);
  },
);
