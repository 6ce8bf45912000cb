import type { Clock } from "@windlass/clock";
import {
  AllocationError,
  type AllocationOutcome,
  type AllocationSpec,
  type Allocator,
  type Grant,
  type PoolState,
} from "../allocation/index.ts";
import type { Pool } from "../pool/index.ts";
import { type PoolName, poolText } from "../pool-name.ts";
import { poolNameOf } from "./pool-access.ts";
import { invalidField } from "./problem.ts";

/** A worker that is wanted for a platform. */
export interface PlatformSpec {
  readonly platform: string;
  readonly spec: AllocationSpec;
}

/** A worker for each platform, or what is still waited for. */
export type PlatformsOutcome =
  | {
      readonly is: "granted";
      /** In the order in which they were asked for. */
      readonly nodes: readonly { readonly platform: string; readonly grant: Grant }[];
      /** Gives those back that the job did not have before. */
      readonly giveBack: () => Promise<void>;
    }
  | Extract<AllocationOutcome, { readonly is: "waiting" }>;

/**
 * The pool that has workers of a platform: the one that was asked, or one that it names.
 *
 * @throws Problem 422 that names the platform.
 */
export function poolFor(pool: Pool, platform: string, state: Pick<PoolState, "pool">): PoolName {
  const name = poolNameOf(pool);
  if (pool.spec.platform === platform) return name;
  const found = pool.spec.otherPlatforms.find((one) => one.platform === platform);
  if (!found) {
    const { platform: own, otherPlatforms } = pool.spec;
    const known = [...(own === undefined ? [] : [own]), ...otherPlatforms.map((one) => one.platform)];
    const hint = known.length > 0 ? `it has ${known.join(", ")}` : "its spec.platform is not set";
    throw invalidField("platforms", `pool ${poolText(name)} has no workers of ${platform}: ${hint}`);
  }
  const other = { namespace: name.namespace, name: found.poolName };
  const theirs = state.pool(other)?.spec;
  if (theirs && theirs.platform !== platform)
    throw invalidField(
      "platforms",
      `pool ${poolText(name)} names ${poolText(other)} for ${platform}, whose spec.platform is ${theirs.platform ?? "not set"}`,
    );
  return other;
}

/**
 * Gives a job a worker for each platform, or none. One is waited for after the other, by the names
 * of their pools: of two jobs that want the same ones none ever has what the other waits for, and
 * waits for what the other has.
 *
 * @throws as `Allocator.allocate` does.
 */
export async function allocateAll(
  allocator: Pick<Allocator, "allocate" | "release">,
  specs: readonly PlatformSpec[],
  clock: Pick<Clock, "monotonic">,
): Promise<PlatformsOutcome> {
  const startedAt = clock.monotonic();
  const granted = new Map<string, Grant>();
  const own: Grant[] = [];
  const giveBack = async () => {
    for (const { pool, issued } of own.splice(0)) {
      try {
        await allocator.release(pool, issued.allocation);
      } catch (error) {
        if (!(error instanceof AllocationError && error.code === "NotAllocated")) throw error;
      }
    }
  };
  try {
    for (const { platform, spec } of specs.toSorted(byPool)) {
      const waitMs = Math.max(0, spec.waitMs - (clock.monotonic() - startedAt));
      const outcome = await allocator.allocate({ ...spec, waitMs });
      if (outcome.is === "waiting") {
        await giveBack();
        return outcome;
      }
      granted.set(platform, outcome.grant);
      if (outcome.isNew) own.push(outcome.grant);
    }
  } catch (error) {
    await giveBack();
    throw error;
  }
  const nodes = specs.flatMap(({ platform }) => {
    const grant = granted.get(platform);
    return grant ? [{ platform, grant }] : [];
  });
  return { is: "granted", nodes, giveBack };
}

function byPool(a: PlatformSpec, b: PlatformSpec): number {
  const [one, other] = [a, b].map(({ spec }) => poolText(poolNameOf(spec.pool)));
  return (one ?? "") < (other ?? "") ? -1 : 1;
}
